using System;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace MethodTracer
{
    // The results of calls, on request. No code of the program runs here that would not run without.
    public static class Results
    {
        public static void Returns(IntPtr frame, object value)
        {
            Native.CallReturns(frame, Text.Of(value));
        }

        public static void ReturnsSuspending(Suspending span, object value)
        {
            if (span != null)
            {
                Native.SpanReturns(span.Id, Text.Of(value));
            }
        }

        public static Task Completes(IntPtr frame, Task task)
        {
            return Tracer.Completes(frame, task);
        }

        public static ValueTask Completes(IntPtr frame, ValueTask task)
        {
            return Tracer.Completes(frame, task);
        }

        // The program gets the original task.
        public static Task<T> Completes<T>(IntPtr frame, Task<T> task)
        {
            if (task == null)
            {
                return task;
            }
            // It may complete meanwhile: asked once, before anything else.
            bool isCompleted = task.IsCompleted;
            if (isCompleted && task.IsCompletedSuccessfully)
            {
                Native.CallReturns(frame, Text.Of(task.Result));
                return task;
            }
            if (isCompleted)
            {
                return Tracer.Completes(frame, task);
            }
            long id = Native.CallIsDeferred(frame);
            if (id != 0)
            {
                task.ContinueWith(
                    Recorded<T>.Later,
                    id,
                    CancellationToken.None,
                    TaskContinuationOptions.ExecuteSynchronously,
                    TaskScheduler.Default);
            }
            return task;
        }

        public static ValueTask<T> Completes<T>(IntPtr frame, ValueTask<T> task)
        {
            if (task.IsCompletedSuccessfully && Recorded<T>.Object != null)
            {
                object inner = Recorded<T>.Object.GetValue(task);
                if (inner == null || inner is Task<T>)
                {
                    Native.CallReturns(frame, Text.Of(task.Result));
                    return task;
                }
            }
            // One that has completed may be of a source that gives its result once: it is read when the program does.
            long id = Native.CallIsDeferred(frame);
            return id == 0 ? task : new ValueTask<T>(new ValueSource<T>(id, task, new Recorded<T>(id)), 0);
        }
    }

    // The result of a task.
    internal sealed class Recorded<T> : Reading<T>
    {
        // A task, a source, or null if the ValueTask has the result itself.
        internal static readonly FieldInfo Object = typeof(ValueTask<T>).GetField(
            "_obj", BindingFlags.Instance | BindingFlags.NonPublic);

        internal static readonly Action<Task<T>, object> Later = Ends;

        internal Recorded(long span) : base(null, IntPtr.Zero)
        {
            Span = span;
        }

        internal override void Read(T result)
        {
            Native.SpanReturns(Span, Text.Of(result));
        }

        private static void Ends(Task<T> task, object id)
        {
            if (task.IsCompletedSuccessfully)
            {
                Native.SpanReturns((long)id, Text.Of(task.Result));
            }
            Native.End((long)id, Tracer.Outcome(task), Faults.Of(task));
        }
    }
}
