// Methods that are alike except for their patches, to be timed.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace PatchedCalls
{
    internal static class Timed
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Untouched(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Empty(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int EmptyTwice(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Before(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Around(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Unpassed(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int AroundUnpassed(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int OnlyNumber(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Get(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Set(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int GetSet(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Text(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Keep(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Count(int value, string text) { return value + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Record(int value, string text) { return value + 1; }

        private delegate int Loop(int calls);

        private static int LoopUntouched(int n) { int x = 0; for (int i = 0; i < n; i++) x = Untouched(x, "text"); return x; }
        private static int LoopEmpty(int n) { int x = 0; for (int i = 0; i < n; i++) x = Empty(x, "text"); return x; }
        private static int LoopEmptyTwice(int n) { int x = 0; for (int i = 0; i < n; i++) x = EmptyTwice(x, "text"); return x; }
        private static int LoopBefore(int n) { int x = 0; for (int i = 0; i < n; i++) x = Before(x, "text"); return x; }
        private static int LoopAround(int n) { int x = 0; for (int i = 0; i < n; i++) x = Around(x, "text"); return x; }
        private static int LoopUnpassed(int n) { int x = 0; for (int i = 0; i < n; i++) x = Unpassed(x, "text"); return x; }
        private static int LoopAroundUnpassed(int n) { int x = 0; for (int i = 0; i < n; i++) x = AroundUnpassed(x, "text"); return x; }
        private static int LoopOnlyNumber(int n) { int x = 0; for (int i = 0; i < n; i++) x = OnlyNumber(x, "text"); return x; }
        private static int LoopGet(int n) { int x = 0; for (int i = 0; i < n; i++) x = Get(x, "text"); return x; }
        private static int LoopSet(int n) { int x = 0; for (int i = 0; i < n; i++) x = Set(i, "text"); return x; }
        private static int LoopGetSet(int n) { int x = 0; for (int i = 0; i < n; i++) x = GetSet(x, "text"); return x; }
        private static int LoopText(int n) { int x = 0; for (int i = 0; i < n; i++) x = Text(x, "text"); return x; }
        private static int LoopKeep(int n) { int x = 0; for (int i = 0; i < n; i++) x = Keep(x, "text"); return x; }
        private static int LoopCount(int n) { int x = 0; for (int i = 0; i < n; i++) x = Count(x, "text"); return x; }
        private static int LoopRecord(int n) { int x = 0; for (int i = 0; i < n; i++) x = Record(x, "text"); return x; }

        // For each round a line: the nanoseconds a call, way by way.
        private static int Main(string[] arguments)
        {
            const int Calls = 10000;
            int rounds = int.Parse(arguments[0], CultureInfo.InvariantCulture);
            Loop[] loops =
            {
                LoopUntouched, LoopEmpty, LoopEmptyTwice, LoopBefore, LoopAround, LoopUnpassed, LoopAroundUnpassed,
                LoopOnlyNumber, LoopGet, LoopSet, LoopGetSet, LoopText, LoopKeep, LoopCount, LoopRecord,
            };
            int only = arguments.Length > 1 ? int.Parse(arguments[1], CultureInfo.InvariantCulture) : -1;
            foreach (Loop loop in loops)
                loop(1000);
            for (int round = 0; round < rounds; round++)
            {
                for (int i = 0; i < loops.Length; i++)
                {
                    if (only >= 0 && i != only)
                        continue;
                    long start = Stopwatch.GetTimestamp();
                    int result = loops[i](Calls);
                    long time = Stopwatch.GetTimestamp() - start;
                    if (result != Calls)
                        throw new InvalidOperationException();
                    double each = time * 1e9 / Stopwatch.Frequency / Calls;
                    Console.Write(each.ToString("F3", CultureInfo.InvariantCulture) + " ");
                }
                Console.WriteLine();
            }
            return 0;
        }
    }
}
