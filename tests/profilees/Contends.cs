// Waits for locks, and measures each wait from both sides: the thread that has the lock knows for how long the other one waits at
// least, the one that waits for how long at most. On .NET 9 and newer, half of the locks are a `System.Threading.Lock`.
//
// `again`: the threads that have the locks have the same id one after the other, if the system lets this program choose it.
// `free`: the one that has the lock releases it after a time, whether the other one waits already or not.
// `for ever`: a thread waits for a lock until the program ends.
//
//   wait METHOD AT-LEAST AT-MOST HOLDER      in nanoseconds; the operating system's id of the holder, or 0
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Contends
{
    internal static class Program
    {
        private static readonly object Gate = new object();
        private static Action enter;
        private static Action exit;
        private static readonly ManualResetEvent Held = new ManualResetEvent(false);
        private static volatile Thread waits;
        private static long atLeast;
        private static long atMost;
        private static string holder;
        private static bool isFree;

        private static int Main(string[] arguments)
        {
            Type type = typeof(object).Assembly.GetType("System.Threading.Lock");
            if (type != null)
            {
                object theLock = Activator.CreateInstance(type);
                enter = (Action)Delegate.CreateDelegate(typeof(Action), theLock, "Enter");
                exit = (Action)Delegate.CreateDelegate(typeof(Action), theLock, "Exit");
            }
            string way = arguments.Length > 0 ? arguments[0] : "";
            if (way == "for ever")
                return ForEver();
            isFree = way == "free";
            if (isFree)
            {
                // Compiled before the time of the holder begins.
                WaitForOld();
                if (type != null)
                    WaitForNew();
            }
            for (int round = 0; round < (isFree ? 4 : 8); round++)
            {
                bool isNew = type != null && round % 2 == 1;
                int time = isFree ? 20 + 280 * (round / 2) : 5 + 7 * round;
                if (way == "again" && round > 0)
                    ChooseId(int.Parse(holder));
                Held.Reset();
                waits = null;
                var holds = new Thread(() => Hold(isNew, time)) { Name = "holds" };
                holds.Start();
                Held.WaitOne();
                waits = Thread.CurrentThread;
                if (isNew)
                    WaitForNew();
                else
                    WaitForOld();
                holds.Join();
                string method = isNew ? "WaitForNew" : "WaitForOld";
                Console.WriteLine("wait " + method + " " + atLeast + " " + atMost + " " + holder);
            }
            return 7;
        }

        // Has the next thread of the system get this id.
        private static void ChooseId(int id)
        {
            // The thread before has ended, but the system may not have noticed it.
            for (int i = 0; i < 1000 && Directory.Exists("/proc/self/task/" + id); i++)
                Thread.Sleep(1);
            try
            {
                File.WriteAllText("/proc/sys/kernel/ns_last_pid", (id - 1).ToString());
            }
            catch (Exception)
            {
            }
        }

        // A thread waits until the program ends.
        private static int ForEver()
        {
            Monitor.Enter(Gate);
            new Thread(WaitForOld) { IsBackground = true }.Start();
            Thread.Sleep(2500);
            return 8;
        }

        private static long Now()
        {
            return (long)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency));
        }

        private static void Hold(bool isNew, int milliseconds)
        {
            holder = File.Exists("/proc/thread-self/stat") ? File.ReadAllText("/proc/thread-self/stat").Split(' ')[0] : "0";
            if (isNew)
                enter();
            else
                Monitor.Enter(Gate);
            Held.Set();
            Thread other;
            while ((other = waits) == null || !isFree && (other.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0)
                Thread.Sleep(1);
            long since = Now();
            Thread.Sleep(milliseconds);
            atLeast = Now() - since;
            if (isNew)
                exit();
            else
                Monitor.Exit(Gate);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void WaitForOld()
        {
            long since = Now();
            lock (Gate)
                atMost = Now() - since;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void WaitForNew()
        {
            long since = Now();
            enter();
            atMost = Now() - since;
            exit();
        }
    }
}
