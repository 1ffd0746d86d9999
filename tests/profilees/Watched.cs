using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

// The program for the watching tools: `Watched.dll WORK ENDING`. The effect of each work is known.
namespace Watched
{
    public static class Program
    {
        public static int Main(string[] args)
        {
            switch (args[0])
            {
                case "collect": Collections.Run(); break;
                case "fail": Failures.Run(); break;
                case "compute": Computed.Run(); break;
                case "count": Counted.Run(Number(args, 1600)); break;
                case "allocate": Allocated.Run(Number(args, 1600)); break;
                case "many": Many.Run(Number(args, 300)); break;
                case "mixed": Failures.Run(); Counted.Run(160); Allocated.Run(160); break;
                case "crowd": Crowd.Run(Number(args, 5000)); break;
                case "starved": Starved.Run(); break;
                case "exhausted": Exhausted.Run(); break;
                case "hour": Hour.Run(args[3], Number(args, 1000)); break;
                default: Console.WriteLine("no such work"); return 2;
            }
            Console.WriteLine("worked");
            return End(args.Length > 1 ? args[1] : "return");
        }

        private static int Number(string[] args, int otherwise)
        {
            return args.Length > 2 ? int.Parse(args[2]) : otherwise;
        }

        private static int End(string ending)
        {
            switch (ending)
            {
                case "return":
                    return 0;
                case "exit":
                    Environment.Exit(3);
                    return 4;
                case "unhandled":
                    throw new InvalidOperationException("nobody catches this");
                case "failfast":
                    Environment.FailFast("given up");
                    return 4;
                case "wait":
                    Wait();
                    return 0;
                case "overflow":
                    Wait();
                    return Overflow(1);
                case "cancel":
                    // The program handles Ctrl-C itself.
                    var cancelled = new ManualResetEvent(false);
                    Console.CancelKeyPress += (sender, e) => { e.Cancel = true; cancelled.Set(); };
                    Console.WriteLine("waiting");
                    cancelled.WaitOne();
                    Console.WriteLine("cancelled");
                    return 5;
                case "posix":
                    return HandlePosixSignal();
                case "child":
                    // The signals that a child blocks and ignores.
                    var grep = new ProcessStartInfo("grep", "-E \"SigBlk|SigIgn\" /proc/self/status");
                    using (Process child = Process.Start(grep))
                    {
                        child.WaitForExit();
                        return child.ExitCode;
                    }
                default:
                    Console.WriteLine("no such ending");
                    return 2;
            }
        }

        // As "cancel", by PosixSignalRegistration, which .NET Core 3.1 does not have.
        private static int HandlePosixSignal()
        {
            const string Space = "System.Runtime.InteropServices.";
            Type registration = typeof(GC).Assembly.GetType(Space + "PosixSignalRegistration")
                ?? Assembly.Load("System.Runtime.InteropServices").GetType(Space + "PosixSignalRegistration", true);
            MethodInfo create = registration.GetMethod("Create");
            ParameterInfo[] parameters = create.GetParameters();
            MethodInfo handle = typeof(Program).GetMethod("Handle", BindingFlags.NonPublic | BindingFlags.Static);
            Delegate handler = Delegate.CreateDelegate(parameters[1].ParameterType, handle);
            using ((IDisposable)create.Invoke(null, new[] { Enum.Parse(parameters[0].ParameterType, "SIGTERM"), handler }))
            {
                Console.WriteLine("waiting");
                Handled.WaitOne();
            }
            Console.WriteLine("handled");
            return 6;
        }

        private static readonly ManualResetEvent Handled = new ManualResetEvent(false);

        private static void Handle(object context)
        {
            context.GetType().GetProperty("Cancel").SetValue(context, true);
            Handled.Set();
        }

        private static void Wait()
        {
            Console.WriteLine("waiting");
            Console.ReadLine();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Overflow(int depth) { return depth == 0 ? 0 : Overflow(depth + 1) + depth; }
    }

