using System;
using System.Runtime.CompilerServices;
using System.Threading;

// Uses processors for a while, in known shares: 70 % in `Hot<int>.Seventy`, 20 % below thirty calls
// of `Deep`, 10 % in `Ten`. `Spins.dll THREADS ROUNDS`: all threads together
// execute ROUNDS rounds of a million steps on average. One more thread waits.
//
// Each thread has rounds of other lengths in each run: with the same ones, all would be sampled at the same few places, because
// timers expire after the same processor time.
namespace Spins
{
    public static class Program
    {
        // Unknown to the optimizer.
        private static int sink;

        // Of the round, in thousandths: 500 to 1500.
        [ThreadStatic] private static int length;

        public static int Main(string[] args)
        {
            int count = int.Parse(args[0]);
            int rounds = int.Parse(args[1]) / count;
            var waiting = new Thread(Wait) { IsBackground = true };
            waiting.Start();
            var threads = new Thread[count];
            for (int i = 0; i < count; i++)
            {
                threads[i] = new Thread(() => Spin(rounds));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            Console.WriteLine("spun");
            return 0;
        }

        private static void Wait()
        {
            Thread.Sleep(Timeout.Infinite);
        }

        private static void Spin(int rounds)
        {
            uint random = (uint)(Environment.TickCount * 31 + Thread.CurrentThread.ManagedThreadId) * 2654435761;
            for (int round = 0; round < rounds; round++)
            {
                random = random * 1664525 + 1013904223;
                length = 500 + (int)((random >> 16) % 1001);
                Hot<int>.Seventy();
                Deep(30);
                Ten();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        private static void Deep(int depth)
        {
            if (depth == 0)
            {
                Twenty();
                return;
            }
            Deep(depth - 1);
            sink++;
        }

        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        private static void Twenty()
        {
            int value = sink;
            int steps = 200 * length;
            for (int i = 0; i < steps; i++)
            {
                value = value * 1103515245 + 12345;
            }
            sink = value;
        }

        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        private static void Ten()
        {
            int value = sink;
            int steps = 100 * length;
            for (int i = 0; i < steps; i++)
            {
                value = value * 1103515245 + 12345;
            }
            sink = value;
        }

        public static class Hot<T>
        {
            [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
            public static void Seventy()
            {
                int value = sink;
                int steps = 700 * length;
                for (int i = 0; i < steps; i++)
                {
                    value = value * 1103515245 + 12345;
                }
                sink = value;
            }
        }
    }
}
