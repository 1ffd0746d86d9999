// A loop whose code is compiled before its method is rewritten, and which runs for long afterwards.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Looped
{
    internal static class Program
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Sum(int count)
        {
            int sum = 0;
            for (int i = 0; i < count; i++)
                sum += i % 7;
            return sum;
        }

        private static int Main()
        {
            Console.WriteLine(Sum(10));
            Thread.CurrentThread.Name = "toggle";
            Console.WriteLine(Sum(1000000));
            return 6;
        }
    }
}
