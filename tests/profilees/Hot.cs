// Does the same work for each line `run`, and prints its duration; ends at `end`.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Hot
{
    internal static class Program
    {
        private static readonly Version First = new Version(1, 2, 3, 4);
        private static readonly Version Second = new Version(1, 2, 3, 5);

        private static int Main()
        {
            Console.WriteLine("ready");
            while (Console.ReadLine() == "run")
            {
                var watch = Stopwatch.StartNew();
                long result = Work();
                double time = watch.Elapsed.TotalMilliseconds;
                string text = time.ToString("F3", CultureInfo.InvariantCulture);
                Console.WriteLine("ran " + result + " in " + text);
            }
            Console.WriteLine("ending");
            return 3;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Work()
        {
            long sum = 300;
            for (int i = 0; i < 100000; i++)
            {
                // The last is precompiled.
                sum += Own() + CallsSmall() + (First.CompareTo(Second) < 0 ? 0 : 1);
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Own()
        {
            return 430;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallsSmall()
        {
            return Small();
        }

        private static int Small()
        {
            return 501;
        }
    }
}
