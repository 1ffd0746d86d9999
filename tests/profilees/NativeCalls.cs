// Methods whose results come from the profiler's functions, and methods to be timed.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace NativeCalls
{
    internal static class Program
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static double Mixed(
            sbyte a, ushort b, int c, ulong d, float e, double f, IntPtr g, UIntPtr h)
        {
            return 0.25;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static sbyte Small(int value)
        {
            return 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Panics(int value)
        {
            return 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Counted(int by)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Count()
        {
            return -1;
        }

        private static int Main(string[] arguments)
        {
            if (arguments.Length == 1)
            {
                Timed.Run(int.Parse(arguments[0]));
                return 0;
            }
            Console.WriteLine(Mixed(
                -1, 65535, -3, 1UL << 63, 0.5f, -0.125, (IntPtr)(-7), (UIntPtr)8));
            Console.WriteLine(Small(300));
            Console.WriteLine(Small(-2));
            Console.WriteLine(Panics(3));
            Console.WriteLine(Panics(4));
            // Collections occur while threads are in native code, and vice versa.
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() =>
                {
                    for (int j = 0; j < 20000; j++)
                    {
                        Counted(2);
                        GC.KeepAlive(new byte[100]);
                    }
                });
                threads[i].Start();
            }
            for (int i = 0; i < 20; i++)
                GC.Collect();
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine(Count());
            return 6;
        }
    }

    // Methods that are alike except for the code inserted into them.
    internal static class Timed
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Untouched(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Managed(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Guarded(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Raw(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int GuardedQuick(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int RawQuick(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Bit(int value) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Field(int value) { return value + 1; }

        private delegate int Loop(int calls);

        private static int LoopUntouched(int n) { int x = 0; for (int i = 0; i < n; i++) x = Untouched(x); return x; }
        private static int LoopManaged(int n) { int x = 0; for (int i = 0; i < n; i++) x = Managed(x); return x; }
        private static int LoopGuarded(int n) { int x = 0; for (int i = 0; i < n; i++) x = Guarded(x); return x; }
        private static int LoopRaw(int n) { int x = 0; for (int i = 0; i < n; i++) x = Raw(x); return x; }
        private static int LoopGuardedQuick(int n) { int x = 0; for (int i = 0; i < n; i++) x = GuardedQuick(x); return x; }
        private static int LoopRawQuick(int n) { int x = 0; for (int i = 0; i < n; i++) x = RawQuick(x); return x; }
        private static int LoopBit(int n) { int x = 0; for (int i = 0; i < n; i++) x = Bit(x); return x; }
        private static int LoopField(int n) { int x = 0; for (int i = 0; i < n; i++) x = Field(x); return x; }

        // For each round a line: the nanoseconds a call, way by way.
        internal static void Run(int rounds)
        {
            const int Calls = 1000000;
            Loop[] loops =
            {
                LoopUntouched, LoopManaged, LoopGuarded, LoopRaw, LoopGuardedQuick, LoopRawQuick,
                LoopBit, LoopField,
            };
            foreach (Loop loop in loops)
                loop(1000);
            for (int round = 0; round < rounds; round++)
            {
                for (int i = 0; i < loops.Length; i++)
                {
                    long start = Stopwatch.GetTimestamp();
                    int result = loops[i](Calls);
                    long time = Stopwatch.GetTimestamp() - start;
                    if (result != Calls)
                        throw new InvalidOperationException();
                    double each = time * 1e9 / Stopwatch.Frequency / Calls;
                    Console.Write(each.ToString("F3", System.Globalization.CultureInfo.InvariantCulture) + " ");
                }
                Console.WriteLine();
            }
        }
    }
}
