// The methods that traced code calls. The profiler keeps the spans; this code tracks the things that only
// managed code knows: the current span, across threads and awaits, and the completion of tasks.
using System;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

[assembly: AssemblyVersion("1.0.0.0")]

namespace MethodTracer
{
    public sealed class Span
    {
        internal long Id;
        internal long Trace;
        // The span that becomes current again when the method returns; it keeps nothing else alive longer.
        internal Span Previous;
        // The task that the method has returned completes later, and ends the span then.
        internal bool IsDeferred;
        // The method may wait without returning: its thread runs others meanwhile.
        internal bool Suspends;
        // The outcome of a task that was already complete.
        internal int Outcome;
        internal object Exception;
        private int ended;

        internal bool IsFirstEnd()
        {
            return Interlocked.Exchange(ref ended, 1) == 0;
        }
    }

    public static class Tracer
    {
        internal const int Returned = 0, Threw = 1, Cancelled = 2;

        // Flows with the execution context: into tasks, new threads, timers.
        private static readonly AsyncLocal<Span> Current = new AsyncLocal<Span>();

        // The name of this thread that the profiler has.
        [ThreadStatic] private static string threadName;

        private static readonly Action<Task, object> Later = Ended;

        public static Span Begin(int method)
        {
            return Begin(method, null);
        }

        public static Span BeginWith(int method, object self)
        {
            return Begin(method, Text.Of(self));
        }

        public static Span BeginWith<T0>(int method, object self, T0 a)
        {
            return Begin(method, Text.Of(self) + Text.Of(a));
        }

        public static Span BeginWith<T0, T1>(int method, object self, T0 a, T1 b)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b));
        }

        public static Span BeginWith<T0, T1, T2>(int method, object self, T0 a, T1 b, T2 c)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b) + Text.Of(c));
        }

        public static Span BeginWith<T0, T1, T2, T3>(int method, object self, T0 a, T1 b, T2 c, T3 d)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b) + Text.Of(c) + Text.Of(d));
        }

        public static Span BeginWithArray(int method, object self, object[] arguments)
        {
            string text = Text.Of(self);
            foreach (object argument in arguments)
            {
                text += Text.Of(argument);
            }
            return Begin(method, text);
        }

        private static Span Begin(int method, string arguments)
        {
            string name = Thread.CurrentThread.Name;
            if ((object)name != threadName)
            {
                threadName = name;
                if (name != null)
                {
                    Native.NameThread(name);
                }
            }
            Span previous = Current.Value;
            long parent = previous == null ? 0 : previous.Id;
            long trace = previous == null ? 0 : previous.Trace;
            long id = Native.Begin(method, parent, trace, arguments);
            if (id == 0)
            {
                return null;
            }
            var span = new Span { Id = id, Trace = trace == 0 ? id : trace, Previous = previous };
            Current.Value = span;
            return span;
        }

        // The runtime itself makes the method asynchronous.
        public static Span Suspends(Span span)
        {
            if (span != null)
            {
                span.Suspends = true;
            }
            return span;
        }

        // The method returns or throws.
        public static void End(Span span, object exception)
        {
            if (span == null)
            {
                return;
            }
            Current.Value = span.Previous;
            span.Previous = null;
            if (exception != null)
            {
                Native.End(span.Id, Threw, span.Suspends, exception);
            }
            else if (!span.IsDeferred)
            {
                Native.End(span.Id, span.Outcome, span.Suspends, span.Exception);
            }
        }

        // The span continues until the task completes. The program gets the original task.
        public static Task Completes(Span span, Task task)
        {
            if (span != null && task != null)
            {
                Follow(span, task);
            }
            return task;
        }

        public static Task<T> Completes<T>(Span span, Task<T> task)
        {
            if (span != null && task != null)
            {
                Follow(span, task);
            }
            return task;
        }

        public static ValueTask Completes(Span span, ValueTask task)
        {
            if (span == null || task.IsCompletedSuccessfully)
            {
                return task;
            }
            span.IsDeferred = true;
            return new ValueTask(new VoidSource(span, task), 0);
        }

        public static ValueTask<T> Completes<T>(Span span, ValueTask<T> task)
        {
            if (span == null || task.IsCompletedSuccessfully)
            {
                return task;
            }
            span.IsDeferred = true;
            return new ValueTask<T>(new ValueSource<T>(span, task), 0);
        }

        private static void Follow(Span span, Task task)
        {
            if (task.IsCompleted)
            {
                span.Outcome = Outcome(task.IsCompletedSuccessfully, task.IsCanceled);
                span.Exception = Faults.Of(task);
                return;
            }
            span.IsDeferred = true;
            // An awaiter's continuation would be one of the kind of which runtimes run only one inline,
            // so that the program's own would return to its SynchronizationContext by a detour.
            task.ContinueWith(
                Later,
                span,
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }

        private static void Ended(Task task, object span)
        {
            int outcome = Outcome(task.IsCompletedSuccessfully, task.IsCanceled);
            Native.End(((Span)span).Id, outcome, true, Faults.Of(task));
        }

        internal static int Outcome(bool isSuccessful, bool isCancelled)
        {
            return isSuccessful ? Returned : isCancelled ? Cancelled : Threw;
        }
    }
}
