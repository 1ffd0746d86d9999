// What rewritten methods call. It writes to the file that METHOD_LOGGER_OUTPUT names.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Text;

[assembly: AssemblyVersion("1.0.0.0")]

public static class Logger
{
    private static readonly object Lock = new object();
    private static readonly FileStream Output = Open();
    [ThreadStatic] private static int depth;

    private static FileStream Open()
    {
        string path = Environment.GetEnvironmentVariable("METHOD_LOGGER_OUTPUT") ?? "calls.txt";
        // Other processes that the program starts may write there, too.
        return new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite, 1);
    }

    // How many calls of the module's methods there were, where they are counted, else -1; the
    // method's name; its first argument.
    public static void Enter(int count, string method, object argument)
    {
        string number = count < 0 ? "" : "#" + count + " ";
        Line("> " + number + method + (argument == null ? "" : "  [" + Text(argument) + "]"));
        depth++;
    }

    public static void Leave(string method)
    {
        depth--;
        Line("< " + method);
    }

    public static long Now()
    {
        return Stopwatch.GetTimestamp();
    }

    public static void Took(string method, long start)
    {
        double microseconds = (Now() - start) * 1e6 / Stopwatch.Frequency;
        Line("  " + method + " took " + microseconds.ToString("F1") + " us");
    }

    public static void Swallowed(string method, object exception)
    {
        Line("! " + method + " swallowed " + exception.GetType().FullName);
    }

    // Only what has no code of the program's own in its ToString.
    private static string Text(object argument)
    {
        Type type = argument.GetType();
        return type.IsPrimitive || argument is string ? argument.ToString() : type.FullName;
    }

    private static void Line(string text)
    {
        byte[] line = Encoding.UTF8.GetBytes(new string(' ', 2 * Math.Max(depth, 0)) + text + "\n");
        lock (Lock)
        {
            Output.Write(line, 0, line.Length);
        }
    }
}
