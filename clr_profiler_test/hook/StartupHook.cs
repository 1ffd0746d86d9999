// Runs another program inside of a host that cannot run other programs: a self-contained,
// single-file application. Named by DOTNET_STARTUP_HOOKS, it is called before that application's
// Main, and ends the process with the exit code of the program that it ran.
//
// HOSTED_PROGRAM is the assembly; HOSTED_ARGUMENTS its arguments, a line each.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.ExceptionServices;
using System.Runtime.Loader;

internal class StartupHook
{
    public static void Initialize()
    {
        string path = Environment.GetEnvironmentVariable("HOSTED_PROGRAM");
        if (path == null)
            return;
        string folder = Path.GetDirectoryName(path);
        AssemblyLoadContext.Default.Resolving += (context, name) =>
        {
            string candidate = Path.Combine(folder, name.Name + ".dll");
            return File.Exists(candidate) ? context.LoadFromAssemblyPath(candidate) : null;
        };
        string lines = Environment.GetEnvironmentVariable("HOSTED_ARGUMENTS");
        string[] arguments = string.IsNullOrEmpty(lines) ? new string[0] : lines.Split('\n');
        MethodInfo main = AssemblyLoadContext.Default.LoadFromAssemblyPath(path).EntryPoint;
        object[] parameters = main.GetParameters().Length == 0 ? null : new object[] { arguments };
        object result = null;
        try
        {
            result = main.Invoke(null, parameters);
        }
        catch (TargetInvocationException wrapped)
        {
            ExceptionDispatchInfo.Capture(wrapped.InnerException).Throw();
        }
        Environment.Exit(result is int ? (int)result : 0);
    }
}
