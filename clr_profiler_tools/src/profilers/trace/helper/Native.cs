using System;
using System.Runtime.CompilerServices;

namespace MethodTracer
{
    // The profiler replaces the bodies of the empty methods: they call its Rust code.
    internal static unsafe class Native
    {
        private const int Longest = 256;
        // Arguments, of which the profiler keeps less.
        private const int LongestValues = 4096;

        internal static IntPtr Begin(int method, Context context, string arguments)
        {
            long id = context == null ? 0 : context.Id, trace = context == null ? 0 : context.Trace;
            fixed (char* text = arguments)
            {
                return CallBegins(method, id, trace, text, Length(arguments, LongestValues));
            }
        }

        internal static int EndCall(IntPtr frame, object exception)
        {
            string words = exception == null ? null : Text.OfException(exception);
            fixed (char* text = words)
            {
                return CallEnds(frame, exception == null ? Tracer.Returned : Tracer.Threw, text, Length(words));
            }
        }

        internal static void Complete(IntPtr frame, int outcome, object exception)
        {
            string words = exception == null ? null : Text.OfException(exception);
            fixed (char* text = words)
            {
                CallCompletes(frame, outcome, text, Length(words));
            }
        }

        internal static void End(long id, int outcome, object exception)
        {
            string words = exception == null ? null : Text.OfException(exception);
            fixed (char* text = words)
            {
                SpanEnds(id, outcome, text, Length(words));
            }
        }

        internal static long BeginSuspending(int method, Context context, string arguments, out long trace)
        {
            long id = context == null ? 0 : context.Id;
            trace = context == null ? 0 : context.Trace;
            fixed (char* text = arguments)
            {
                fixed (long* at = &trace)
                {
                    return SuspendingBegins(method, id, at, text, Length(arguments, LongestValues));
                }
            }
        }

        internal static long BeginEnumeration(int method, Context context, out long trace)
        {
            long id = context == null ? 0 : context.Id;
            trace = context == null ? 0 : context.Trace;
            fixed (long* at = &trace)
            {
                return EnumerationBegins(method, id, at);
            }
        }

        internal static void EndSuspending(long id, int outcome, object exception)
        {
            string words = exception == null ? null : Text.OfException(exception);
            fixed (char* text = words)
            {
                SuspendingEnds(id, outcome, text, Length(words));
            }
        }

        internal static void NameThread(string name)
        {
            fixed (char* text = name)
            {
                ThreadIsNamed(text, Length(name));
            }
        }

        internal static void CallReturns(IntPtr frame, string value)
        {
            fixed (char* text = value)
            {
                CallHasResult(frame, text, Length(value, LongestValues));
            }
        }

        internal static void SpanReturns(long id, string value)
        {
            fixed (char* text = value)
            {
                SpanHasResult(id, text, Length(value, LongestValues));
            }
        }

        private static int Length(string text, int longest = Longest)
        {
            return text == null ? 0 : text.Length < longest ? text.Length : longest;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static IntPtr CallBegins(int method, long parent, long trace, char* text, int length)
        {
            return IntPtr.Zero;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallEnds(IntPtr frame, int outcome, char* text, int length)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CallCompletes(IntPtr frame, int outcome, char* text, int length)
        {
        }

        // The id of the span, which the frame has no longer.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static long CallIsDeferred(IntPtr frame)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void SpanEnds(long id, int outcome, char* text, int length)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long SuspendingBegins(int method, long parent, long* trace, char* text, int length)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long EnumerationBegins(int method, long parent, long* trace)
        {
            return 0;
        }

        // The frame of its next piece.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static IntPtr EnumerationResumes(long context, long id, long trace, int method)
        {
            return IntPtr.Zero;
        }

        // Returns the marks of the frame.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int EnumerationWaits(IntPtr frame)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void SuspendingEnds(long id, int outcome, char* text, int length)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CallHasResult(IntPtr frame, char* text, int length)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void SpanHasResult(long id, char* text, int length)
        {
        }

        // The frame of the innermost span, if it is not that of the context.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static IntPtr Innermost(long context)
        {
            return IntPtr.Zero;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void ChangesAre(IntPtr captures, IntPtr enters, IntPtr leaves, IntPtr restores)
        {
        }

        // The frame of the span that the execution context has to have.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static IntPtr ContextIsCaptured()
        {
            return IntPtr.Zero;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThreadIsNamed(char* text, int length)
        {
        }
    }
}
