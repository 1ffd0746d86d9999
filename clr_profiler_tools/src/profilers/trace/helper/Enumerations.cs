using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Threading.Tasks;

namespace MethodTracer
{
    // An enumeration: the code of an iterator runs in pieces, between which its caller runs.
    internal sealed class Enumeration
    {
        // Zero for one without a span.
        internal long Id;
        internal long Trace;
        internal int Method;
        // Of a synchronous iterator.
        internal bool IsRunning;
        internal bool HasEnded;
    }

    // The methods that the state machines of iterators call. The object of a state machine is one enumeration; that of an async iterator may be
    // used for another one when it has ended.
    public static unsafe class Enumerations
    {
        private const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        // The state in which an async iterator has ended.
        private const int AsyncEnd = -2;

        private static readonly ConditionalWeakTable<object, Enumeration> All =
            new ConditionalWeakTable<object, Enumeration>();

        // A piece begins; that of an async iterator perhaps in the one before, where code runs that has waited for it. The frame is zero if it
        // has no span.
        public static object Enter(int method, object machine, out IntPtr frame)
        {
            Enumeration known;
            if (!All.TryGetValue(machine, out known))
            {
                known = new Enumeration { Method = method };
                known.Id = Tracer.BeginEnumeration(method, out known.Trace);
                All.AddOrUpdate(machine, known);
            }
            frame = IntPtr.Zero;
            if (known.Id == 0 || known.HasEnded)
            {
                return null;
            }
            known.IsRunning = true;
            frame = Tracer.Resume(known);
            return known;
        }

        // It ends, that of a synchronous iterator.
        public static void Leave(object enumeration, object machine, IntPtr frame, bool hasNext, object exception)
        {
            var known = (Enumeration)enumeration;
            if (known == null)
            {
                return;
            }
            Tracer.Suspend(known, frame);
            known.IsRunning = false;
            if (exception != null)
            {
                End(known, Tracer.Threw, exception);
            }
            else if (!hasNext)
            {
                End(known, Tracer.Returned, null);
            }
        }

        // It ends, that of an async iterator, which catches its exceptions.
        public static void LeaveAsync(object enumeration, object machine, IntPtr frame)
        {
            var known = (Enumeration)enumeration;
            if (known == null)
            {
                return;
            }
            Tracer.Suspend(known, frame);
            if (!known.HasEnded && HasEnded(machine))
            {
                Finish(machine, known, ErrorOf(machine));
            }
        }

        // `Dispose` of a synchronous iterator begins: a piece with its `finally` blocks, if the enumeration has begun.
        public static object EnterDispose(object machine, out IntPtr frame)
        {
            Enumeration known;
            frame = IntPtr.Zero;
            if (!All.TryGetValue(machine, out known) || known.Id == 0 || known.HasEnded || known.IsRunning)
            {
                return null;
            }
            known.IsRunning = true;
            frame = Tracer.Resume(known);
            return known;
        }

        // Whoever waits for a piece of an async iterator gets its result: before code that ran in it has ended, if it waited for it there.
        public static void Gives(object machine, object exception)
        {
            Enumeration known;
            if (All.TryGetValue(machine, out known) && !known.HasEnded && HasEnded(machine))
            {
                Finish(machine, known, exception);
            }
        }

        private static void Finish(object machine, Enumeration enumeration, object exception)
        {
            int outcome = exception == null ? Tracer.Returned
                : exception is OperationCanceledException ? Tracer.Cancelled
                : Tracer.Threw;
            Finish(machine, enumeration, outcome, outcome == Tracer.Threw ? exception : null);
        }

        // The object may be used again.
        private static void Finish(object machine, Enumeration enumeration, int outcome, object exception)
        {
            All.Remove(machine);
            End(enumeration, outcome, exception);
        }

        private static void End(Enumeration enumeration, int outcome, object exception)
        {
            if (!enumeration.HasEnded)
            {
                enumeration.HasEnded = true;
                if (enumeration.Id != 0)
                {
                    Native.End(enumeration.Id, outcome, exception);
                }
            }
        }

        private static bool HasEnded(object machine)
        {
            FieldInfo state = machine.GetType().GetField("<>1__state", Any);
            return state != null && (int)state.GetValue(machine) == AsyncEnd;
        }

        // The exception that whoever waits for the iterator will get.
        private static object ErrorOf(object machine)
        {
            FieldInfo promise = machine.GetType().GetField("<>v__promiseOfValueOrEnd", Any);
            FieldInfo error = promise == null ? null : promise.FieldType.GetField("_error", Any);
            var info = error == null ? null : error.GetValue(promise.GetValue(machine)) as ExceptionDispatchInfo;
            return info == null ? null : info.SourceException;
        }
    }
}
