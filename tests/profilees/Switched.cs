// Methods that a profiler switches on and off, under load: `Switched.dll [WORKERS]`. Methods that are on
// return something else, and the program prints the results.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Switched
{
    internal static class Holder<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Get()
        {
            return typeof(T).Name.Length;
        }
    }

    internal static class Program
    {
        private const int Kinds = 6;

        // The results of the kinds of `Result` when they are off, and on.
        private static readonly int[] Off = { 41, 51, 5, 6, 270544900, 7 };
        private static readonly int[] On = { 1041, 1051, 1005, 1006, 270545900, 5 };

        private static readonly Version Number = new Version(1, 2, 3, 4);
        private static readonly bool[] SawOff = new bool[Kinds];
        private static readonly bool[] SawOn = new bool[Kinds];
        private static volatile bool ends;
        private static int wrong;
        private static int sink;

        private static int Main(string[] args)
        {
            Say("at first");
            double before = Time();
            Step("on");
            Say("on");
            double on = Time();
            Step("off");
            Say("off");
            double after = Time();

            Work(args.Length > 0 ? int.Parse(args[0]) : 4);
            Say("after the work");
            Console.WriteLine("wrong " + wrong);

            Step("some on");
            Say("all but the first");
            Step("off");
            Say("off");

            string path = Path.Combine(
                Path.GetDirectoryName(typeof(Program).Assembly.Location), "Rejit.dll");
            Type late = Assembly.LoadFrom(path).GetType("Rejit.Program");
            Step("loaded");
            MethodInfo constant = late.GetMethod(
                "Constant", BindingFlags.NonPublic | BindingFlags.Static);
            Console.WriteLine("late " + constant.Invoke(null, null));
            Step("end");
            Console.WriteLine("late " + constant.Invoke(null, null));
            Console.WriteLine("times {0:F2} {1:F2} {2:F2}", before, on, after);
            return 9;
        }

        // Threads call everything during the switching.
        private static void Work(int count)
        {
            var threads = new Thread[count];
            for (int i = 0; i < count; i++)
            {
                threads[i] = new Thread(Loop);
                threads[i].Start();
            }
            Step("toggle");
            ends = true;
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            for (int kind = 0; kind < Kinds; kind++)
            {
                Console.WriteLine("kind " + kind + " " + SawOff[kind] + " " + SawOn[kind]);
            }
        }

        private static void Loop()
        {
            // At least once: a thread can start when the work is over.
            do
            {
                for (int kind = 0; kind < Kinds; kind++)
                {
                    int result = Result(kind);
                    if (result == Off[kind])
                    {
                        SawOff[kind] = true;
                    }
                    else if (result == On[kind])
                    {
                        SawOn[kind] = true;
                    }
                    else
                    {
                        Interlocked.Increment(ref wrong);
                    }
                }
            }
            while (!ends);
        }

        private static void Say(string when)
        {
            string line = when + ":";
            for (int kind = 0; kind < Kinds; kind++)
            {
                line += " " + Result(kind);
            }
            Console.WriteLine(line);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Result(int kind)
        {
            switch (kind)
            {
                case 0: return Own();
                case 1: return CallsSmall();
                case 2: return Holder<int>.Get();
                case 3: return Holder<string>.Get();
                // Both are precompiled; the latter has inlined the one that is switched.
                case 4: return Number.GetHashCode() & 0x7FFFFFFF;
                default: return Number.ToString().Length;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Own()
        {
            return 41;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallsSmall()
        {
            return Small();
        }

        private static int Small()
        {
            return 51;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Spin(int count)
        {
            int sum = 0;
            for (int i = 0; i < count; i++)
            {
                sum += Own() + CallsSmall();
            }
            sink += sum;
        }

        // Nanoseconds for the methods of the program, the best of several times.
        private static double Time()
        {
            const int Count = 300000;
            double best = double.MaxValue;
            for (int i = 0; i < 15; i++)
            {
                var watch = Stopwatch.StartNew();
                Spin(Count);
                best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Count);
            }
            return best;
        }

        // A profiler reacts to the name before the thread continues.
        private static void Step(string name)
        {
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }
    }
}
