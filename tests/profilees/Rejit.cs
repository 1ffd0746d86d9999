// Prints the results of its methods, before and after each step of a profiler.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Rejit
{
    internal static class Program
    {
        private static int Main()
        {
            Say();
            // A profiler reacts to the name.
            Step("change");
            Say();
            Step("revert");
            Say();
            Step("change again");
            Say();
            Step("ask");
            return 6;
        }

        private static void Step(string name)
        {
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Say()
        {
            Console.WriteLine(Constant() + " " + CallsSmall());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Constant()
        {
            return 41;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallsSmall()
        {
            return Small() + 100;
        }

        private static int Small()
        {
            return 51;
        }
    }
}
