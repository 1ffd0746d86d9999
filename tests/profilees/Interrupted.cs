// Waits by functions of the C library that end early when a signal comes, and does not wait again: each on a thread of its own, ten times a tenth
// of a second. Prints how many of the waits ended early, and whether the others took their time.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Interrupted
{
    internal static class Program
    {
        private const int Interruption = 4;

        [DllImport("libc", SetLastError = true)]
        private static extern int poll(IntPtr descriptors, UIntPtr count, int milliseconds);

        [DllImport("libc", SetLastError = true)]
        private static extern int epoll_create1(int flags);

        [DllImport("libc", SetLastError = true)]
        private static extern int epoll_wait(int descriptor, byte[] events, int count, int milliseconds);

        [StructLayout(LayoutKind.Sequential)]
        private struct Time
        {
            internal long Seconds;
            internal long Nanoseconds;
        }

        [DllImport("libc", SetLastError = true)]
        private static extern int nanosleep(ref Time time, IntPtr left);

        private static int Main()
        {
            int epoll = epoll_create1(0);
            string[] names = { "poll", "epoll_wait", "nanosleep" };
            Func<int>[] waits =
            {
                () => poll(IntPtr.Zero, UIntPtr.Zero, 100),
                () => epoll_wait(epoll, new byte[64], 1, 100),
                () =>
                {
                    var time = new Time { Nanoseconds = 100000000 };
                    return nanosleep(ref time, IntPtr.Zero);
                },
            };
            var lines = new string[waits.Length];
            var threads = new Thread[waits.Length];
            for (int i = 0; i < waits.Length; i++)
            {
                int index = i;
                threads[i] = new Thread(() => lines[index] = names[index] + " " + Wait(waits[index]));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            foreach (string line in lines)
                Console.WriteLine(line);
            return 5;
        }

        private static string Wait(Func<int> wait)
        {
            int interrupted = 0, early = 0, failed = 0;
            for (int i = 0; i < 10; i++)
            {
                var clock = Stopwatch.StartNew();
                int result = wait();
                int error = Marshal.GetLastWin32Error();
                if (result == 0)
                    early += clock.ElapsedMilliseconds < 99 ? 1 : 0;
                else if (error == Interruption)
                    interrupted++;
                else
                    failed++;
            }
            return "interrupted " + interrupted + " early " + early + " failed " + failed;
        }
    }
}
