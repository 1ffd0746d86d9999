// Programs whose behaviour a logger must survive; the first argument selects one.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Behaviours
{
    internal static class Program
    {
        private static int Main(string[] arguments)
        {
            switch (arguments[0])
            {
                case "echo":
                    return Echo(arguments);
                case "wait":
                    // Until the end of stdin, or until the test gives up.
                    Console.WriteLine("waiting");
                    Console.In.ReadToEnd();
                    return 0;
                case "throw":
                    throw new InvalidOperationException("nobody catches this");
                case "hot":
                    return Hot();
                case "threads":
                    return Threads();
                case "child":
                    return Child();
                case "huge":
                    return Huge();
                case "invalid":
                    return Invalid();
                default:
                    Console.Error.WriteLine("no such behaviour");
                    return 2;
            }
        }

        private static int Echo(string[] arguments)
        {
            for (int i = 1; i < arguments.Length; i++)
                Console.WriteLine("argument <" + arguments[i] + ">");
            Console.Write(Console.In.ReadToEnd());
            Console.Error.WriteLine("to stderr");
            return 5;
        }

        // A second long, with hot methods of its own and of the framework.
        private static int Hot()
        {
            var watch = Stopwatch.StartNew();
            var words = new Dictionary<string, int>();
            while (watch.ElapsedMilliseconds < 1200)
            {
                words.Clear();
                for (int i = 0; i < 300; i++)
                    words[Word(i)] = i;
                Thread.Sleep(1);
            }
            Console.WriteLine("words " + words.Count);
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Word(int number)
        {
            return new StringBuilder().Append("word ").Append(number).ToString().Replace("o", "0").Trim();
        }

        // Each level is a method of its own to compile, on each of the threads at once.
        private static int Threads()
        {
            var start = new ManualResetEvent(false);
            int sum = 0;
            var bodies = new Func<int>[]
            {
                Levels<A0>.Run, Levels<A1>.Run, Levels<A2>.Run, Levels<A3>.Run,
                Levels<A4>.Run, Levels<A5>.Run, Levels<A6>.Run, Levels<A7>.Run,
                Levels<A8>.Run, Levels<A9>.Run, Levels<B0>.Run, Levels<B1>.Run,
                Levels<B2>.Run, Levels<B3>.Run, Levels<B4>.Run, Levels<B5>.Run
            };
            var threads = new List<Thread>();
            foreach (Func<int> body in bodies)
            {
                var thread = new Thread(() =>
                {
                    start.WaitOne();
                    Interlocked.Add(ref sum, body());
                });
                thread.Start();
                threads.Add(thread);
            }
            start.Set();
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine("sum " + sum);
            return 0;
        }

        // Runs "echo child" in a child process, on the same runtime.
        private static int Child()
        {
            string host = Process.GetCurrentProcess().MainModule.FileName;
            var start = new ProcessStartInfo(host);
            start.UseShellExecute = false;
            start.RedirectStandardInput = true;
            if (Environment.GetEnvironmentVariable("HOSTED_PROGRAM") == null)
                start.Arguments = "exec \"" + Assembly.GetExecutingAssembly().Location + "\" echo child";
            else
                start.EnvironmentVariables["HOSTED_ARGUMENTS"] = "echo\nchild";
            using (Process child = Process.Start(start))
            {
                child.StandardInput.Close();
                child.WaitForExit();
                AfterChild(child.ExitCode);
            }
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void AfterChild(int exitCode)
        {
            Console.WriteLine("child ended with " + exitCode);
        }

        // Types and methods with long names, and many parameters, created at run time.
        private static int Huge()
        {
            ModuleBuilder module = AssemblyBuilder
                .DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run)
                .DefineDynamicModule("Made");
            TypeBuilder type = module.DefineType(new string('T', 1000), TypeAttributes.Public);
            var parameters = new Type[250];
            for (int i = 0; i < parameters.Length; i++)
                parameters[i] = type;
            MethodBuilder method = type.DefineMethod(
                new string('m', 1000), MethodAttributes.Public | MethodAttributes.Static, typeof(int), parameters);
            ILGenerator code = method.GetILGenerator();
            code.Emit(OpCodes.Ldc_I4_3);
            code.Emit(OpCodes.Ret);
            MethodInfo made = type.CreateTypeInfo().GetMethod(new string('m', 1000));
            Console.WriteLine("made " + made.Invoke(null, new object[parameters.Length]));
            return 0;
        }

        // Code that the compiler refuses, in a method with metadata and in one without.
        private static int Invalid()
        {
            ModuleBuilder module = AssemblyBuilder
                .DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run)
                .DefineDynamicModule("Made");
            TypeBuilder type = module.DefineType("Refused", TypeAttributes.Public);
            MethodBuilder method = type.DefineMethod(
                "NothingToReturn", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
            method.GetILGenerator().Emit(OpCodes.Ret);
            Try(type.CreateTypeInfo().GetMethod("NothingToReturn"));
            var dynamic = new DynamicMethod("NothingToReturnEither", typeof(int), Type.EmptyTypes);
            dynamic.GetILGenerator().Emit(OpCodes.Ret);
            Try(dynamic);
            return 0;
        }

        private static void Try(MethodBase method)
        {
            try
            {
                method.Invoke(null, null);
                Console.WriteLine("accepted");
            }
            catch (Exception problem)
            {
                Console.WriteLine("refused " + (problem.InnerException ?? problem).GetType().Name);
            }
        }
    }

    internal struct A0 { }
    internal struct A1 { }
    internal struct A2 { }
    internal struct A3 { }
    internal struct A4 { }
    internal struct A5 { }
    internal struct A6 { }
    internal struct A7 { }
    internal struct A8 { }
    internal struct A9 { }
    internal struct B0 { }
    internal struct B1 { }
    internal struct B2 { }
    internal struct B3 { }
    internal struct B4 { }
    internal struct B5 { }

    internal struct Wrap<T> { }

    internal static class Levels<T>
    {
        internal static int Run()
        {
            return Down<T>(30);
        }

        private static int Down<U>(int levels)
        {
            return levels == 0 ? 0 : 1 + Down<Wrap<U>>(levels - 1);
        }
    }
}
