// Calls many small methods, some of which every compiler inlines, and prints the number of calls of each.
using System;
using System.Runtime.CompilerServices;

namespace Small
{
    public struct Point
    {
        private readonly int x, y;

        public Point(int x, int y)
        {
            this.x = x;
            this.y = y;
        }

        public int X { get { return x; } }

        public int Y
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get { return y; }
        }

        public static Point operator +(Point one, Point other)
        {
            return new Point(one.X + other.X, one.Y + other.Y);
        }
    }

    public abstract class Shape
    {
        public abstract int Corners { get; }

        public int Twice()
        {
            return Corners + Corners;
        }
    }

    public sealed class Triangle : Shape
    {
        public override int Corners { get { return 3; } }
    }

    public sealed class Box<T>
    {
        private T content;

        public T Content
        {
            get { return content; }
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            set { content = value; }
        }
    }

    public interface IStep
    {
        int Next(int value);
    }

    public struct Step : IStep
    {
        public int Next(int value)
        {
            return value + 1;
        }
    }

    public static class Text
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public static int Length(string text)
        {
            return text.Length;
        }

        public static bool IsEmpty(string text)
        {
            return Length(text) == 0;
        }
    }

    public static class Program
    {
        public static int Main(string[] args)
        {
            int rounds = int.Parse(args[0]);
            int sum = 0;
            for (int i = 0; i < rounds; i++)
            {
                sum += Round(i, new Step());
            }
            Console.WriteLine("sum " + sum);
            Say("Program.Round<TStep>(int, TStep)", rounds);
            Say("Program.Twice(int)", 2 * rounds);
            Say("Program.Last(int)", rounds);
            Say("Point..ctor(int, int)", 2 * rounds);
            Say("Point.get_X()", 3 * rounds);
            Say("Point.get_Y()", 3 * rounds);
            Say("Point.op_Addition(Small.Point, Small.Point)", rounds);
            Say("Shape.Twice()", rounds);
            Say("Shape..ctor()", rounds);
            Say("Triangle..ctor()", rounds);
            Say("Triangle.get_Corners()", 2 * rounds);
            Say("Box<T>..ctor()", 2 * rounds);
            Say("Box<T>.get_Content()", 2 * rounds);
            Say("Box<T>.set_Content(T)", 2 * rounds);
            Say("Step.Next(int)", rounds);
            Say("Text.Length(string)", 2 * rounds);
            Say("Text.IsEmpty(string)", rounds);
            return 6;
        }

        private static void Say(string method, int calls)
        {
            Console.WriteLine(calls + " Small." + method);
        }

        private static int Round<TStep>(int i, TStep step) where TStep : IStep
        {
            Point point = new Point(i, 1);
            Point sum = point + point;
            Shape shape = new Triangle();
            var number = new Box<int>();
            number.Content = Twice(sum.X);
            var text = new Box<string>();
            text.Content = "text";
            int result = shape.Twice() + number.Content + sum.Y + step.Next(Twice(i));
            result += Text.Length(text.Content);
            return Text.IsEmpty("") ? Last(result) : 0;
        }

        private static int Twice(int value)
        {
            return value + value;
        }

        private static int Last(int value)
        {
            return value % 7;
        }
    }
}
