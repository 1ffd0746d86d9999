// Threads that wait for two seconds each: asleep, for a lock, for an event, and in a call of the system that a signal would end early.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Blocked
{
    internal static class Program
    {
        private const int Milliseconds = 2000;
        private const int Interrupted = 4;

        private static readonly object Gate = new object();
        private static readonly ManualResetEvent Never = new ManualResetEvent(false);
        private static int interrupted;

        [DllImport("libc", SetLastError = true)]
        private static extern int poll(IntPtr descriptors, UIntPtr count, int milliseconds);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Sleeps()
        {
            Stopwatch clock = Stopwatch.StartNew();
            while (clock.ElapsedMilliseconds < Milliseconds)
                Thread.Sleep(50);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Locks()
        {
            lock (Gate)
            {
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Awaits()
        {
            Never.WaitOne(Milliseconds);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Polls()
        {
            Stopwatch clock = Stopwatch.StartNew();
            while (clock.ElapsedMilliseconds < Milliseconds)
            {
                if (poll(IntPtr.Zero, UIntPtr.Zero, 25) < 0 && Marshal.GetLastWin32Error() == Interrupted)
                    interrupted++;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Computes()
        {
            Stopwatch clock = Stopwatch.StartNew();
            long sum = 0;
            while (clock.ElapsedMilliseconds < Milliseconds)
            {
                for (int i = 0; i < 1000; i++)
                    sum += i ^ sum;
            }
            return sum;
        }

        private static int Main()
        {
            ThreadStart[] all = { Sleeps, Locks, Awaits, Polls, () => Computes() };
            var threads = new Thread[all.Length];
            lock (Gate)
            {
                for (int i = 0; i < all.Length; i++)
                    (threads[i] = new Thread(all[i])).Start();
                Thread.Sleep(Milliseconds);
            }
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine("interrupted " + interrupted);
            return 4;
        }
    }
}
