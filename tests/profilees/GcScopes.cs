// Static fields of all kinds, and collections during which they do not change.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace GcScopes
{
    internal static class Program
    {
        private static int count;
        [ThreadStatic] private static int perThread;

        private static int Main()
        {
            count = 17;
            perThread = 7;
            int[] numbers = { 11, 22, 33, 44, 55, 66, 77 };
            // The type with the array's numbers is initialised by nothing else.
            Type holder = typeof(Program).Module.GetType("<PrivateImplementationDetails>");
            RuntimeHelpers.RunClassConstructor(holder.TypeHandle);
            Thread.CurrentThread.Name = "ready";
            GC.Collect();
            GC.Collect();
            Console.WriteLine(count + perThread + numbers[2]);
            return 6;
        }
    }
}
