// Static fields of all kinds, and collections while they stay as they are.
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
            // What holds the numbers of the array is a type that nothing else initialises.
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
