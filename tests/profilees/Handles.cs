// Drops objects, and reports when they are collected.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Handles
{
    internal class Kept : Exception
    {
        public static int Collected;

        public readonly int Number;

        public Kept(int number)
        {
            Number = number;
        }

        ~Kept()
        {
            Collected++;
        }
    }

    internal sealed class Weak : Kept
    {
        public Weak() : base(1)
        {
        }
    }

    internal sealed class Strong : Kept
    {
        public Strong() : base(2)
        {
        }
    }

    internal sealed class Pinned : Kept
    {
        public Pinned() : base(3)
        {
        }
    }

    internal static class Program
    {
        private static int Main()
        {
            Throw(() => { throw new Weak(); });
            Throw(() => { throw new Strong(); });
            Throw(() => { throw new Pinned(); });
            Collect();
            Console.WriteLine("collected " + Kept.Collected);
            Throw(() => { throw new InvalidOperationException("ask"); });
            Collect();
            Console.WriteLine("collected " + Kept.Collected);
            Throw(() => { throw new InvalidOperationException("destroy"); });
            Collect();
            Console.WriteLine("collected " + Kept.Collected);
            return 12;
        }

        // On a thread of its own, whose stack refers to nothing afterwards.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw(Action thrower)
        {
            var thread = new Thread(() =>
            {
                try
                {
                    thrower();
                }
                catch (Exception)
                {
                }
            });
            thread.Start();
            thread.Join();
        }

        private static void Collect()
        {
            for (int i = 0; i < 4; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
    }
}