    // 20 MB that survive, and collections: generation 0 three times, 1 twice, 2 once.
    public static class Collections
    {
        private static readonly List<byte[]> Kept = new List<byte[]>();

        public static void Run()
        {
            for (int i = 0; i < 20000; i++)
            {
                Kept.Add(new byte[1000]);
            }
            foreach (int generation in new[] { 0, 0, 0, 1, 1, 2 })
            {
                GC.Collect(generation);
            }
            GC.KeepAlive(Kept);
        }
    }

    public class Failure<T> : Exception
    {
        public Failure(string message) : base(message) { }
    }

    // Exceptions in this order: each is caught as its message says.
    public static class Failures
    {
        private class Silent : Exception { }

        private class Broken
        {
            public static readonly int Value = Fail();

            private static int Fail()
            {
                throw new ArgumentException("in a static constructor");
            }
        }

        public static void Run()
        {
            try { throw new InvalidOperationException("at once"); }
            catch (InvalidOperationException) { }

            try { Through(3); }
            catch (Failure<int>) { }

            try
            {
                try { throw new Silent(); }
                catch (Exception) { throw; }
            }
            catch (Silent) { }

            try { throw new FormatException("by a filter\nof two lines"); }
            catch (FormatException e) when (Throws(e)) { Console.WriteLine("never"); }
            catch (FormatException) { }

            try
            {
                try { throw new TimeoutException("given up for the next"); }
                finally { Replace(); }
            }
            catch (NotSupportedException) { }
            catch (TimeoutException) { Console.WriteLine("never"); }

            try { Console.WriteLine(Broken.Value); }
            catch (TypeInitializationException) { }

            var threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(Often);
                threads[i].Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Through(int frames)
        {
            if (frames == 0)
            {
                throw new Failure<int>("through frames");
            }
            Through(frames - 1);
            GC.KeepAlive(null);
        }

        private static bool Throws(Exception e)
        {
            throw new ApplicationException("in a filter");
        }

        private static void Replace()
        {
            throw new NotSupportedException("the next");
        }

        private static void Often()
        {
            for (int i = 0; i < 250; i++)
            {
                try { throw new Failure<string>("often"); }
                catch (Failure<string>) { }
            }
        }
    }

    // Uses a processor for many ticks of the kernel.
    public static class Computed
    {
        private static int sink;

        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        public static void Run()
        {
            int value = sink;
            for (int i = 0; i < 60000000; i++)
                value = value * 1103515245 + 12345;
            sink = value;
        }
    }

    // Calls whose number is known, by `calls`.
    public static class Counted
    {
        private static long sum;

        public static void Run(int calls)
        {
            for (int i = 0; i < calls / 100; i++)
                sum += Deep(99);
            var threads = new Thread[16];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() => Often(calls / 16));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            for (int i = 0; i < 300; i++)
                sum += Catches(i);
            sum += Even(100);
            Jumps(1000);
            for (int i = 0; i < 5; i++)
                Sleeps(20);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Deep(int depth) { return depth == 0 ? 1 : Deep(depth - 1) + 1; }

        private static void Often(int calls)
        {
            int value = 0;
            for (int i = 0; i < calls; i++)
                value = Step(value);
        }

        // Small enough to be inlined.
        private static int Step(int value) { return value + 1; }

        private static int Even(int n) { return n == 0 ? 1 : Odd(n - 1) + 1; }

        private static int Odd(int n) { return n == 0 ? 0 : Even(n - 1) + 1; }

        // 20 ms in the innermost call of many.
        private static void Sleeps(int depth)
        {
            if (depth == 0)
                Thread.Sleep(20);
            else
                Sleeps(depth - 1);
        }

        // A third of these throw through four frames; a fifth throw again in the `finally`.
        private static int Catches(int kind)
        {
            try { return Passes(kind); }
            catch (InvalidOperationException) { return 1; }
            catch (ArgumentException) { return 100; }
        }

