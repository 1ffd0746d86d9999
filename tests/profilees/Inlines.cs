// Small methods that print into which method they were inlined. None ends with a call: a tail
// call would replace its caller.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Inlines
{
    internal static class Program
    {
        private static int Main()
        {
            Say();
            // A profiler reacts to the name.
            var thread = new Thread(new Nothing().Run) { Name = "again" };
            thread.Start();
            thread.Join();
            Say();
            return 8;
        }

        private sealed class Nothing
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            internal Nothing()
            {
            }

            internal void Run()
            {
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Say()
        {
            Console.WriteLine(CallsFree() + " " + CallsKept() + " " + CallsBoth());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string CallsFree()
        {
            return Free() + "!";
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string CallsKept()
        {
            return Kept() + "!";
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string CallsBoth()
        {
            return Free() + Kept() + "!";
        }

        private static string Free()
        {
            return Who() + ",";
        }

        private static string Kept()
        {
            return Who() + ",";
        }

        // The method that has a frame of its own.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Who()
        {
            return new StackTrace().GetFrame(1).GetMethod().Name;
        }
    }
}
