// Does everything at once for as many seconds as the argument says: compiles, allocates, throws, starts
// threads, loads and unloads, collects. With a second argument, `natively`, it also raises hardware exceptions, calls itself
// deeply, has threads with small stacks and with other stacks for signals, loads native libraries, starts processes, and
// computes without a safepoint. It checks its own results, and prints nothing that depends on
// time.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

namespace Stress
{
    internal sealed class Thrown : Exception
    {
        internal readonly int Depth;

        internal Thrown(int depth)
        {
            Depth = depth;
        }
    }

    public sealed class Node<T>
    {
        public T Value;
        public Node<T> Next;
    }

    public static class Program
    {
        private static volatile bool over;

        private static int Main(string[] arguments)
        {
            int seconds = arguments.Length > 0 ? int.Parse(arguments[0]) : 1;
            Announce("begin");
            var clock = Stopwatch.StartNew();
            var work = new Func<int, bool>[] { Compile, Instantiate, Allocate, Throw, Start, Load, Collect };
            if (arguments.Length > 1)
                work = new Func<int, bool>[]
                {
                    Compile, Instantiate, Allocate, Throw, Start, Load, Collect,
                    Fault, Descend, Shrink, Switch, Link, Execute, Compute,
                };
            var right = new bool[work.Length];
            var threads = new Thread[work.Length];
            for (int i = 0; i < work.Length; i++)
            {
                int index = i;
                threads[i] = new Thread(() =>
                {
                    bool all = true;
                    int n = 0;
                    do
                        all &= work[index](n++);
                    while (!over);
                    right[index] = all;
                });
                threads[i].Start();
            }
            Thread.Sleep(Math.Max(0, seconds * 1000 - (int)clock.ElapsedMilliseconds));
            over = true;
            foreach (Thread thread in threads)
                thread.Join();
            for (int i = 0; i < work.Length; i++)
                Console.WriteLine(work[i].Method.Name + " right " + right[i]);
            Announce("end");
            return 11;
        }

        // The name of a thread notifies the profiler.
        private static void Announce(string what)
        {
            var thread = new Thread(() => Thread.CurrentThread.Name = what);
            thread.Start();
            thread.Join();
        }

