// Calls whose number, arguments and results a profiler records.
using System;
using System.Runtime.CompilerServices;

namespace Calls
{
    internal struct Pair
    {
        public int X;
        public long Y;
    }

    internal class Counter
    {
        private readonly int start = 5;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int From(byte by)
        {
            return start + by;
        }
    }

    internal static class Program
    {
        private static int Main()
        {
            int sum = 0;
            for (int i = 0; i < 1000; i++)
                sum += Add(i, -2);
            Console.WriteLine("sum " + sum);
            var pair = new Pair { X = 3, Y = -4 };
            Console.WriteLine("mixed " + Mixed(true, -7, 1L << 40, "text", pair));
            Console.WriteLine("counter " + new Counter().From(250));
            Console.WriteLine("factorial " + Factorial(4));
            Pair made = Made(6, 7);
            Console.WriteLine("made " + made.X + " " + made.Y);
            Console.WriteLine("half " + (Half(5.0) == 2.5));
            Console.WriteLine("generic " + Show("a") + Show(1));
            try
            {
                Throws(9);
            }
            catch (InvalidOperationException)
            {
                Console.WriteLine("caught");
            }
            Console.WriteLine("last " + Last(10));
            return 5;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Add(int a, int b)
        {
            return a + b;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Mixed(bool flag, int number, long big, string text, Pair pair)
        {
            return (flag ? number : 0) + big + text.Length + pair.X + pair.Y;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Factorial(int n)
        {
            if (n < 2)
                return 1;
            return n * Factorial(n - 1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Pair Made(int x, long y)
        {
            return new Pair { X = x, Y = y };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static double Half(double value)
        {
            return value / 2;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Show<T>(T value)
        {
            return typeof(T).Name + value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throws(int value)
        {
            if (value > 0)
                throw new InvalidOperationException();
        }

        // In optimised code, the call at its end becomes a jump.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Last(int value)
        {
            return Product(value, value + 1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Product(int a, int b)
        {
            return a * b;
        }
    }
}
