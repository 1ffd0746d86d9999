// Random trees of calls, tasks, timers, threads, contexts and exceptions: `Trees trees N FILE` grows N of them on each of 4 threads.
// Each traced method asks the tracer for its span, if there is a tracer, and writes that and the span that it
// should have as its parent to FILE. The parent is known by an AsyncLocal that each method sets when it begins and sets back when it
// ends.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Trees
{
    // The spans of the tracer, by its helper assembly.
    internal static unsafe class Tracer
    {
        private static Func<long, IntPtr> innermost;
        private static object current;
        private static PropertyInfo value;
        private static FieldInfo id;

        // After the first call of a traced method.
        internal static void Find()
        {
            const BindingFlags Any = BindingFlags.Static | BindingFlags.Instance | BindingFlags.NonPublic;
            foreach (Assembly assembly in AppDomain.CurrentDomain.GetAssemblies())
            {
                if (assembly.GetName().Name == "MethodTracer")
                {
                    MethodInfo method = assembly.GetType("MethodTracer.Native").GetMethod("Innermost", Any);
                    innermost = (Func<long, IntPtr>)method.CreateDelegate(typeof(Func<long, IntPtr>));
                    current = assembly.GetType("MethodTracer.Tracer").GetField("Current", Any).GetValue(null);
                    value = current.GetType().GetProperty("Value");
                    id = assembly.GetType("MethodTracer.Context").GetField("Id", Any);
                }
            }
        }

        // The innermost span; 0 without a tracer.
        internal static long Span()
        {
            if (innermost == null)
            {
                return 0;
            }
            object context = value.GetValue(current);
            long known = context == null ? 0 : (long)id.GetValue(context);
            IntPtr frame = innermost(known);
            return frame == IntPtr.Zero ? known : *(long*)frame;
        }
    }

    internal sealed class Dice
    {
        private uint state;

        internal Dice(uint seed) { state = seed * 2654435761u + 12345; }

        internal int Next(int sides)
        {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            return (int)(state % (uint)sides);
        }

        internal uint Fork() { Next(2); return state | 1; }
    }

    public class Broken : Exception { }

    // An awaitable that always waits, and continues on a thread of its own.
    public struct Detour : ICriticalNotifyCompletion
    {
        public Detour GetAwaiter() { return this; }
        public bool IsCompleted { get { return false; } }
        public void GetResult() { }
        public void OnCompleted(Action next) { new Thread(() => next()).Start(); }
        public void UnsafeOnCompleted(Action next) { OnCompleted(next); }
    }

    // A source of a ValueTask that another thread completes.
    public sealed class Source : IValueTaskSource<int>
    {
        private ManualResetValueTaskSourceCore<int> core;
        public ValueTask<int> Task { get { return new ValueTask<int>(this, core.Version); } }
        public void Set() { core.SetResult(1); }
        public int GetResult(short token) { return core.GetResult(token); }
        public ValueTaskSourceStatus GetStatus(short token) { return core.GetStatus(token); }
        public void OnCompleted(Action<object> next, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            core.OnCompleted(next, state, token, flags);
        }
    }

    public static class Program
    {
        private static readonly AsyncLocal<long> Truth = new AsyncLocal<long>();
        private static readonly ConcurrentQueue<(long, long, string)> Log = new ConcurrentQueue<(long, long, string)>();
        private static ExecutionContext kept;
        private static long calls;

        public static int Main(string[] arguments)
        {
            Warm();
            Tracer.Find();
            ThreadPool.SetMinThreads(32, 8);
            int count = int.Parse(arguments[1]);
            var threads = new List<Thread>();
            for (int q = 0; q < 4; q++)
            {
                int k = q;
                var thread = new Thread(() => Grow(k, count));
                thread.Start();
                threads.Add(thread);
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            Thread.Sleep(200);
            using (var file = new StreamWriter(arguments[2]))
            {
                foreach (var (span, parent, at) in Log)
                {
                    file.WriteLine(span + " " + parent + " " + at);
                }
            }
            Console.WriteLine("grown " + (calls > count));
            return 0;
        }

        private static void Warm() { }

        private static void Grow(int k, int count)
        {
            for (int i = 0; i < count; i++)
            {
                try
                {
                    Spans.Sync((uint)(i * 4 + k + 1), 6, "root");
                }
                catch (Broken)
                {
                }
            }
        }

        // Begins: the caller sets the result as the truth.
        internal static long Check(string at)
        {
            long span = Tracer.Span();
            Interlocked.Increment(ref calls);
            Log.Enqueue((span, Truth.Value, at));
            return span;
        }

        internal static long Now { get { return Truth.Value; } set { Truth.Value = value; } }

        internal static ExecutionContext Keep(ExecutionContext context) { return Interlocked.Exchange(ref kept, context); }
    }

    // The traced methods.
    public static class Spans
    {
        internal static void Leaf(string at)
        {
            long before = Program.Now;
            Program.Now = Program.Check(at);
            Program.Now = before;
        }

        internal static void Sync(uint seed, int depth, string at)
        {
            long before = Program.Now;
            Program.Now = Program.Check(at);
            try
            {
                Children.Of(new Dice(seed), depth);
                Leaf("after the children of " + at);
            }
            finally
            {
                Program.Now = before;
            }
        }

        internal static void Throws(uint seed, int depth, string at)
        {
            long before = Program.Now;
            Program.Now = Program.Check(at);
            try
            {
                Children.Of(new Dice(seed), depth);
                throw new Broken();
            }
            finally
            {
                Program.Now = before;
            }
        }

        internal static async Task Async(uint seed, int depth, string at)
        {
            Program.Now = Program.Check(at);
            var dice = new Dice(seed);
            if (dice.Next(3) == 0)
            {
                Leaf("before the first await");
            }
            if (dice.Next(2) == 0)
            {
                await Task.Yield();
                Leaf("after a yield");
            }
            if (dice.Next(4) == 0)
            {
                await Task.Delay(1).ConfigureAwait(dice.Next(2) == 0);
                Leaf("after a delay");
            }
            if (dice.Next(6) == 0)
            {
                await new Detour();
                Leaf("after a custom awaitable");
            }
            Children.Of(dice, depth);
            await Children.Awaited(dice, depth);
            Leaf("at the end of an async method");
            if (dice.Next(5) == 0)
            {
                throw new Broken();
            }
        }

        internal static async ValueTask<int> Value(uint seed, int depth, string at)
        {
            Program.Now = Program.Check(at);
            await Task.Yield();
            Leaf("in an async ValueTask");
            Children.Of(new Dice(seed), depth);
            return 1;
        }

        internal static async Task Completed(string at)
        {
            Program.Now = Program.Check(at);
            Leaf("in an async method that never waits");
            await Task.CompletedTask;
        }

        internal static async Task OnSource(Task<int> source, string at)
        {
            Program.Now = Program.Check(at);
            await source.ConfigureAwait(false);
            Leaf("after a source");
        }

        internal static async Task OnValueSource(Source source, string at)
        {
            Program.Now = Program.Check(at);
            await source.Task;
            Leaf("after a source of a ValueTask");
        }

        internal static void Sets(Action set, string at)
        {
            long before = Program.Now;
            Program.Now = Program.Check(at);
            try
            {
                set();
                Leaf("after setting a result");
            }
            finally
            {
                Program.Now = before;
            }
        }

        internal static async void Void(ManualResetEventSlim done, string at)
        {
            Program.Now = Program.Check(at);
            await Task.Yield();
            Leaf("in an async void method");
            done.Set();
        }

        internal static async Task Waits(CancellationToken cancelled, string at)
        {
            Program.Now = Program.Check(at);
            try
            {
                await Task.Delay(-1, cancelled);
            }
            catch (OperationCanceledException)
            {
                Leaf("after a cancellation");
                throw;
            }
        }
    }

    // Not traced.
    public static class Children
    {
        private static IEnumerable<int> Numbers(int end)
        {
            for (int i = 0; i < end; i++)
            {
                Spans.Leaf("in an iterator");
                yield return i;
            }
        }

        private static async IAsyncEnumerable<int> Stream(int end)
        {
            for (int i = 0; i < end; i++)
            {
                Spans.Leaf("in an async iterator");
                await Task.Yield();
                Spans.Leaf("in an async iterator, later");
                yield return i;
            }
        }

        internal static async Task Awaited(Dice dice, int depth)
        {
            if (depth <= 0)
            {
                return;
            }
            for (int n = dice.Next(3); n > 0; n--)
            {
                uint seed = dice.Fork();
                int next = depth - 1;
                try
                {
                    switch (dice.Next(6))
                    {
                        case 0:
                            await Spans.Async(seed, next, "awaited");
                            break;
                        case 1:
                            await Spans.Value(seed, next, "an awaited ValueTask");
                            break;
                        case 2:
                            await Task.WhenAll(
                                Spans.Async(seed, next, "one of two"), Task.Run(() => Spans.Sync(seed ^ 77, next, "the other")));
                            break;
                        case 3:
                            await foreach (int number in Stream(2))
                            {
                                Spans.Leaf("in await foreach");
                            }
                            break;
                        case 4:
                            await Spans.Completed("completed");
                            break;
                        default:
                            await Task.Run(async () =>
                            {
                                Spans.Leaf("in Task.Run");
                                await Spans.Async(seed, next, "in an async Task.Run");
                            });
                            break;
                    }
                }
                catch (Broken)
                {
                }
                Spans.Leaf("after an await");
            }
        }

        // Of .NET 5 and newer, which the references of this program do not have.
        private static readonly MethodInfo Sets = typeof(ExecutionContext).GetMethod("Restore");

        private static void Restore()
        {
            ExecutionContext own = ExecutionContext.Capture();
            ExecutionContext other = Program.Keep(own);
            if (Sets == null || other == null)
            {
                return;
            }
            Sets.Invoke(null, new object[] { other });
            Spans.Leaf("after Restore of another context");
            Sets.Invoke(null, new object[] { own });
            Spans.Leaf("after Restore of the own context");
        }

        private static void Await(Action<Action> start)
        {
            var done = new ManualResetEventSlim();
            start(done.Set);
            done.Wait();
        }

        internal static void Of(Dice dice, int depth)
        {
            if (depth <= 0)
            {
                return;
            }
            for (int n = dice.Next(4); n > 0; n--)
            {
                uint seed = dice.Fork();
                try
                {
                    One(dice.Next(20), seed, depth - 1);
                }
                catch (Broken)
                {
                }
                catch (AggregateException)
                {
                }
                Spans.Leaf("after a child");
            }
        }

        private static void One(int kind, uint seed, int depth)
        {
            switch (kind)
            {
                case 0:
                case 1:
                    Spans.Sync(seed, depth, "a call");
                    break;
                case 2:
                    Spans.Throws(seed, depth, "a call that throws");
                    break;
                case 3:
                    Task.Run(() => Spans.Sync(seed, depth, "Task.Run")).Wait();
                    break;
                case 4:
                    Spans.Async(seed, depth, "an async call").Wait();
                    break;
                case 5:
                    Await(done => ThreadPool.QueueUserWorkItem(_ =>
                    {
                        try { Spans.Sync(seed, depth, "the pool"); } finally { done(); }
                    }));
                    break;
                case 6:
                    Timer timer = null;
                    Await(done => timer = new Timer(
                        _ => { try { Spans.Sync(seed, depth, "a timer"); } finally { done(); } }, null, 1, -1));
                    timer.Dispose();
                    break;
                case 7:
                    var thread = new Thread(() => Spans.Sync(seed, depth > 0 ? depth - 1 : 0, "a thread"));
                    thread.Start();
                    thread.Join();
                    break;
                case 8:
                    var source = new TaskCompletionSource<int>();
                    Task waits = Spans.OnSource(source.Task, "waits for a source");
                    Spans.Sets(() => source.SetResult(1), "sets a source");
                    waits.Wait();
                    break;
                case 9:
                    ExecutionContext context = ExecutionContext.Capture();
                    Spans.Sync(seed, 0, "before Run");
                    ExecutionContext.Run(context.CreateCopy(), _ => Spans.Sync(seed, depth, "Run"), null);
                    break;
                case 10:
                    ExecutionContext other = Program.Keep(ExecutionContext.Capture());
                    if (other != null)
                    {
                        ExecutionContext.Run(other, _ => Spans.Leaf("Run of another context"), null);
                    }
                    break;
                case 11:
                    Parallel.For(0, 3, i => Spans.Leaf("Parallel.For"));
                    break;
                case 12:
                    var cancels = new CancellationTokenSource();
                    cancels.Token.Register(() => Spans.Leaf("cancelled"));
                    Spans.Sync(seed, 0, "before Cancel");
                    Spans.Sets(cancels.Cancel, "cancels");
                    break;
                case 13:
                    var values = new Source();
                    Task waitsForValue = Spans.OnValueSource(values, "waits for a source of a ValueTask");
                    Spans.Sets(values.Set, "sets a source of a ValueTask");
                    waitsForValue.Wait();
                    break;
                case 14:
                    var left = new ManualResetEventSlim();
                    Spans.Void(left, "an async void method");
                    left.Wait();
                    break;
                case 15:
                    foreach (int number in Numbers(2))
                    {
                        Spans.Leaf("in foreach");
                    }
                    break;
                case 16:
                    var stops = new CancellationTokenSource();
                    Task stopped = Spans.Waits(stops.Token, "waits for a cancellation");
                    Spans.Sets(stops.Cancel, "cancels a wait");
                    stopped.ContinueWith(_ => Spans.Leaf("ContinueWith")).Wait();
                    break;
                case 17:
                    Restore();
                    break;
                case 18:
                    var after = Spans.Value(seed, depth, "a ValueTask").AsTask();
                    after.Wait();
                    break;
                default:
                    ThreadPool.UnsafeQueueUserWorkItem(_ => Spans.Leaf("unsafe"), null);
                    using (ExecutionContext.SuppressFlow())
                    {
                        Task.Run(() => Spans.Leaf("suppressed"));
                        Spans.Leaf("in a suppressed flow");
                    }
                    break;
            }
        }
    }
}
