// The methods that rewritten code calls. The profiler writes the lines.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;

[assembly: AssemblyVersion("1.0.0.0")]

public static class Logger
{
    // Deeper calls are not indented further.
    private const int Deepest = 50;
    [ThreadStatic] private static int depth;

    // The number of calls of the module's methods, where they are counted, otherwise -1; the
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
        // Stopwatch is in an assembly that the program may not have loaded.
        return DateTime.UtcNow.Ticks;
    }

    public static void Took(string method, long start)
    {
        double microseconds = (Now() - start) * 1e6 / TimeSpan.TicksPerSecond;
        Line("  " + method + " took " + microseconds.ToString("F1") + " us");
    }

    public static void Swallowed(string method, object exception)
    {
        Line("! " + method + " swallowed " + exception.GetType().FullName);
    }

    // Only types whose ToString runs no code of the program.
    private static string Text(object argument)
    {
        Type type = argument.GetType();
        return type.IsPrimitive || argument is string ? argument.ToString() : type.FullName;
    }

    private static unsafe void Line(string text)
    {
        string line = new string(' ', 2 * Math.Max(Math.Min(depth, Deepest), 0)) + text;
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
}
