// The subjects of the tracer, each in a method of its own: `Traced work`. It checks its own results, so
// that tracing must not change them. `Traced calls N` measures calls.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Traced
{
    public class Failure : Exception
    {
        public Failure(string message) : base(message) { }

        public override string Message { get { return "never asked for: " + base.Message; } }
    }

    public static class Program
    {
        public static int Main(string[] arguments)
        {
            if (arguments[0] == "calls")
            {
                return Calls.Run(int.Parse(arguments[1]));
            }
            if (arguments[0] == "often")
            {
                return Often.Run(int.Parse(arguments[1]));
            }
            Plain.Run();
            Kinds.Run();
            Asynchronous.Run();
            Flow.Run();
            Console.WriteLine("worked");
            return 0;
        }

        internal static void Check(bool condition, string what)
        {
            if (!condition)
            {
                throw new ApplicationException("wrong: " + what);
            }
        }
    }

    public static class Plain
    {
        private static string order = "";

        public static void Run()
        {
            Program.Check(Outer(3) == 8, "Outer");
            try
            {
                Throws("now");
                Program.Check(false, "Throws");
            }
            catch (Failure failure)
            {
                Program.Check(failure.Message == "never asked for: now", "the message");
                Program.Check(failure.StackTrace.Contains("Throws"), "the stack");
            }
            // Filters of callers run before inner `finally` blocks.
            try
            {
                Unwinds();
            }
            catch (Failure) when (Note("filter "))
            {
                order += "catch";
            }
            Program.Check(order == "filter finally catch", order);
            try
            {
                Program.Check(Replaces() == 7, "Replaces");
            }
            catch (Failure)
            {
                // Execution never reaches the target of the first exception.
                Program.Check(false, "a replaced exception");
            }
            int changed = 5;
            string text;
            Program.Check(ByReference(ref changed, out text) == 5 && changed == 6 && text == "6", "ref");
            Program.Check(Spans(new Span<int>(new[] { 1, 2, 3 })) == 6, "Spans");
            Program.Check(Many(1, 2, "3", 4.0, 'x', null) == 6, "Many");
            Program.Check(Overload(1) == 1 && Overload("1") == 2 && Overload(1, 1) == 3, "Overload");
        }

        private static int Outer(int n)
        {
            return Inner(n) + Inner(n + 1) + 1;
        }

        private static int Inner(int n)
        {
            return n;
        }

        private static int Throws(string why)
        {
            throw new Failure(why);
        }

        private static void Unwinds()
        {
            try
            {
                Throws("through");
            }
            finally
            {
                order += "finally ";
            }
        }

        private static bool Note(string what)
        {
            order += what;
            return true;
        }

        // The first exception propagates when another one replaces it.
        private static int Replaces()
        {
            try
            {
                try
                {
                    throw new Failure("the first");
                }
                finally
                {
                    throw new InvalidOperationException("the second");
                }
            }
            catch (InvalidOperationException)
            {
                return 7;
            }
        }

        private static int ByReference(ref int value, out string text)
        {
            value++;
            text = value.ToString();
            return value - 1;
        }

        private static int Spans(Span<int> values)
        {
            int sum = 0;
            for (int i = 0; i < values.Length; i++)
            {
                sum += values[i];
            }
            return sum;
        }

        private static int Many(int a, long b, string c, double d, char e, object f)
        {
            return f == null ? 6 : 0;
        }

        private static int Overload(int a) { return 1; }

        private static int Overload(string a) { return 2; }

        private static int Overload(int a, int b) { return 3; }
    }

    public class Base
    {
        protected readonly int kept;

        public Base(int kept) { this.kept = kept; }
    }

    public class Derived : Base
    {
        private static readonly int Start;

        static Derived() { Start = Compute(); }

        public Derived(int kept) : base(kept + Start) { if (kept < 0) { throw new Failure("negative"); } }

        private static int Compute() { return 10; }

        public virtual int Kept() { return kept; }
    }

    public struct Point
    {
        private int x;

        public Point(int x) { this.x = x; }

        public int Move(int by) { x += by; return x; }
    }

    public class Shelf<T>
    {
        private T last;

        public T Put<U>(T value, U mark) { T before = last; last = value; return before; }
    }

    public static class Kinds
    {
        public static void Run()
        {
            Program.Check(new Derived(1).Kept() == 11, "Derived");
            try
            {
                new Derived(-1);
                Program.Check(false, "a constructor that throws");
            }
            catch (Failure)
            {
            }
            var point = new Point(3);
            Program.Check(point.Move(4) == 7 && point.Move(1) == 8, "Point");
            var numbers = new Shelf<int>();
            Program.Check(numbers.Put(1, "a") == 0 && numbers.Put(2, 3.5) == 1, "Shelf<int>");
            var texts = new Shelf<string>();
            Program.Check(texts.Put("a", 1) == null && texts.Put("b", texts) == "a", "Shelf<string>");
            int sum = 0;
            foreach (int number in Numbers(4))
            {
                sum += number;
            }
            Program.Check(sum == 6, "Numbers");
        }

        private static IEnumerable<int> Numbers(int end)
        {
            for (int i = 0; i < end; i++)
            {
                yield return i;
            }
        }
    }

    // A custom awaitable.
    public struct Soon
    {
        public TaskAwaiter<int> GetAwaiter() { return Task.FromResult(4).GetAwaiter(); }
    }

    // A ValueTask<int> that is not backed by a task.
    public class Manual : IValueTaskSource<int>
    {
        private ManualResetValueTaskSourceCore<int> core;

        public ValueTask<int> Task { get { return new ValueTask<int>(this, core.Version); } }

        public void Set(int value) { core.SetResult(value); }

        public void Fail(Exception exception) { core.SetException(exception); }

        public int GetResult(short token) { return core.GetResult(token); }

        public ValueTaskSourceStatus GetStatus(short token) { return core.GetStatus(token); }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            core.OnCompleted(continuation, state, token, flags);
        }
    }

    public static class Asynchronous
    {
        private enum End { Now, Later, FailNow, FailLater, CancelLater }

        private static readonly TaskCompletionSource<int> Kept = new TaskCompletionSource<int>();

        public static void Run()
        {
            foreach (End end in Enum.GetValues(typeof(End)))
            {
                Wait(OfTask(end), end, -1);
                Wait(OfTaskOf(end), end, 5);
                Wait(OfValueTask(end).AsTask(), end, -1);
                Wait(OfValueTaskOf(end).AsTask(), end, 5);
            }
            Task<int> same = Same();
            Program.Check(ReferenceEquals(same, Kept.Task) && !same.IsCompleted, "Same");
            Kept.SetResult(1);
            Program.Check(NoTask() == null, "NoTask");
            Awaits().Wait();
            Unobserved();
            Context();
        }

        private static async Task Wait(End end)
        {
            if (end == End.Later || end == End.FailLater || end == End.CancelLater)
            {
                await Task.Delay(30);
            }
            if (end == End.FailNow || end == End.FailLater)
            {
                throw new Failure(end.ToString());
            }
            if (end == End.CancelLater)
            {
                throw new OperationCanceledException();
            }
        }

        private static async Task OfTask(End end) { await Wait(end); }

        private static async Task<int> OfTaskOf(End end) { await Wait(end); return 5; }

        // This compiler generates no `async ValueTask`; the tracer follows the returned type.
        private static ValueTask OfValueTask(End end) { return new ValueTask(Wait(end)); }

        private static async ValueTask<int> OfValueTaskOf(End end) { await Wait(end); return 5; }

        private static void Wait(Task task, End end, int value)
        {
            try
            {
                task.GetAwaiter().GetResult();
                Program.Check(end == End.Now || end == End.Later, "no exception: " + end);
                var valued = task as Task<int>;
                Program.Check(value < 0 || valued.Result == value, "the value");
            }
            catch (Failure failure)
            {
                Program.Check(failure.Message == "never asked for: " + end, failure.Message);
                Program.Check(task.IsFaulted, "faulted");
            }
            catch (OperationCanceledException)
            {
                Program.Check(end == End.CancelLater && task.IsCanceled, "cancelled");
            }
        }

        private static Task<int> Same() { return Kept.Task; }

        private static Task NoTask() { return null; }

        private static Soon Custom() { return new Soon(); }

        private static ValueTask<int> FromSource(Manual manual) { return manual.Task; }

        private static async void Void(TaskCompletionSource<int> done)
        {
            await Task.Delay(1);
            done.SetResult(2);
        }

        private static async Task Awaits()
        {
            Program.Check(await Custom() == 4, "Custom");
            var done = new TaskCompletionSource<int>();
            Void(done);
            Program.Check(await done.Task == 2, "Void");
            var manual = new Manual();
            ValueTask<int> task = FromSource(manual);
            Program.Check(!task.IsCompleted, "a source that waits");
            ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(30); manual.Set(9); });
            Program.Check(await task == 9, "a source");
            manual = new Manual();
            task = FromSource(manual);
            manual.Fail(new Failure("a source"));
            try
            {
                await task;
                Program.Check(false, "a source that fails");
            }
            catch (Failure)
            {
            }
        }

        // Tracing does not count as observing an exception.
        private static void Unobserved()
        {
            int seen = 0;
            EventHandler<UnobservedTaskExceptionEventArgs> see = (sender, arguments) =>
            {
                if (arguments.Exception.InnerException is Failure)
                {
                    Interlocked.Increment(ref seen);
                }
            };
            TaskScheduler.UnobservedTaskException += see;
            Forget();
            for (int i = 0; i < 200 && Volatile.Read(ref seen) == 0; i++)
            {
                Thread.Sleep(10);
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            TaskScheduler.UnobservedTaskException -= see;
            Program.Check(seen == 1, "unobserved exceptions: " + seen);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Forget()
        {
            OfTask(End.FailLater).ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(() => { });
        }

        private sealed class Counting : SynchronizationContext
        {
            internal int Posts;

            public override void Post(SendOrPostCallback callback, object state)
            {
                Interlocked.Increment(ref Posts);
                ThreadPool.QueueUserWorkItem(_ =>
                {
                    SetSynchronizationContext(this);
                    callback(state);
                    SetSynchronizationContext(null);
                });
            }
        }

        // The number of calls of the context depends on chance: the least of a few runs does not.
        private static void Context()
        {
            int least = int.MaxValue;
            for (int i = 0; i < 5; i++)
            {
                var context = new Counting();
                SynchronizationContext.SetSynchronizationContext(context);
                Task<bool> task = Returns(context);
                SynchronizationContext.SetSynchronizationContext(null);
                Program.Check(task.Result, "back to the context");
                least = Math.Min(least, context.Posts);
            }
            // One for each await that had to wait.
            Console.WriteLine("posts: " + least);
        }

        private static async Task<bool> Returns(SynchronizationContext context)
        {
            bool isBack = true;
            await OfTaskOf(End.Later);
            isBack &= SynchronizationContext.Current == context;
            await OfValueTaskOf(End.Later);
            isBack &= SynchronizationContext.Current == context;
            var manual = new Manual();
            ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(30); manual.Set(9); });
            await FromSource(manual);
            isBack &= SynchronizationContext.Current == context;
            return isBack;
        }
    }

    // The callers, across threads and awaits.
    public static class Flow
    {
        private static readonly AsyncLocal<int> Own = new AsyncLocal<int>();

        public static void Run()
        {
            Top().Wait();
            Program.Check(Sets() == 3 && Own.Value == 3, "a value that a method sets stays set");
        }

        private static int Sets() { Own.Value = 3; return 3; }

        private static async Task Top()
        {
            Leaf("before");
            await Middle();
            Leaf("after");
            var thread = new Thread(() => Leaf("thread"));
            thread.Start();
            thread.Join();
            await Task.WhenAll(Task.Run(() => Side(1)), Task.Run(() => Side(2)));
        }

        private static async Task Middle()
        {
            await Task.Delay(20);
            Leaf("middle");
        }

        private static void Side(int number) { Thread.Sleep(10); Leaf("side " + number); }

        private static void Leaf(string where) { }
    }

    // A method that is called too often for spans, and one that is not.
    public static class Often
    {
        private static long steps;

        public static int Run(int rounds)
        {
            for (int i = 0; i < rounds; i++)
            {
                Round();
            }
            Program.Check(steps == rounds * 20000, "the number of steps");
            return 0;
        }

        private static void Round()
        {
            for (int i = 0; i < 20000; i++)
            {
                Step(i);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Step(int n)
        {
            if (n >= 0 && Small(n) == n)
            {
                steps++;
            }
        }

        private static int Small(int n) { return n; }
    }

    // The same work unchanged, and with a handwritten tracer around it.
    public static class Calls
    {
        private static readonly AsyncLocal<object> Current = new AsyncLocal<object>();
        private static long count;

        public static int Run(int rounds)
        {
            for (int i = 0; i < 5; i++)
            {
                Measure("work", rounds, false);
                Measure("by hand", rounds, true);
            }
            return 0;
        }

        private static void Measure(string name, int rounds, bool byHand)
        {
            var watch = Stopwatch.StartNew();
            int sum = 0;
            for (int i = 0; i < rounds; i++)
            {
                sum += byHand ? ByHand(i) : Work(i);
            }
            double nanoseconds = watch.Elapsed.TotalMilliseconds * 1e6 / rounds;
            Console.WriteLine(name + " " + nanoseconds.ToString("F1") + " " + sum);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work(int n) { return n & 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int ByHand(int n)
        {
            object previous = Current.Value;
            Current.Value = new object();
            long start = Stopwatch.GetTimestamp();
            try
            {
                return n & 1;
            }
            catch (Exception)
            {
                count++;
                throw;
            }
            finally
            {
                Current.Value = previous;
                count += Stopwatch.GetTimestamp() - start;
            }
        }
    }
}
