// The context of traces in requests between processes (W3C Trace Context), and in the program's own activities.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace MethodTracer
{
    public static class Http
    {
        // The activities of the program, once it has started one: until then it need not have their library.
        private static Activities activities;
        private static bool hasLooked;

        // The header `traceparent` of a request of the innermost span; null if the request keeps the one that it has, or will
        // have one of an activity that somebody records.
        public static string Parent(bool isThere)
        {
            bool isRecorded = false;
            bool isInActivity = activities != null && activities.IsCurrent(out isRecorded);
            // In an activity that nobody records, HttpClient makes another one, which is in no trace.
            return isRecorded || (isThere && !isInActivity) ? null : Requests.Parent();
        }

        // The header `tracestate` of a request of the innermost span; null for none.
        public static string State()
        {
            return Requests.State();
        }

        // The innermost span answers a request with these headers.
        public static void Receives(string parent, string state)
        {
            string own;
            // An activity of the request is its parent, which it has got when it began.
            if (parent != null && (activities == null || activities.Parent(out own) == null))
            {
                Requests.Continues(parent, state);
            }
        }

        // The program starts an activity.
        public static void Starts(object activity)
        {
            if (!hasLooked)
            {
                hasLooked = true;
                activities = Activities.Of(activity.GetType());
            }
        }

        // A span has begun that is the first of its trace here: it continues that of the program's activity.
        internal static void Begins(long span)
        {
            if (activities != null)
            {
                string state;
                string parent = activities.Parent(out state);
                if (parent != null)
                {
                    Requests.Continues(span, parent, state);
                }
            }
        }
    }

    // The activities of System.Diagnostics.DiagnosticSource: the helper does not refer to it, because a program need not
    // have it. No code of the program runs.
    internal abstract class Activities
    {
        // Whether there is a current activity, and whether somebody records it.
        internal abstract bool IsCurrent(out bool isRecorded);

        // The innermost activity of the program, or that of its caller, as the headers have it; null for none.
        internal abstract string Parent(out string state);

        internal static Activities Of(Type type)
        {
            while (type != null && type.FullName != "System.Diagnostics.Activity")
            {
                type = type.BaseType;
            }
            try
            {
                return type == null
                    ? null
                    : (Activities)Activator.CreateInstance(typeof(Activities<>).MakeGenericType(type), true);
            }
            catch (Exception)
            {
                // A version of the library without one of the members.
                return null;
            }
        }
    }

    internal sealed class Activities<T> : Activities where T : class
    {
        // "00-" and 32 digits, "-" and 16 digits, "-" and two digits for flags.
        private const int Length = 55;

        private readonly Func<T> current = (Func<T>)Delegate.CreateDelegate(
            typeof(Func<T>), typeof(T).GetProperty("Current", BindingFlags.Static | BindingFlags.Public).GetGetMethod());
        private readonly Func<T, T> parent = Getter<T>("Parent");
        private readonly Func<T, string> id = Getter<string>("Id");
        private readonly Func<T, string> parentId = Getter<string>("ParentId");
        private readonly Func<T, string> name = Getter<string>("OperationName");
        private readonly Func<T, string> state = Getter<string>("TraceStateString");
        // Since version 5: that of an activity that was made for a listener has a name.
        private readonly PropertyInfo source = typeof(T).GetProperty("Source");
        private readonly PropertyInfo sourceName;

        internal Activities()
        {
            sourceName = source == null ? null : source.PropertyType.GetProperty("Name");
        }

        private static Func<T, TValue> Getter<TValue>(string name)
        {
            return (Func<T, TValue>)Delegate.CreateDelegate(typeof(Func<T, TValue>), typeof(T).GetProperty(name).GetGetMethod());
        }

        internal override bool IsCurrent(out bool isRecorded)
        {
            T activity = current();
            isRecorded = activity != null && HasListener(activity);
            return activity != null;
        }

        internal override string Parent(out string stateOfParent)
        {
            T activity = current();
            while (activity != null && IsOfFramework(activity))
            {
                T outer = parent(activity);
                if (outer == null)
                {
                    stateOfParent = state(activity);
                    return Checked(parentId(activity));
                }
                activity = outer;
            }
            stateOfParent = activity == null ? null : state(activity);
            string header = activity == null ? null : Checked(id(activity));
            // An activity without a listener has no decision about sampling: it would be one against it.
            return header == null || HasListener(activity) ? header : header.Substring(0, Length - 2) + "01";
        }

        private static string Checked(string header)
        {
            return header != null && header.Length == Length && header.StartsWith("00-", StringComparison.Ordinal) ? header : null;
        }

        // The framework makes these for its logs, and to pass them on. They are in no trace unless there is a listener.
        private bool IsOfFramework(T activity)
        {
            string operation = name(activity);
            return (operation == "Microsoft.AspNetCore.Hosting.HttpRequestIn" || operation == "System.Net.Http.HttpRequestOut")
                && !HasListener(activity);
        }

        private bool HasListener(T activity)
        {
            object made = sourceName == null ? null : source.GetValue(activity);
            return made != null && !string.IsNullOrEmpty((string)sourceName.GetValue(made));
        }
    }

    // The profiler replaces the bodies of the last three: they call its Rust code.
    internal static unsafe class Requests
    {
        private const int ParentLength = 55, StateLength = 512;

        internal static string Parent()
        {
            long trace, span = Tracer.SpanNow(out trace);
            char* text = stackalloc char[ParentLength];
            return span == 0 ? null : Text(text, WriteParent(span, trace, text, ParentLength));
        }

        internal static string State()
        {
            long trace, span = Tracer.SpanNow(out trace);
            char* text = stackalloc char[StateLength];
            return span == 0 ? null : Text(text, WriteState(span, trace, text, StateLength));
        }

        // The innermost span, if it is the first of its trace here.
        internal static void Continues(string parent, string state)
        {
            long trace, span = Tracer.SpanNow(out trace);
            if (span != 0 && span == trace)
            {
                Continues(span, parent, state);
            }
        }

        internal static void Continues(long span, string parent, string state)
        {
            fixed (char* text = parent, more = state)
            {
                Continue(span, text, parent.Length, more, state == null ? 0 : state.Length);
            }
        }

        private static string Text(char* text, int length)
        {
            return length == 0 ? null : new string(text, 0, length);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int WriteParent(long span, long trace, char* text, int room)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int WriteState(long span, long trace, char* text, int room)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Continue(long span, char* parent, int length, char* state, int stateLength)
        {
        }
    }
}
