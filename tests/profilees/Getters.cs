// Small methods, called in loops before and after a profiler changes them: `Getters.dll early|late`. A profiler
// reacts to the name of a thread. `late` compiles the loops to their last tier before.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Getters
{
    // A profiler changes the methods of this class, and leaves those of the other alone.
    internal sealed class Changed
    {
        private readonly int number = 41;

        internal int Number
        {
            get { return number; }
        }

        // The method that has a frame of its own.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static string Frame()
        {
            return Program.Who() + ",";
        }

        // Throws in the second line.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Throws(int number)
        {
            Program.Fail(number);
            Program.Fail(number - 1);
            Program.Fail(number);
            return 4;
        }
    }

    internal sealed class Plain
    {
        private readonly int number = 41;

        internal int Number
        {
            get { return number; }
        }
    }

    internal static class Program
    {
        private static readonly Changed A = new Changed();
        private static readonly Plain B = new Plain();

        private static int Main(string[] args)
        {
            Say();
            if (args[0] == "late")
            {
                Warm();
            }
            Step("change");
            // A method that is called more often than another one is compiled again before it.
            bool isPatient = args[0] == "early";
            var watch = Stopwatch.StartNew();
            while (isPatient ? Number() != 41 || CallsFrame() != "CallsFrame,!" : watch.ElapsedMilliseconds < 500)
            {
                Line();
                Line();
                Line();
                Thread.Sleep(1);
                if (watch.ElapsedMilliseconds > 60000)
                {
                    break;
                }
            }
            Say();
            if (args.Length > 1)
            {
                Warm();
                double changed = Time(true), plain = Time(false);
                Console.WriteLine("times {0:F2} {1:F2} ratio {2:F2}", changed, plain, changed / plain);
            }
            return 6;
        }

        private static void Say()
        {
            Console.WriteLine(Number() + " " + CallsFrame() + " " + Line());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Number()
        {
            return A.Number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string CallsFrame()
        {
            return Changed.Frame() + "!";
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static string Who()
        {
            return new StackTrace().GetFrame(1).GetMethod().Name;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Fail(int number)
        {
            if (number == 0)
            {
                throw new InvalidOperationException();
            }
        }

        // Of the frame that calls the one that throws.
        private static int Line()
        {
            try
            {
                return Changed.Throws(1);
            }
            catch (InvalidOperationException exception)
            {
                return new StackTrace(exception, true).GetFrame(1).GetFileLineNumber();
            }
        }

        // Until nothing is compiled again.
        private static void Warm()
        {
            var watch = Stopwatch.StartNew();
            while (watch.ElapsedMilliseconds < 1500)
            {
                OfChanged(1000);
                OfPlain(1000);
                Number();
                CallsFrame();
                Thread.Sleep(1);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int OfChanged(int count)
        {
            Changed one = A;
            int sum = 0;
            for (int i = 0; i < count; i++)
            {
                sum += one.Number;
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int OfPlain(int count)
        {
            Plain one = B;
            int sum = 0;
            for (int i = 0; i < count; i++)
            {
                sum += one.Number;
            }
            return sum;
        }

        // Nanoseconds for a call in the loop, the best of several times.
        private static double Time(bool isChanged)
        {
            const int Count = 10000000;
            double best = double.MaxValue;
            for (int i = 0; i < 15; i++)
            {
                var watch = Stopwatch.StartNew();
                int sum = isChanged ? OfChanged(Count) : OfPlain(Count);
                best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Count);
            }
            return best;
        }

        private static void Step(string name)
        {
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }
    }
}
