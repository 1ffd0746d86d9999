using System;
using System.Runtime.CompilerServices;

namespace MethodTracer
{
    // The profiler replaces the bodies of the empty methods: they call its Rust code.
    internal static unsafe class Native
    {
        private const int Longest = 256;

        internal static IntPtr Begin(int method, Context context, string arguments)
        {
            long id = context == null ? 0 : context.Id, trace = context == null ? 0 : context.Trace;
            fixed (char* text = arguments)
            {
                return CallBegins(method, id, trace, text, Length(arguments));
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
                    return SuspendingBegins(method, id, at, text, Length(arguments));
                }
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

        private static int Length(string text)
        {
            return text == null ? 0 : text.Length < Longest ? text.Length : Longest;
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
        private static void SuspendingEnds(long id, int outcome, char* text, int length)
        {
        }

        // The frame of the innermost span, if it is not that of the context.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static IntPtr Innermost(long context)
        {
            return IntPtr.Zero;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void PublishesBy(IntPtr method)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThreadIsNamed(char* text, int length)
        {
        }
    }
}
