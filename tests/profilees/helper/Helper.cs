// The methods that rewritten code of the scenarios calls, unknown to the program. They write to the
// scenario's log. Its public key is there to be matched; nothing is signed with it.
using System;
using System.IO;
using System.Reflection;

[assembly: AssemblyVersion("1.2.3.4")]

public static class Logger
{
    [ThreadStatic] public static int Inside;
    private static int depth;

    private static void Line(string text)
    {
        string path = Environment.GetEnvironmentVariable("SCENARIO_LOG");
        // Profilers have the file open for writing, too.
        using (var file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite))
        using (var writer = new StreamWriter(file))
            writer.Write(text + "\n");
    }

    public static void Enter(string name)
    {
        Line(new string(' ', depth++) + "> " + name);
    }

    public static void Leave(string name)
    {
        Line(new string(' ', --depth) + "< " + name);
    }

    // Calls code of the program.
    public static void Saw(object argument)
    {
        Line("saw " + argument);
    }

    public static int Nothing(int value)
    {
        return value;
    }

    // 0 for null, 1 for a value, 2 for another object.
    public static int Look(object value)
    {
        return value == null ? 0 : value is ValueType ? 1 : 2;
    }
}

internal class StartupHook
{
    public static void Initialize()
    {
        if (Environment.GetEnvironmentVariable("SCENARIO_LOG") != null)
            Logger.Saw("the start");
    }
}
