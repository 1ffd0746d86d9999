// Allocates known numbers of objects of three sizes, in a rhythm: 600 small ones, a larger one, and in each tenth round a huge one.
using System;
using System.Runtime.CompilerServices;

namespace Estimates
{
    internal sealed class Small
    {
        public long Content = 1;
    }

    internal struct Large
    {
        public long Content;
    }

    internal struct Huge
    {
        public long Content;
    }

    internal static class Program
    {
        private static object small;
        private static object large;
        private static object huge;

        private static int Main(string[] arguments)
        {
            int rounds = int.Parse(arguments[0]);
            for (int round = 0; round < rounds; round++)
            {
                Allocate();
                large = new Large[6250];
                if (round % 10 == 0)
                    huge = new Huge[18750];
            }
            GC.KeepAlive(small);
            GC.KeepAlive(large);
            GC.KeepAlive(huge);
            return 7;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Allocate()
        {
            for (int i = 0; i < 600; i++)
                small = new Small();
        }
    }
}
