// The methods that traced code calls where its native calls are not enough. The profiler keeps the spans; this code tracks the things
// that only managed code knows: the execution context, which takes the current span across threads and awaits, and the completion of
// tasks.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

[assembly: AssemblyVersion("1.0.0.0")]

namespace MethodTracer
{
    // A span in an execution context.
    internal sealed class Context
    {
        internal readonly long Id;
        internal readonly long Trace;

        internal Context(long id, long trace)
        {
            Id = id;
            Trace = trace;
        }
    }

    // The beginning of a frame of the profiler.
    [StructLayout(LayoutKind.Sequential)]
    internal struct Frame
    {
        internal long Id;
        internal long Trace;
        internal int Flags;
    }

    // The context that becomes current again when a call ends.
    internal struct Saved
    {
        internal long Frame;
        internal Context Context;
    }

    // The contexts of before, of the calls of a thread that have written it: in one object, because reading a field of the thread
    // costs a call on .NET Core 3.1.
    internal sealed class SavedContexts
    {
        internal Saved[] All = new Saved[8];
        internal int Depth;

        internal void Add(long frame, Context context)
        {
            int count = Drop(frame);
            if (count == All.Length)
            {
                Array.Resize(ref All, 2 * count);
            }
            ref Saved saved = ref All[count];
            saved.Frame = frame;
            saved.Context = context;
            Depth = count + 1;
        }

        // Drops the entries of this frame and of those above it, and returns the number of the others.
        private int Drop(long frame)
        {
            Saved[] all = All;
            int count = Depth;
            while (count > 0 && all[count - 1].Frame >= frame)
            {
                count--;
                all[count].Context = null;
            }
            Depth = count;
            return count;
        }

        // Drops them, and returns the context of this frame.
        internal Context Take(long frame)
        {
            Context context = null;
            Saved[] all = All;
            int count = Depth;
            while (count > 0 && all[count - 1].Frame >= frame)
            {
                count--;
                context = all[count].Frame == frame ? all[count].Context : null;
                all[count].Context = null;
            }
            Depth = count;
            return context;
        }
    }

    // The span of a method that the runtime itself makes asynchronous: it may wait without returning, and return on another thread.
    public sealed class Suspending
    {
        internal long Id;
        internal Context Previous;
    }

    // The changed methods of the core library call these by delegates. Methods of an object, because a delegate for a static method takes
    // longer to call.
    internal sealed class Changes
    {
        internal void Captures()
        {
            IntPtr frame = Native.ContextIsCaptured();
            if (frame != IntPtr.Zero)
            {
                Tracer.Publish(frame);
            }
        }

        // The profiler replaces the bodies of the rest, as those of `Native`.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal void ContextBegins()
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal void ContextEnds()
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal void ContextIsSet()
        {
        }
    }

    public static unsafe class Tracer
    {
        internal const int Returned = 0, Threw = 1, Cancelled = 2;
        // Marks of a frame.
        private const int Published = 1;
        // The result of the native end: the context has to be restored.
        private const int Ended = 2;

        // Flows with the execution context: into tasks, new threads, timers. Written only where the context is captured.
        private static readonly AsyncLocal<Context> Current = new AsyncLocal<Context>();

        [ThreadStatic] private static SavedContexts saved;

        // The name of this thread that the profiler has.
        [ThreadStatic] private static string threadName;

        private static readonly Action<Task, object> Later = Ends;

        static Tracer()
        {
            var changes = new Changes();
            Native.ChangesAre(
                Kept(changes.Captures),
                Kept(changes.ContextBegins),
                Kept(changes.ContextEnds),
                Kept(changes.ContextIsSet));
        }

        private static IntPtr Kept(Action action)
        {
            return GCHandle.ToIntPtr(GCHandle.Alloc(action));
        }

        // The parent is known to the execution context alone: the first span of a thread, and after a boundary.
        public static IntPtr Begin(int method)
        {
            return Begin(method, null);
        }

        public static IntPtr BeginWith(int method, object self)
        {
            return Begin(method, Text.Of(self));
        }

        public static IntPtr BeginWith<T0>(int method, object self, T0 a)
        {
            return Begin(method, Text.Of(self) + Text.Of(a));
        }

