// The methods that rewritten code calls. The profiler writes the lines.
using System;
using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

[assembly: AssemblyVersion("1.0.0.0")]

public static class Inspector
{
    public static unsafe void Inspect(string method, object value)
    {
        string line = method + " = " + Text(value);
        fixed (char* start = line)
        {
            WriteLine(start, line.Length);
        }
    }

    // The profiler replaces the body: it calls its Rust code.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static unsafe void WriteLine(char* text, int length)
    {
    }

    // Nothing here runs code of the program: no ToString of its types.
    private static string Text(object value)
    {
        if (value == null)
        {
            return "null";
        }
        Type type = value.GetType();
        if (value is string)
        {
            return "\"" + ((string)value).Replace("\n", "\\n") + "\"";
        }
        if (value is bool || value is char)
        {
            return value.ToString();
        }
        // Before .NET 5 these two do not implement IFormattable.
        if (value is IntPtr)
        {
            return ((IntPtr)value).ToInt64().ToString(CultureInfo.InvariantCulture);
        }
        if (value is UIntPtr)
        {
            return ((UIntPtr)value).ToUInt64().ToString(CultureInfo.InvariantCulture);
        }
        if (type.IsPrimitive || value is decimal || value is DateTime)
        {
            return ((IFormattable)value).ToString(null, CultureInfo.InvariantCulture);
        }
        if (type.IsEnum)
        {
            return type.FullName + "." + value;
        }
        if (type.IsArray)
        {
            return type.GetElementType().FullName + "[" + ((Array)value).Length + "]";
        }
        return Name(type) + (type.IsValueType ? Fields(type, value) : "");
    }

    private static string Fields(Type type, object value)
    {
        var text = new StringBuilder(" {");
        foreach (FieldInfo field in type.GetFields(
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
        {
            text.Append(' ').Append(field.Name).Append(": ").Append(Text(field.GetValue(value)));
        }
        return text.Append(" }").ToString();
    }

    private static string Name(Type type)
    {
        return type.IsGenericType ? type.GetGenericTypeDefinition().FullName : type.FullName;
    }
}
