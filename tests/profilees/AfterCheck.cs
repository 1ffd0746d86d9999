// Runs programs, each in a load context of its own, so that its methods are others each time. The argument is
// a file with the paths of the programs, a line each, with more columns for the profiler.
//
// For each it prints two lines, `begin` and `end`: the exit code or the type of the escaped exception, a
// hash of the program's output, and the types of all exceptions that were thrown, in order, with their counts.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;

internal static class AfterCheck
{
    private static readonly List<string> Order = new List<string>();
    private static readonly Dictionary<string, int> Counts = new Dictionary<string, int>();
    [ThreadStatic] private static bool isBusy;

    private static int Main(string[] arguments)
    {
        TextWriter output = Console.Out;
        if (Environment.GetEnvironmentVariable("AFTER_CHECK_TRIALS") == "1")
        {
            // Compiled before the trials that need it.
            Prepares(typeof(AfterCheck).GetMethod("Hash", BindingFlags.NonPublic | BindingFlags.Static).MethodHandle.Value);
            Offer(Marshal.GetFunctionPointerForDelegate(Kept));
        }
        AppDomain.CurrentDomain.FirstChanceException += Thrown;
        string[] lines = File.ReadAllLines(arguments[0]);
        for (int i = 0; i < lines.Length; i++)
        {
            string path = lines[i].Split('\t')[0];
            output.WriteLine("begin\t" + i);
            output.Flush();
            lock (Order)
            {
                Order.Clear();
                Counts.Clear();
            }
            var written = new StringWriter();
            Console.SetOut(TextWriter.Synchronized(written));
            string end;
            try
            {
                var context = new AssemblyLoadContext("program " + i, false);
                context.Resolving += (loader, name) => Beside(loader, path, name);
                MethodInfo main = context.LoadFromAssemblyPath(path).EntryPoint;
                object[] parameters = main.GetParameters().Length == 0 ? null : new object[] { new string[0] };
                object result = main.Invoke(null, BindingFlags.DoNotWrapExceptions, null, parameters, null);
                end = result is int ? result.ToString() : "none";
            }
            catch (Exception exception)
            {
                end = exception.GetType().FullName;
            }
            Console.SetOut(output);
            string text;
            lock (Order)
                text = string.Join(",", Order.Select(type => type + "*" + Counts[type]));
            output.WriteLine("end\t" + i + "\t" + end + "\t" + Hash(written.ToString()) + "\t" + text);
            output.Flush();
        }
        return 0;
    }

    // Compiles a method: 1, 0 if that throws, 2 if it cannot be tried.
    private delegate int Trial(IntPtr method);

    private static readonly Trial Kept = Prepares;

    // The profiler takes the function from here.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Offer(IntPtr trial)
    {
    }

    private static int Prepares(IntPtr method)
    {
        bool was = isBusy;
        // Its exceptions are not those of a program.
        isBusy = true;
        try
        {
            RuntimeHelpers.PrepareMethod(Handle(method));
            return 1;
        }
        catch (ArgumentException)
        {
            return 2;
        }
        catch (Exception)
        {
            return 0;
        }
        finally
        {
            isBusy = was;
        }
    }

    private static RuntimeMethodHandle Handle(IntPtr value)
    {
        const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance;
        Type handle = typeof(RuntimeMethodHandle);
        MethodInfo from = handle.GetMethod("FromIntPtr", All, null, new[] { typeof(IntPtr) }, null);
        if (from != null)
            return (RuntimeMethodHandle)from.Invoke(null, new object[] { value });
        // Runtimes before .NET 7.
        Type stub = typeof(object).Assembly.GetType("System.RuntimeMethodInfoStub");
        ConstructorInfo make = stub.GetConstructor(All, null, new[] { typeof(IntPtr), typeof(object) }, null);
        object method = make.Invoke(new object[] { value, null });
        foreach (ConstructorInfo constructor in handle.GetConstructors(All))
            return (RuntimeMethodHandle)constructor.Invoke(new[] { method });
        throw new ArgumentException("no handle");
    }

    private static Assembly Beside(AssemblyLoadContext loader, string path, AssemblyName name)
    {
        string candidate = Path.Combine(Path.GetDirectoryName(path), name.Name + ".dll");
        return File.Exists(candidate) ? loader.LoadFromAssemblyPath(candidate) : null;
    }

    private static void Thrown(object sender, FirstChanceExceptionEventArgs arguments)
    {
        if (isBusy)
            return;
        isBusy = true;
        string type = arguments.Exception.GetType().FullName;
        lock (Order)
        {
            int count;
            if (!Counts.TryGetValue(type, out count))
                Order.Add(type);
            Counts[type] = count + 1;
        }
        isBusy = false;
    }

    private static ulong Hash(string text)
    {
        ulong hash = 0xcbf29ce484222325;
        foreach (char c in text)
            hash = (hash ^ c) * 0x100000001b3;
        return hash;
    }
}
