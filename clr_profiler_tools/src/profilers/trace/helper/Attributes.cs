using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace MethodTracer
{
    // The values of paths, which inserted code has read. No code of the program runs here.
    //
    // The profiler replaces the bodies of the empty methods: they call its Rust code.
    public static unsafe class Attributes
    {
        private const int Longest = 4096;

        // The span of a call, to which values can be added from now on; zero for none.
        public static long Keep(IntPtr frame)
        {
            return FrameIsKept(frame);
        }

        public static long KeepSuspending(Suspending span)
        {
            return span == null ? 0 : span.Id;
        }

        // The first span of this trace, if the rule adds to it; zero otherwise.
        public static long First(int rule)
        {
            long trace;
            Tracer.SpanNow(out trace);
            return trace == 0 ? 0 : RuleAdds(trace, rule);
        }

        // The innermost span. One that has begun elsewhere is known only if values were added to it there, or it continues in a task.
        public static long InnermostFor(int rule)
        {
            long span = Tracer.InnermostKept();
            return span == 0 ? 0 : RuleAdds(span, rule);
        }

        public static void SetText(string value, long span, int path)
        {
            if (value != null)
            {
                fixed (char* text = value)
                {
                    TextIsRead(span, path, text, Length(value));
                }
            }
        }

        public static void SetNumber(long value, long span, int path)
        {
            NumberIsRead(span, path, value);
        }

        public static void SetDouble(double value, long span, int path)
        {
            DoubleIsRead(span, path, BitConverter.DoubleToInt64Bits(value));
        }

        public static void SetBool(bool value, long span, int path)
        {
            TruthIsRead(span, path, value ? 1 : 0);
        }

        public static void Set<T>(T value, long span, int path)
        {
            object boxed = value;
            if (boxed == null)
            {
                return;
            }
            Type type = boxed.GetType();
            if (type.IsEnum)
            {
                string name = boxed.ToString();
                fixed (char* text = name)
                {
                    NamedIsRead(span, path, NumberOf(boxed), text, Length(name));
                }
                return;
            }
            switch (Type.GetTypeCode(type))
            {
                case TypeCode.Boolean:
                    SetBool((bool)boxed, span, path);
                    return;
                case TypeCode.SByte:
                case TypeCode.Byte:
                case TypeCode.Int16:
                case TypeCode.UInt16:
                case TypeCode.Int32:
                case TypeCode.UInt32:
                case TypeCode.Int64:
                case TypeCode.UInt64:
                    SetNumber(NumberOf(boxed), span, path);
                    return;
                case TypeCode.Single:
                    SetDouble((float)boxed, span, path);
                    return;
                case TypeCode.Double:
                    SetDouble((double)boxed, span, path);
                    return;
                case TypeCode.Decimal:
                    SetDouble((double)(decimal)boxed, span, path);
                    return;
                case TypeCode.Char:
                    SetText(boxed.ToString(), span, path);
                    return;
                case TypeCode.String:
                    SetText((string)boxed, span, path);
                    return;
                case TypeCode.DateTime:
                    SetText(((DateTime)boxed).ToString("o", CultureInfo.InvariantCulture), span, path);
                    return;
            }
            SetText(HasPlainText(type) ? boxed.ToString() : Text.Name(type), span, path);
        }

        // Types of .NET whose texts are their values, in all cultures.
        private static bool HasPlainText(Type type)
        {
            return type == typeof(Guid) || type == typeof(TimeSpan) || type == typeof(Version)
                || type == typeof(IntPtr) || type == typeof(UIntPtr) || type.FullName == "System.Uri"
                || type.FullName == "System.Net.Http.HttpMethod" || type.FullName == "System.Net.IPAddress";
        }

        private static long NumberOf(object value)
        {
            switch (Type.GetTypeCode(value.GetType()))
            {
                case TypeCode.UInt64:
                    return unchecked((long)(ulong)value);
                default:
                    return ((IConvertible)value).ToInt64(CultureInfo.InvariantCulture);
            }
        }

        private static int Length(string text)
        {
            return text.Length < Longest ? text.Length : Longest;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long FrameIsKept(IntPtr frame)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long RuleAdds(long span, int rule)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void TextIsRead(long span, int path, char* text, int length)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void NamedIsRead(long span, int path, long number, char* text, int length)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void NumberIsRead(long span, int path, long number)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void DoubleIsRead(long span, int path, long bits)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void TruthIsRead(long span, int path, int value)
        {
        }
    }

    // The values that are read when a task has completed: by a method that the profiler has added to the program, which gets the span,
    // the objects at which paths begin, and the result.
    internal unsafe class Reading
    {
        internal long Span;
        protected readonly object[] Roots;
        protected readonly IntPtr Reader;

        internal Reading(object[] roots, IntPtr reader)
        {
            Roots = roots;
            Reader = reader;
        }

        internal virtual void Read(Task task)
        {
            Read();
        }

        internal void Read()
        {
            ((delegate*<long, object[], void>)Reader)(Span, Roots);
        }
    }

    internal unsafe class Reading<T> : Reading
    {
        internal Reading(object[] roots, IntPtr reader) : base(roots, reader)
        {
        }

        internal override void Read(Task task)
        {
            Read(((Task<T>)task).Result);
        }

        internal virtual void Read(T result)
        {
            ((delegate*<long, object[], T, void>)Reader)(Span, Roots, result);
        }
    }

    public static class Completions
    {
        // The program gets a task that completes when the values have been read: from then on those who wait for it may use the objects for
        // something else, as servers do. It has the outcome of the original task, with the same exceptions.
        public static Task Completes(IntPtr frame, object[] roots, IntPtr reader, Task task)
        {
            var reading = new Reading(roots, reader);
            return IsPending(frame, reading, task) ? new Pending<Task>(reading, task).Read.Task.Unwrap() : task;
        }

        public static Task<T> Completes<T>(IntPtr frame, object[] roots, IntPtr reader, Task<T> task)
        {
            var reading = new Reading<T>(roots, reader);
            return IsPending(frame, reading, task) ? new Pending<Task<T>>(reading, task).Read.Task.Unwrap() : task;
        }

        public static ValueTask Completes(IntPtr frame, object[] roots, IntPtr reader, ValueTask task)
        {
            var reading = new Reading(roots, reader);
            if (task.IsCompletedSuccessfully)
            {
                reading.Span = Attributes.Keep(frame);
                if (reading.Span != 0)
                {
                    reading.Read();
                }
                return task;
            }
            reading.Span = Native.CallIsDeferred(frame);
            return reading.Span == 0 ? task : new ValueTask(new VoidSource(reading.Span, task, reading), 0);
        }

        public static ValueTask<T> Completes<T>(IntPtr frame, object[] roots, IntPtr reader, ValueTask<T> task)
        {
            // One that has completed may be of a source that gives its result once.
            var reading = new Reading<T>(roots, reader);
            reading.Span = Native.CallIsDeferred(frame);
            return reading.Span == 0 ? task : new ValueTask<T>(new ValueSource<T>(reading.Span, task, reading), 0);
        }

        // Another task would not do for the program: its own kind of task, or one with a state of its own. No values are read then.
        private static bool IsSpecial(Task task)
        {
            return task.AsyncState != null || task.GetType().Assembly != typeof(Task).Assembly;
        }

        // Whether the values are to be read when the task completes. Those of a completed one are read here.
        private static bool IsPending(IntPtr frame, Reading reading, Task task)
        {
            if (task == null)
            {
                return false;
            }
            // It may complete meanwhile: asked once, before anything else.
            bool isCompleted = task.IsCompleted;
            if (isCompleted && task.IsCompletedSuccessfully)
            {
                reading.Span = Attributes.Keep(frame);
                if (reading.Span != 0)
                {
                    reading.Read(task);
                }
                return false;
            }
            if (isCompleted || IsSpecial(task))
            {
                Tracer.Completes(frame, task);
                return false;
            }
            reading.Span = Native.CallIsDeferred(frame);
            return reading.Span != 0;
        }
    }

    // A task whose values are read when it has completed.
    internal sealed class Pending<TTask> where TTask : Task
    {
        // Completes with the task itself, when the values have been read.
        internal readonly TaskCompletionSource<TTask> Read = new TaskCompletionSource<TTask>();
        private readonly Reading reading;

        internal Pending(Reading reading, TTask task)
        {
            this.reading = reading;
            task.ContinueWith(
                Ends,
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }

        private void Ends(Task task)
        {
            try
            {
                if (task.IsCompletedSuccessfully)
                {
                    reading.Read(task);
                }
                Native.End(
                    reading.Span, Tracer.Outcome(task.IsCompletedSuccessfully, task.IsCanceled), Faults.Of(task));
            }
            finally
            {
                Read.SetResult((TTask)task);
            }
        }
    }
}