        private static bool Compile(int n)
        {
            var method = new DynamicMethod("Made" + n, typeof(int), new[] { typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, n);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            return ((Func<int, int>)method.CreateDelegate(typeof(Func<int, int>)))(3) == n + 3;
        }

        // Each of some hundred instantiations is loaded and compiled once.
        private static bool Instantiate(int n)
        {
            Type type = typeof(int);
            Type[] kinds = { typeof(Node<>), typeof(List<>), typeof(Nullable<>) };
            int path = n % 400;
            for (int depth = 0; depth < 5; depth++, path /= 3)
            {
                Type next = kinds[path % 3];
                bool isNullable = next == typeof(Nullable<>);
                if (isNullable && !(type.IsValueType && Nullable.GetUnderlyingType(type) == null))
                    next = typeof(Node<>);
                type = next.MakeGenericType(type);
            }
            MethodInfo open = typeof(Program).GetMethod("Depth");
            return (int)open.MakeGenericMethod(type).Invoke(null, new object[] { n }) == n;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Depth<T>(int n)
        {
            return new T[n % 7].Length == n % 7 ? n : -1;
        }

        private static bool Allocate(int n)
        {
            Node<string> first = null;
            for (int i = 0; i < 1000; i++)
                first = new Node<string> { Value = "node " + i, Next = first };
            var large = new byte[100000 + n % 1000];
            large[n % large.Length] = 1;
            int count = 0;
            for (Node<string> node = first; node != null; node = node.Next)
                count += node.Value.Length;
            return count == 7890 && large.Length == 100000 + n % 1000;
        }

        private static bool Throw(int n)
        {
            int wanted = n % 20, finallys = 0;
            try
            {
                Fall(wanted, ref finallys);
                return false;
            }
            catch (Thrown thrown) when (thrown.Depth == 0)
            {
                return finallys == wanted;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Fall(int depth, ref int finallys)
        {
            if (depth == 0)
                throw new Thrown(0);
            try
            {
                Fall(depth - 1, ref finallys);
            }
            finally
            {
                finallys++;
            }
        }

        private static bool Start(int n)
        {
            int sum = 0;
            var threads = new Thread[3];
            for (int i = 0; i < threads.Length; i++)
            {
                int add = i + 1;
                (threads[i] = new Thread(() => Interlocked.Add(ref sum, add))).Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            return sum == 6;
        }

        private static bool Load(int n)
        {
            WeakReference loaded = Use(n);
            if (loaded == null)
                return false;
            for (int i = 0; loaded.IsAlive && i < 100; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            if (loaded.IsAlive)
                Console.WriteLine("Load: context " + n + " is alive after 100 collections");
            return !loaded.IsAlive;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use(int number)
        {
            var context = new AssemblyLoadContext("number " + number, true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            MethodInfo answer = again.GetType("Stress.Program").GetMethod("Answer");
            int found = (int)answer.Invoke(null, new object[] { number });
            context.Unload();
            if (found == number + 41)
                return new WeakReference(context);
            Console.WriteLine("Load: context " + number + " answered " + found);
            return null;
        }

        // Objects of a loaded context's types, which live until it is unloaded.
        private static Node<int> last;
        private static Node<Thrown> other;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Answer(int n)
        {
            last = new Node<int> { Value = n };
            other = new Node<Thrown> { Value = new Thrown(n) };
            // It is on the stack long enough to be sampled, just before its module is unloaded.
            Thread.Sleep(2);
            return last.Value + 41;
        }

        private static bool Collect(int n)
        {
            var tracked = new Node<int> { Value = n };
            GC.Collect(n % 3, GCCollectionMode.Forced, true, n % 2 == 0);
            Thread.Sleep(1);
            return tracked.Value == n;
        }

        // Bit 26: signal 27 of a timer of the process. Its handler has no place below that of a hardware exception.
        private static readonly byte[] Profiling = Set(26);

        private static byte[] Set(int bit)
        {
            var set = new byte[128];
            set[bit / 8] = (byte)(1 << bit % 8);
            return set;
        }

        [DllImport("libc")]
        private static extern int pthread_sigmask(int how, byte[] set, IntPtr old);

        [DllImport("libc")]
        private static extern int sigaltstack(ref SignalStack stack, ref SignalStack old);

        [StructLayout(LayoutKind.Sequential)]
        private struct SignalStack
        {
            internal IntPtr Start;
            internal int Flags;
            internal UIntPtr Size;
        }

        private static bool Fault(int n)
        {
            if (n == 0)
                pthread_sigmask(0, Profiling, IntPtr.Zero);
            return Fail(n, null);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool Fail(int n, Node<int> none)
        {
            try
            {
                return n % 2 == 0 ? none.Value == n : n / (n - n) == n;
            }
            catch (NullReferenceException)
            {
                return n % 2 == 0;
            }
            catch (DivideByZeroException)
            {
                return n % 2 == 1;
            }
        }

        private static bool Descend(int n)
        {
            int depth = n % 700;
            return Sum(depth) == depth * (depth + 1) / 2;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Sum(int n)
        {
            return n == 0 ? 0 : n + Sum(n - 1);
        }

        private static bool Shrink(int n)
        {
            bool right = false;
            var thread = new Thread(() => right = Descend(100) && Throw(n % 5) && Compute(n), 131072);
            thread.Start();
            thread.Join();
            return right;
        }

        // Hardware exceptions on a thread whose signals have another stack than that of the runtime.
        private static bool Switch(int n)
        {
            bool right = true;
            var thread = new Thread(() =>
            {
                pthread_sigmask(0, Profiling, IntPtr.Zero);
                IntPtr memory = Marshal.AllocHGlobal(65536);
                var stack = new SignalStack { Start = memory, Size = (UIntPtr)65536 };
                var old = new SignalStack();
                right &= sigaltstack(ref stack, ref old) == 0;
                for (int i = 0; i < 20; i++)
                    right &= Fail(i, null);
                right &= sigaltstack(ref old, ref stack) == 0;
                Marshal.FreeHGlobal(memory);
            });
            thread.Start();
            thread.Join();
            return right;
        }

        private static bool Link(int n)
        {
            IntPtr library = NativeLibrary.Load(n % 2 == 0 ? "libanl.so.1" : "libBrokenLocale.so.1");
            NativeLibrary.Free(library);
            return library != IntPtr.Zero;
        }

        private static bool Execute(int n)
        {
            using (Process process = Process.Start("/bin/true"))
            {
                process.WaitForExit();
                return process.ExitCode == 0;
            }
        }

        private static int computed;

        private static bool Compute(int n)
        {
            int value = n;
            for (int i = 0; i < 300000; i++)
                value = value * 1103515245 + 12345;
            computed = value;
            return true;
        }
    }
}
