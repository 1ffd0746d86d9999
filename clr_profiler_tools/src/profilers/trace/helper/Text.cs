using System;
using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Runtime.ExceptionServices;
using System.Threading.Tasks;

namespace MethodTracer
{
    // Nothing here runs code of the program: no ToString, no Message of its types.
    internal static class Text
    {
        // The profiler records less of a text, but has to find in it the things that are not recorded at all.
        private const int Longest = 256;
        private static readonly FieldInfo Message = typeof(Exception).GetField(
            "_message", BindingFlags.Instance | BindingFlags.NonPublic);

        internal static string Of<T>(T value)
        {
            if (value == null)
            {
                return "null\n";
            }
            var text = value as string;
            if (text != null)
            {
                return "\"" + Line(text.Length > Longest ? text.Substring(0, Longest) + "..." : text) + "\"\n";
            }
            Type type = value.GetType();
            return Line(type.IsPrimitive ? OfPrimitive(value) : Name(type)) + "\n";
        }

        // Each value is a line.
        private static string Line(string text)
        {
            return text.IndexOf('\n') < 0 ? text : text.Replace("\n", "\\n");
        }

        // The current culture may be one of the program.
        private static string OfPrimitive(object value)
        {
            if (value is IntPtr)
            {
                value = (long)(IntPtr)value;
            }
            else if (value is UIntPtr)
            {
                value = (ulong)(UIntPtr)value;
            }
            return ((IConvertible)value).ToString(CultureInfo.InvariantCulture);
        }

        internal static string Name(Type type)
        {
            return type.IsGenericType ? type.GetGenericTypeDefinition().FullName : type.FullName;
        }

        internal static string OfException(object exception)
        {
            string type = Name(exception.GetType());
            object message = Message == null || !(exception is Exception) ? null : Message.GetValue(exception);
            return message == null ? type : type + "\n" + message;
        }
    }

    // Why a task has failed. Task.Exception would count as observing it, and keep
    // TaskScheduler.UnobservedTaskException from being raised; so its internal list is read.
    internal static class Faults
    {
        private const BindingFlags Any =
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        private static readonly FieldInfo Properties = typeof(Task).GetField("m_contingentProperties", Any);
        private static readonly FieldInfo Holder = Field(Properties, "m_exceptionsHolder");
        private static readonly FieldInfo List = Field(Holder, "m_faultExceptions");

        private static FieldInfo Field(FieldInfo owner, string name)
        {
            return owner == null ? null : owner.FieldType.GetField(name, Any);
        }

        internal static object Of(Task task)
        {
            if (!task.IsFaulted || List == null)
            {
                return null;
            }
            object properties = Properties.GetValue(task);
            object holder = properties == null ? null : Holder.GetValue(properties);
            var list = holder == null ? null : List.GetValue(holder) as IList;
            var first = list == null || list.Count == 0 ? null : list[0] as ExceptionDispatchInfo;
            return first == null ? null : first.SourceException;
        }
    }
}
