// Static fields of all kinds, two threads, and types that are loaded once.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Statics
{
    internal sealed class Known
    {
        public int Content = 1;
    }

    internal sealed class Box<T>
    {
        public T Content;
    }

    internal static class Program
    {
        private static int count;
        private static double ratio;
        [ThreadStatic] private static int perThread;
        private const int Literal = 5;
        private static object kept;

        private static int Main()
        {
            count = 17;
            ratio = 2.5;
            perThread = 7;
            kept = "kept";
            int[] numbers = { 11, 22, 33, 44, 55, 66, 77 };
            Console.WriteLine(Use() + " " + numbers[Literal]);
            // The type with the array's numbers is initialised by nothing else.
            Type holder = typeof(Program).Module.GetType("<PrivateImplementationDetails>");
            RuntimeHelpers.RunClassConstructor(holder.TypeHandle);
            Thread.CurrentThread.Name = "main";
            var thread = new Thread(() =>
            {
                perThread = 8;
                // A profiler makes its calls now, on this thread.
                Thread.CurrentThread.Name = "other";
                perThread++;
            });
            thread.Start();
            thread.Join();
            Console.WriteLine(count + " " + (ratio == 2.5) + " " + perThread + " " + kept);
            return 3;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Use()
        {
            return new Known().Content + new Known().Content
                + (int)new Box<int>().Content + (int)new Box<long>().Content + (new Box<string>().Content == null ? 1 : 0);
        }
    }
}
