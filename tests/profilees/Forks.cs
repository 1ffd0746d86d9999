// Forks itself by the system call: the argument selects the child's behaviour, and the parent prints how it ended.
// Then the parent continues, and ends with the exit code 5.
//
// The child compiles nothing and allocates nothing: it shares the memory of compiled code with its parent.
//
//   leave    the child calls _exit(7)
//   exit     the child calls exit(7), which runs the exit handlers of libraries
//   exec     the child becomes /bin/true
//   term     the child waits for signals; the parent sends SIGTERM, and waits for it too: the runtime's handler in the
//            child writes to the pipe that both share, so that the parent ends as if the signal were its own
//   abort    the child aborts
//   start    a child of Process.Start: this program again, with the argument "child"
using System;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Forks
{
    internal sealed class Thrown : Exception
    {
    }

    internal static class Program
    {
        private const int SIGTERM = 15;

        private static volatile bool ends;

        [DllImport("libc")]
        private static extern int fork();

        [DllImport("libc")]
        private static extern int getppid();

        [DllImport("libc")]
        private static extern int pause();

        [DllImport("libc")]
        private static extern void abort();

        [DllImport("libc")]
        private static extern void exit(int code);

        [DllImport("libc")]
        private static extern void _exit(int code);

        [DllImport("libc")]
        private static extern int kill(int process, int signal);

        [DllImport("libc")]
        private static extern int waitpid(int process, out int status, int options);

        [DllImport("libc")]
        private static extern int execv(string path, IntPtr[] arguments);

        private static int Main(string[] arguments)
        {
            string what = arguments[0];
            if (what == "child")
            {
                Console.WriteLine("a child of Process.Start: " + Work0());
                return 7;
            }
            // Everything that the child needs is compiled before.
            foreach (MethodInfo method in typeof(Program).GetMethods(BindingFlags.NonPublic | BindingFlags.Static))
                Marshal.Prelink(method);
            Work0();
            var threads = new Thread[2];
            for (int i = 0; i < threads.Length; i++)
                (threads[i] = new Thread(KeepBusy)).Start();
            Thread.Sleep(100);
            if (what == "start")
                Console.WriteLine("child: " + Start());
            else
                Console.WriteLine("child: " + Fork(what));
            ends = true;
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine("parent: " + Work1());
            return 5;
        }

        private static string Fork(string what)
        {
            var words = new IntPtr[] { Marshal.StringToHGlobalAnsi("true"), IntPtr.Zero };
            int child = fork();
            if (child == 0)
            {
                if (what == "leave")
                    _exit(7);
                else if (what == "exit")
                    exit(7);
                else if (what == "exec")
                    execv("/bin/true", words);
                else if (what == "term")
                    pause();
                else if (what == "abort")
                    abort();
                _exit(9);
            }
            if (what == "term")
            {
                Thread.Sleep(300);
                kill(child, SIGTERM);
            }
            int status = 0;
            int waited = 0;
            // Ten seconds; 1 is WNOHANG.
            for (int tries = 0; tries < 1000 && waited == 0; tries++)
            {
                waited = waitpid(child, out status, 1);
                if (waited == 0)
                    Thread.Sleep(10);
            }
            if (what == "term")
                Thread.Sleep(20000);
            if (waited == child)
                return "status " + status;
            kill(child, 9);
            waitpid(child, out status, 0);
            return "hangs";
        }

        private static string Start()
        {
            var start = new ProcessStartInfo();
            start.FileName = Environment.GetEnvironmentVariable("FORKS_HOST");
            foreach (string argument in Environment.GetEnvironmentVariable("FORKS_ARGUMENTS").Split('\n'))
                start.ArgumentList.Add(argument);
            start.Environment["HOSTED_ARGUMENTS"] = "child";
            start.UseShellExecute = false;
            using (Process child = Process.Start(start))
            {
                child.WaitForExit();
                return "code " + child.ExitCode;
            }
        }

        private static void KeepBusy()
        {
            while (!ends)
            {
                if (Catch() != 1)
                    throw new Exception("wrong");
                Thread.Sleep(1);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Catch()
        {
            try
            {
                throw new Thrown();
            }
            catch (Thrown)
            {
                return 1;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work0() { return 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work1() { return 2; }
    }
}
