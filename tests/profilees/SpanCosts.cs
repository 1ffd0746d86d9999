// Times calls with spans by a tracer, with spans by hand, and without: `SpanCosts ROUNDS`. A line for each round has, for each way, the
// nanoseconds and the allocated bytes of a call. Code is warm before the first line.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SpanCosts
{
    public static class Program
    {
        private const int Calls = 10000;

        private static readonly Func<int, int>[] Ways =
        {
            Loops.Plain, Loops.Traced, Loops.ByHand, Loops.Activities,
            Loops.PlainCapture, Loops.TracedCapture, Loops.PlainTask, Loops.TracedTask,
        };

        public static int Main(string[] arguments)
        {
            int rounds = int.Parse(arguments[0]);
            // Until the last tier is there.
            for (int i = 0; i < 30; i++)
            {
                Round(Calls / 10);
                Thread.Sleep(20);
            }
            for (int i = 0; i < rounds; i++)
            {
                Console.WriteLine(Round(Calls));
            }
            return 0;
        }

        private static string Round(int calls)
        {
            var line = new StringBuilder();
            foreach (Func<int, int> way in Ways)
            {
                Add(line, calls, () => Traced.Outer(way, calls));
            }
            // Without a span around.
            Add(line, calls, () => Loops.Traced(calls));
            foreach (int threads in new[] { 1, 4 })
            {
                AddThreads(line, Loops.Plain, threads, calls);
                AddThreads(line, Loops.Traced, threads, calls);
            }
            return line.ToString();
        }

        private static void Add(StringBuilder line, int calls, Action run)
        {
            // The rings of the tracer are empty then.
            Thread.Sleep(11);
            long bytes = GC.GetAllocatedBytesForCurrentThread();
            long ticks = Stopwatch.GetTimestamp();
            run();
            double time = (Stopwatch.GetTimestamp() - ticks) * 1e9 / Stopwatch.Frequency;
            bytes = GC.GetAllocatedBytesForCurrentThread() - bytes;
            line.Append((time / calls).ToString("F2", CultureInfo.InvariantCulture)).Append(' ');
            line.Append(bytes / calls).Append(' ');
        }

        // The processor time of a call on each of so many threads at once, which does not depend on the number of processors.
        private static void AddThreads(StringBuilder line, Func<int, int> way, int count, int calls)
        {
            Thread.Sleep(11);
            var threads = new List<Thread>();
            double sum = 0;
            for (int i = 0; i < count; i++)
            {
                threads.Add(new Thread(() =>
                {
                    double time = ThreadTime();
                    Traced.Outer(way, calls);
                    time = ThreadTime() - time;
                    lock (threads)
                    {
                        sum += time;
                    }
                }));
            }
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            line.Append((sum / count / calls).ToString("F2", CultureInfo.InvariantCulture)).Append(" 0 ");
        }

        [StructLayout(LayoutKind.Sequential)]
        private struct Time
        {
            internal long Seconds;
            internal long Nanoseconds;
        }

        // CLOCK_THREAD_CPUTIME_ID of Linux.
        private const int OfThread = 3;

        [DllImport("libc")]
        private static extern int clock_gettime(int clock, out Time time);

        private static double ThreadTime()
        {
            Time time;
            return clock_gettime(OfThread, out time) == 0 ? time.Seconds * 1e9 + time.Nanoseconds : double.NaN;
        }
    }

    public static class Loops
    {
        private static int seed = 3;
        private static readonly AsyncLocal<object> Current = new AsyncLocal<object>();
        private static long count;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work() { return seed & 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static object Capture() { return ExecutionContext.Capture(); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static async Task Done() { await Task.CompletedTask; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Hand()
        {
            object previous = Current.Value;
            Current.Value = new object();
            long start = Stopwatch.GetTimestamp();
            try
            {
                return seed & 1;
            }
            catch (Exception)
            {
                count++;
                throw;
            }
            finally
            {
                Current.Value = previous;
                count += Stopwatch.GetTimestamp() - start;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int InActivity()
        {
            Activity activity = new Activity("work").SetIdFormat(ActivityIdFormat.W3C).Start();
            try
            {
                return seed & 1;
            }
            finally
            {
                activity.Stop();
            }
        }

        public static int Plain(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += Work(); }
            return sum;
        }

        public static int Traced(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += SpanCosts.Traced.Work(); }
            return sum;
        }

        public static int ByHand(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += Hand(); }
            return sum;
        }

        public static int Activities(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += InActivity(); }
            return sum;
        }

        public static int PlainCapture(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += Capture() == null ? 0 : 1; }
            return sum;
        }

        public static int TracedCapture(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += SpanCosts.Traced.Capture() == null ? 0 : 1; }
            return sum;
        }

        public static int PlainTask(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += Done().IsCompleted ? 1 : 0; }
            return sum;
        }

        public static int TracedTask(int calls)
        {
            int sum = 0;
            for (int i = 0; i < calls; i++) { sum += SpanCosts.Traced.Done().IsCompleted ? 1 : 0; }
            return sum;
        }
    }

    public static class Traced
    {
        private static int seed = 3;

        public static int Outer(Func<int, int> way, int calls) { return way(calls); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Work() { return seed & 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static object Capture() { return ExecutionContext.Capture(); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task Done() { await Task.CompletedTask; }
    }
}
