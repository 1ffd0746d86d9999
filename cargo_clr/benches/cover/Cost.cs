using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;

// Work of several kinds, and the processor time that it takes: of all rounds, and of the second half of them.
abstract class Shape
{
    public abstract int Area();
}

class Square : Shape
{
    readonly int side;

    public Square(int side)
    {
        this.side = side;
    }

    public int Side
    {
        get { return side; }
    }

    public override int Area()
    {
        return Side * Side;
    }
}

class Rectangle : Shape
{
    public int Width { get; set; }

    public int Height { get; set; }

    public override int Area()
    {
        if (Width < 0 || Height < 0)
        {
            return 0;
        }

        return Width * Height;
    }
}

static class Program
{
    static int Fibonacci(int number)
    {
        if (number < 2)
        {
            return number;
        }

        return Fibonacci(number - 1) + Fibonacci(number - 2);
    }

    static int Collatz(int limit)
    {
        int longest = 0;
        for (int start = 1; start < limit; start++)
        {
            long number = start;
            int steps = 0;
            while (number != 1)
            {
                if (number % 2 == 0)
                {
                    number /= 2;
                }
                else
                {
                    number = 3 * number + 1;
                }

                steps++;
            }

            if (steps > longest)
            {
                longest = steps;
            }
        }

        return longest;
    }

    static int Getters(Square square, int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
        {
            sum += square.Side;
        }

        return sum;
    }

    static int Areas(Shape[] shapes, int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
        {
            // Without alternation from call to call, which some processors predict and others do not.
            sum += shapes[(i >> 4) % shapes.Length].Area();
        }

        return sum;
    }

    static int Words(int count)
    {
        var words = new Dictionary<string, int>();
        for (int i = 0; i < count; i++)
        {
            string word = "word " + (i % 100).ToString(CultureInfo.InvariantCulture);
            words.TryGetValue(word, out int before);
            words[word] = before + 1;
        }

        return words.Count;
    }

    static int Round()
    {
        int sum = Fibonacci(27);
        sum += Collatz(20000);
        sum += Getters(new Square(3), 3000000);
        sum += Areas(new Shape[] { new Square(2), new Rectangle { Width = 2, Height = 3 } }, 2000000);
        sum += Words(50000);
        return sum;
    }

    static void Main(string[] words)
    {
        int rounds = int.Parse(words[0], CultureInfo.InvariantCulture);
        var process = Process.GetCurrentProcess();
        int sum = 0;
        double half = 0;
        for (int i = 0; i < rounds; i++)
        {
            if (i == rounds / 2)
            {
                process.Refresh();
                half = process.TotalProcessorTime.TotalMilliseconds;
            }

            sum += Round();
        }

        process.Refresh();
        double all = process.TotalProcessorTime.TotalMilliseconds;
        Console.Error.WriteLine(FormattableString.Invariant($"took {all} {all - half} {process.PeakWorkingSet64 / 1024}"));
        Console.WriteLine(sum);
    }
}