        private static int Passes(int kind)
        {
            try { return Throws(kind, 3); }
            catch (InvalidOperationException) when (Filters(kind)) { throw; }
            finally { Cleans(kind); }
        }

        private static bool Filters(int kind) { return kind % 2 == 0; }

        private static void Cleans(int kind)
        {
            if (kind % 5 == 0)
                throw new ArgumentException();
        }

        private static int Throws(int kind, int depth)
        {
            if (depth > 0)
                return Throws(kind, depth - 1) + 1;
            if (kind % 3 == 0)
                throw new InvalidOperationException();
            return 0;
        }

        // C# has no tail calls: this makes a method that ends in one.
        private static void Jumps(int times)
        {
            var name = new AssemblyName("Tails");
            AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(name, AssemblyBuilderAccess.Run);
            TypeBuilder type = assembly.DefineDynamicModule("Tails").DefineType("Tails", TypeAttributes.Public);
            MethodBuilder jump = type.DefineMethod("Jump", MethodAttributes.Public | MethodAttributes.Static,
                typeof(long), new[] { typeof(int) });
            ILGenerator il = jump.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Tailcall);
            il.Emit(OpCodes.Call, typeof(Counted).GetMethod("Landed"));
            il.Emit(OpCodes.Ret);
            MethodInfo made = type.CreateTypeInfo().GetMethod("Jump");
            var call = (Func<int, long>)made.CreateDelegate(typeof(Func<int, long>));
            for (int i = 0; i < times; i++)
                sum += call(i);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static long Landed(int a, int b) { return a * (long)b; }
    }

    public sealed class Small { public long Content; }

    public sealed class Lasting { public long Content; }

    public sealed class Pair<T> { public T First, Second; }

    public struct Item { public long Content; }

    // Objects whose number is known, by `number`.
    public static class Allocated
    {
        private static object last;
        private static Lasting[] lasting;

        public static void Run(int number)
        {
            for (int i = 0; i < number; i++)
                MakeSmall();
            for (int i = 0; i < number / 10; i++)
                MakeItems();
            for (int i = 0; i < number / 10; i++)
                MakePair();
            var threads = new Thread[16];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() => { for (int n = 0; n < number / 16; n++) last = new Pair<long>(); });
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            Keep();
            GC.Collect(0);
            GC.Collect(1);
            GC.Collect(2);
            GC.KeepAlive(lasting);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void MakeSmall() { last = new Small(); }

        // 10 elements of 8 bytes.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void MakeItems() { last = new Item[10]; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void MakePair() { last = new Pair<string>(); }

        // 1000 objects of 24 bytes that survive.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Keep()
        {
            lasting = new Lasting[1000];
            for (int i = 0; i < lasting.Length; i++)
                lasting[i] = new Lasting();
        }
    }

    // Threads that all run at once, each with work of its own.
    public static class Crowd
    {
        private static long sum;

        public static void Run(int number)
        {
            var threads = new Thread[number];
            var all = new CountdownEvent(number);
            var go = new ManualResetEventSlim(false);
            for (int i = 0; i < number; i++)
            {
                int mine = i;
                threads[i] = new Thread(() =>
                {
                    all.Signal();
                    go.Wait();
                    Interlocked.Add(ref sum, Work(mine));
                }, 256 * 1024);
                threads[i].Start();
            }
            all.Wait();
            go.Set();
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine(number + " threads: " + sum);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work(int number)
        {
            if (number % 100 == 0)
            {
                try { throw new TimeoutException("in a crowd"); }
                catch (TimeoutException) { }
            }
            return new int[10].Length + number % 7;
        }
    }

