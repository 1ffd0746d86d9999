using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace MethodTracer
{
    // A ValueTask may be consumed once, so observing its completion would take it from
    // the program. The program gets another one instead, which forwards every call.
    //
    // `GetResult` is marked for inlining, which is impossible: the runtime omits the frames of methods
    // with this mark from the text of stack traces.
    internal abstract class Source
    {
        private readonly long span;
        private readonly Reading reading;
        private int ended;

        protected Source(long span, Reading reading)
        {
            this.span = span;
            this.reading = reading;
        }

        protected abstract bool IsSuccessful { get; }

        protected static ValueTaskSourceStatus Status(bool isCompleted, bool isSuccessful, bool isCanceled)
        {
            return !isCompleted ? ValueTaskSourceStatus.Pending
                : isSuccessful ? ValueTaskSourceStatus.Succeeded
                : isCanceled ? ValueTaskSourceStatus.Canceled
                : ValueTaskSourceStatus.Faulted;
        }

        protected static bool Captures(ValueTaskSourceOnCompletedFlags flags)
        {
            return (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0;
        }

        protected void Await<TAwaiter>(
            TAwaiter awaiter, Action<object> continuation, object state, ValueTaskSourceOnCompletedFlags flags)
            where TAwaiter : ICriticalNotifyCompletion
        {
            Action next = () =>
            {
                if (IsSuccessful && reading == null)
                {
                    End(null);
                }
                // If it has failed, or the result is read, this ends up in GetResult, which finds the exception.
                continuation(state);
            };
            if ((flags & ValueTaskSourceOnCompletedFlags.FlowExecutionContext) != 0)
            {
                awaiter.OnCompleted(next);
            }
            else
            {
                awaiter.UnsafeOnCompleted(next);
            }
        }

        // For a filter, which lets every exception pass.
        protected bool IsNotFor(Exception exception)
        {
            End(exception);
            return false;
        }

        protected void End(Exception exception)
        {
            if (Interlocked.Exchange(ref ended, 1) == 0)
            {
                bool isCancelled = exception is OperationCanceledException;
                Native.End(span, Tracer.Outcome(exception == null, isCancelled), isCancelled ? null : exception);
            }
        }
    }

    internal sealed class ValueSource<T> : Source, IValueTaskSource<T>
    {
        private readonly ValueTask<T> inner;

        private readonly Reading<T> reading;

        internal ValueSource(long span, ValueTask<T> inner, Reading<T> reading = null) : base(span, reading)
        {
            this.inner = inner;
            this.reading = reading;
        }

        protected override bool IsSuccessful
        {
            get { return inner.IsCompletedSuccessfully; }
        }

        public ValueTaskSourceStatus GetStatus(short token)
        {
            return Status(inner.IsCompleted, inner.IsCompletedSuccessfully, inner.IsCanceled);
        }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            Await(inner.ConfigureAwait(Captures(flags)).GetAwaiter(), continuation, state, flags);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public T GetResult(short token)
        {
            try
            {
                T value = inner.GetAwaiter().GetResult();
                if (reading != null)
                {
                    reading.Read(value);
                }
                End(null);
                return value;
            }
            catch (Exception exception) when (IsNotFor(exception))
            {
                throw;
            }
        }
    }

    internal sealed class VoidSource : Source, IValueTaskSource
    {
        private readonly ValueTask inner;

        private readonly Reading reading;

        internal VoidSource(long span, ValueTask inner, Reading reading = null) : base(span, reading)
        {
            this.inner = inner;
            this.reading = reading;
        }

        protected override bool IsSuccessful
        {
            get { return inner.IsCompletedSuccessfully; }
        }

        public ValueTaskSourceStatus GetStatus(short token)
        {
            return Status(inner.IsCompleted, inner.IsCompletedSuccessfully, inner.IsCanceled);
        }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            Await(inner.ConfigureAwait(Captures(flags)).GetAwaiter(), continuation, state, flags);
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void GetResult(short token)
        {
            try
            {
                inner.GetAwaiter().GetResult();
                if (reading != null)
                {
                    reading.Read();
                }
                End(null);
            }
            catch (Exception exception) when (IsNotFor(exception))
            {
                throw;
            }
        }
    }
}
