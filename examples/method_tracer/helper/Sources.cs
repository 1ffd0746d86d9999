using System;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace MethodTracer
{
    // A ValueTask may be consumed once, so it cannot be asked when it completes without taking it from
    // the program. The program gets another one instead, which hands on whatever it is asked.
    internal sealed class Source<T> : IValueTaskSource<T>
    {
        private readonly Span span;
        private readonly ValueTask<T> inner;

        internal Source(Span span, ValueTask<T> inner)
        {
            this.span = span;
            this.inner = inner;
        }

        public ValueTaskSourceStatus GetStatus(short token)
        {
            return !inner.IsCompleted ? ValueTaskSourceStatus.Pending
                : inner.IsCompletedSuccessfully ? ValueTaskSourceStatus.Succeeded
                : inner.IsCanceled ? ValueTaskSourceStatus.Canceled
                : ValueTaskSourceStatus.Faulted;
        }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            Action next = () =>
            {
                if (inner.IsCompletedSuccessfully)
                {
                    End(null);
                }
                // If it has failed, this comes to GetResult, which sees why.
                continuation(state);
            };
            bool context = (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0;
            var awaiter = inner.ConfigureAwait(context).GetAwaiter();
            if ((flags & ValueTaskSourceOnCompletedFlags.FlowExecutionContext) != 0)
            {
                awaiter.OnCompleted(next);
            }
            else
            {
                awaiter.UnsafeOnCompleted(next);
            }
        }

        public T GetResult(short token)
        {
            try
            {
                T value = inner.GetAwaiter().GetResult();
                End(null);
                return value;
            }
            catch (Exception exception) when (IsNotFor(exception))
            {
                throw;
            }
        }

        private bool IsNotFor(Exception exception)
        {
            End(exception);
            return false;
        }

        private void End(Exception exception)
        {
            if (span.IsFirstEnd())
            {
                bool isCancelled = exception is OperationCanceledException;
                Native.End(
                    span.Id, Tracer.Outcome(exception == null, isCancelled), true, isCancelled ? null : exception);
            }
        }
    }

    internal sealed class Source : IValueTaskSource
    {
        private readonly Span span;
        private readonly ValueTask inner;

        internal Source(Span span, ValueTask inner)
        {
            this.span = span;
            this.inner = inner;
        }

        public ValueTaskSourceStatus GetStatus(short token)
        {
            return !inner.IsCompleted ? ValueTaskSourceStatus.Pending
                : inner.IsCompletedSuccessfully ? ValueTaskSourceStatus.Succeeded
                : inner.IsCanceled ? ValueTaskSourceStatus.Canceled
                : ValueTaskSourceStatus.Faulted;
        }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            Action next = () =>
            {
                if (inner.IsCompletedSuccessfully)
                {
                    End(null);
                }
                // If it has failed, this comes to GetResult, which sees why.
                continuation(state);
            };
            bool context = (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0;
            var awaiter = inner.ConfigureAwait(context).GetAwaiter();
            if ((flags & ValueTaskSourceOnCompletedFlags.FlowExecutionContext) != 0)
            {
                awaiter.OnCompleted(next);
            }
            else
            {
                awaiter.UnsafeOnCompleted(next);
            }
        }

        public void GetResult(short token)
        {
            try
            {
                inner.GetAwaiter().GetResult();
                End(null);
            }
            catch (Exception exception) when (IsNotFor(exception))
            {
                throw;
            }
        }

        private bool IsNotFor(Exception exception)
        {
            End(exception);
            return false;
        }

        private void End(Exception exception)
        {
            if (span.IsFirstEnd())
            {
                bool isCancelled = exception is OperationCanceledException;
                Native.End(
                    span.Id, Tracer.Outcome(exception == null, isCancelled), true, isCancelled ? null : exception);
            }
        }
    }
}