    // The thread pool has two threads, which wait until another thread releases them; the rest of its work is queued.
    public static class Starved
    {
        public static void Run()
        {
            ThreadPool.SetMinThreads(2, 2);
            ThreadPool.SetMaxThreads(2, 2);
            var go = new ManualResetEvent(false);
            var done = new CountdownEvent(40);
            for (int i = 0; i < 40; i++)
            {
                bool waits = i < 20;
                ThreadPool.QueueUserWorkItem(_ =>
                {
                    if (waits)
                        go.WaitOne();
                    done.Signal();
                });
            }
            Thread.Sleep(500);
            go.Set();
            done.Wait();
            Console.WriteLine("fed");
        }
    }

    // All memory that the collector may have, and then the end of that.
    public static class Exhausted
    {
        public static void Run()
        {
            for (int round = 0; round < 3; round++)
            {
                try
                {
                    Take();
                    Console.WriteLine("there is no limit");
                }
                catch (OutOfMemoryException)
                {
                    Console.WriteLine("exhausted");
                }
                GC.Collect();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Take()
        {
            var all = new List<byte[]>();
            for (int i = 0; i < 20000; i++)
                all.Add(new byte[50000]);
            GC.KeepAlive(all);
        }
    }

    // Calls of two methods that call one another in all orders: as many stacks as calls. And types,
    // each with an object.
    public static class Many
    {
        // Optimised code eliminates objects that nothing uses.
        private static object last;

        public static void Run(int number)
        {
            uint state = 12345;
            for (int i = 0; i < number; i++)
            {
                state = state * 1664525 + 1013904223;
                Left(state >> 8, 12);
            }
            Type type = typeof(Small);
            for (int i = 0; i < 200; i++)
            {
                type = typeof(Pair<>).MakeGenericType(type);
                Activator.CreateInstance(type);
            }
        }

        private static int Left(uint way, int depth)
        {
            last = new Small();
            return depth == 0 ? 0 : (way & 1) == 0 ? Left(way >> 1, depth - 1) + 1 : Right(way >> 1, depth - 1) + 1;
        }

        private static int Right(uint way, int depth)
        {
            last = new Small();
            return depth == 0 ? 0 : (way & 1) == 0 ? Left(way >> 1, depth - 1) + 2 : Right(way >> 1, depth - 1) + 2;
        }
    }

    // The events of an hour at a steady rate, without pauses: 3600 times `rate` events.
    public static class Hour
    {
        private static object last;

        public static void Run(string what, int rate)
        {
            long sum = 0;
            for (int second = 0; second < 3600; second++)
            {
                switch (what)
                {
                    case "calls":
                        for (int i = 0; i < rate; i++)
                            sum += Call(i);
                        break;
                    case "objects":
                        for (int i = 0; i < rate; i++)
                            last = new Small();
                        break;
                    case "words":
                        for (int i = 0; i < rate; i++)
                            sum += Words(second, i);
                        break;
                    case "exceptions":
                        for (int i = 0; i < rate; i++)
                            Throw();
                        break;
                    case "collections":
                        for (int i = 0; i < rate; i++)
                            GC.Collect(0);
                        break;
                }
                if (second == 0 || second == 3599)
                    Console.WriteLine("rss " + Rss());
            }
        }

        // The program's memory, in kilobytes; 0 if it is unknown.
        private static long Rss()
        {
            GC.Collect();
            if (!System.IO.File.Exists("/proc/self/status"))
                return 0;
            foreach (string line in System.IO.File.ReadAllLines("/proc/self/status"))
                if (line.StartsWith("VmRSS:"))
                    return long.Parse(line.Substring(6).Replace("kB", "").Trim());
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Call(int value) { return value ^ 1; }

        // A text that is built, split, and searched.
        private static int Words(int second, int number)
        {
            string line = "second " + second + ", number " + number;
            var lengths = new Dictionary<string, int>();
            foreach (string word in line.Split(' '))
                lengths[word] = word.Length;
            return lengths.Count;
        }

        private static void Throw()
        {
            try { throw new TimeoutException("every second"); }
            catch (TimeoutException) { }
        }
    }
}
