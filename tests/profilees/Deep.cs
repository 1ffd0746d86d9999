using System;
using System.Runtime.CompilerServices;
using System.Threading;

// Works on top of deep stacks, or on many threads: `Deep.dll FRAMES THREADS ROUNDS`. Each of the
// THREADS makes FRAMES nested calls. When all have done so and a line was read, each executes ROUNDS
// times a hundred thousand calls.
namespace Deep
{
    public static class Program
    {
        private static readonly ManualResetEvent Go = new ManualResetEvent(false);
        private static CountdownEvent there;

        public static int Main(string[] args)
        {
            int frames = int.Parse(args[0]);
            int rounds = int.Parse(args[2]);
            var threads = new Thread[int.Parse(args[1])];
            var sums = new long[threads.Length];
            there = new CountdownEvent(threads.Length);
            for (int i = 0; i < threads.Length; i++)
            {
                int number = i;
                // A frame has less than 200 bytes.
                int stack = 256 * 1024 + frames * 200;
                threads[i] = new Thread(() => sums[number] = Down(frames, rounds), stack);
                threads[i].Start();
            }
            there.Wait();
            Console.WriteLine("ready");
            Console.ReadLine();
            Go.Set();
            long sum = 0;
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i].Join();
                sum += sums[i];
            }
            Console.WriteLine("sum " + sum);
            return 7;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Down(int frames, int rounds)
        {
            if (frames > 0)
            {
                return Down(frames - 1, rounds) + 1;
            }
            there.Signal();
            Go.WaitOne();
            long sum = 0;
            for (int round = 0; round < rounds; round++)
            {
                sum += Work();
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Work()
        {
            long sum = 0;
            for (int i = 0; i < 100000; i++)
            {
                sum += Step(i);
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Step(int i)
        {
            return i % 7;
        }
    }
}