        public static IntPtr BeginWith<T0, T1>(int method, object self, T0 a, T1 b)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b));
        }

        public static IntPtr BeginWith<T0, T1, T2>(int method, object self, T0 a, T1 b, T2 c)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b) + Text.Of(c));
        }

        public static IntPtr BeginWith<T0, T1, T2, T3>(int method, object self, T0 a, T1 b, T2 c, T3 d)
        {
            return Begin(method, Text.Of(self) + Text.Of(a) + Text.Of(b) + Text.Of(c) + Text.Of(d));
        }

        public static IntPtr BeginWithArray(int method, object self, object[] arguments)
        {
            return Begin(method, Joined(self, arguments));
        }

        private static string Joined(object self, object[] arguments)
        {
            string text = Text.Of(self);
            foreach (object argument in arguments)
            {
                text += Text.Of(argument);
            }
            return text;
        }

        private static IntPtr Begin(int method, string arguments)
        {
            NameThread();
            IntPtr frame = Native.Begin(method, Current.Value, arguments);
            var begun = (Frame*)frame;
            if (begun != null && begun->Id != 0 && begun->Id == begun->Trace)
            {
                Http.Begins(begun->Id);
            }
            return frame;
        }

        // The id of the innermost span, and that of the first one of its trace; zero for none.
        internal static long SpanNow(out long trace)
        {
            Context context = Current.Value;
            var frame = (Frame*)Native.Innermost(context == null ? 0 : context.Id);
            if (frame != null)
            {
                trace = frame->Trace;
                return frame->Id;
            }
            trace = context == null ? 0 : context.Trace;
            return context == null ? 0 : context.Id;
        }

        // The id of the innermost span, to which values can be added from now on; zero for none.
        internal static long InnermostKept()
        {
            Context context = Current.Value;
            IntPtr frame = Native.Innermost(context == null ? 0 : context.Id);
            return frame != IntPtr.Zero ? Attributes.Keep(frame) : context == null ? 0 : context.Id;
        }

        private static void NameThread()
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
        }

        // The execution context is about to be captured, and this frame is the innermost one, or the boundary below a method that the
        // runtime has suspended.
        internal static void Publish(IntPtr top)
        {
            var frame = (Frame*)top;
            Context now = Current.Value;
            if (frame->Id == 0)
            {
                frame = (Frame*)Native.Innermost(now == null ? 0 : now.Id);
                if (frame == null)
                {
                    return;
                }
            }
            if (now != null && now.Id == frame->Id)
            {
                return;
            }
            SavedContexts contexts = saved;
            if (contexts == null)
            {
                saved = contexts = new SavedContexts();
            }
            contexts.Add((long)frame, now);
            frame->Flags |= Published;
            Current.Value = new Context(frame->Id, frame->Trace);
        }

        private static void Restore(long frame, long id)
        {
            SavedContexts contexts = saved;
            Context before = contexts == null ? null : contexts.Take(frame);
            // The method may have returned to another context, as `async` methods do.
            Context now = Current.Value;
            if (now != null && now.Id == id)
            {
                Current.Value = before;
            }
        }

        // The method returns or throws, and the native end has left something to do.
        public static void End(int rest, IntPtr frame, object exception)
        {
            long id = ((Frame*)frame)->Id;
            if (rest == Ended || (Native.EndCall(frame, exception) & Published) != 0)
            {
                Restore((long)frame, id);
            }
        }

        // The span continues until the task completes. The program gets the original task.
        public static Task Completes(IntPtr frame, Task task)
        {
            if (task != null && !task.IsCompletedSuccessfully)
            {
                Follow(frame, task);
            }
            return task;
        }

        public static Task<T> Completes<T>(IntPtr frame, Task<T> task)
        {
            if (task != null && !task.IsCompletedSuccessfully)
            {
                Follow(frame, task);
            }
            return task;
        }

        public static ValueTask Completes(IntPtr frame, ValueTask task)
        {
            if (task.IsCompletedSuccessfully)
            {
                return task;
            }
            long id = Native.CallIsDeferred(frame);
            return id == 0 ? task : new ValueTask(new VoidSource(id, task), 0);
        }

        public static ValueTask<T> Completes<T>(IntPtr frame, ValueTask<T> task)
        {
            if (task.IsCompletedSuccessfully)
            {
                return task;
            }
            long id = Native.CallIsDeferred(frame);
            return id == 0 ? task : new ValueTask<T>(new ValueSource<T>(id, task), 0);
        }

        private static void Follow(IntPtr frame, Task task)
        {
            if (task.IsCompleted)
            {
                Native.Complete(frame, Outcome(task), Faults.Of(task));
                return;
            }
            long id = Native.CallIsDeferred(frame);
            if (id == 0)
            {
                return;
            }
            // An awaiter's continuation would be one of the kind of which runtimes run only one inline,
            // so that the program's own would return to its SynchronizationContext by a detour.
            task.ContinueWith(
                Later,
                id,
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }

        private static void Ends(Task task, object id)
        {
            Native.End((long)id, Outcome(task), Faults.Of(task));
        }

        internal static int Outcome(Task task)
        {
            return Outcome(task.IsCompletedSuccessfully, task.IsCanceled);
        }

        internal static int Outcome(bool isSuccessful, bool isCancelled)
        {
            return isSuccessful ? Returned : isCancelled ? Cancelled : Threw;
        }

        // An enumeration begins, and its first piece.
        internal static long BeginEnumeration(int method, out long trace)
        {
            NameThread();
            Context context = Current.Value;
            long id = Native.BeginEnumeration(method, context, out trace);
            if (id != 0 && id == trace)
            {
                Http.Begins(id);
            }
            return id;
        }

        // The span of an enumeration is the innermost one, until its piece ends.
        internal static IntPtr Resume(Enumeration enumeration)
        {
            Context context = Current.Value;
            return Native.EnumerationResumes(
                context == null ? 0 : context.Id, enumeration.Id, enumeration.Trace, enumeration.Method);
        }

        internal static void Suspend(Enumeration enumeration, IntPtr frame)
        {
            if ((Native.EnumerationWaits(frame) & Published) != 0)
            {
                Restore((long)frame, enumeration.Id);
            }
        }

        // The runtime itself makes the method asynchronous.
        public static Suspending BeginSuspending(int method)
        {
            return BeginSuspending(method, null);
        }

        public static Suspending BeginSuspendingWith(int method, object self, object[] arguments)
        {
            return BeginSuspending(method, Joined(self, arguments));
        }

        private static Suspending BeginSuspending(int method, string arguments)
        {
            NameThread();
            Context context = Current.Value;
            long trace;
            long id = Native.BeginSuspending(method, context, arguments, out trace);
            if (id == 0)
            {
                return null;
            }
            Current.Value = new Context(id, trace);
            if (id == trace)
            {
                Http.Begins(id);
            }
            return new Suspending { Id = id, Previous = context };
        }

        public static void EndSuspending(Suspending span, object exception)
        {
            if (span == null)
            {
                return;
            }
            Current.Value = span.Previous;
            span.Previous = null;
            Native.EndSuspending(span.Id, exception == null ? Returned : Threw, exception);
        }
    }
}
