// Writes the milliseconds that the JIT has taken, the bytes of IL and the number of methods, at the end of a process: `COVER_JIT_TIMES` names the file.
using System;
using System.IO;
using System.Globalization;
using System.Reflection;

internal static class StartupHook
{
    public static void Initialize()
    {
        AppDomain.CurrentDomain.ProcessExit += (_, _) =>
        {
            // The references of the compiler may be older than this type.
            Type info = typeof(object).Assembly.GetType("System.Runtime.JitInfo");
            object Ask(string name) => info.GetMethod(name).Invoke(null, new object[] { false });
            var took = (TimeSpan)Ask("GetCompilationTime");
            object bytes = Ask("GetCompiledILBytes");
            object methods = Ask("GetCompiledMethodCount");
            string milliseconds = took.TotalMilliseconds.ToString(CultureInfo.InvariantCulture);
            File.AppendAllText(Environment.GetEnvironmentVariable("COVER_JIT_TIMES"), $"{milliseconds} {bytes} {methods}\n");
        };
    }
}
