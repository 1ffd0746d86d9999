// Runs until it is told to end, and executes commands: a line of input, a line of output.
//
//   work N   compiles the method WorkN (N from 0 to 7) and a dynamic one, allocates, throws
//   busy     two threads do such things without pause until ...
//   calm     ... this
//   unload   loads itself into a context and unloads that
//   collect  collects all garbage
//   end      (or the end of the input) ends with the exit code 5
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Waits
{
    internal sealed class Thrown : Exception
    {
    }

    internal static class Program
    {
        private static volatile bool busy;

        private static int Main()
        {
            var threads = new Thread[2];
            Console.WriteLine("ready");
            for (string line; (line = Console.ReadLine()) != null && line != "end";)
            {
                if (line.StartsWith("work "))
                {
                    Console.WriteLine("worked " + Work(line[5] - '0'));
                }
                else if (line == "busy")
                {
                    busy = true;
                    for (int i = 0; i < threads.Length; i++)
                        (threads[i] = new Thread(KeepBusy)).Start();
                    Console.WriteLine("busy");
                }
                else if (line == "calm")
                {
                    busy = false;
                    foreach (Thread thread in threads)
                        thread.Join();
                    Console.WriteLine("calm");
                }
                else if (line == "unload")
                {
                    WeakReference context = Use();
                    for (int n = 0; context.IsAlive && n < 200; n++)
                    {
                        GC.Collect();
                        GC.WaitForPendingFinalizers();
                    }
                    Console.WriteLine(context.IsAlive ? "alive" : "unloaded");
                }
                else if (line == "collect")
                {
                    GC.Collect();
                    Console.WriteLine("collected");
                }
            }
            Console.WriteLine("ending");
            return 5;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use()
        {
            var context = new AssemblyLoadContext("used", true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            Type program = again.GetType("Waits.Program");
            program.GetMethod("Catch", BindingFlags.Static | BindingFlags.NonPublic).Invoke(null, new object[] { 1 });
            context.Unload();
            return new WeakReference(context);
        }

        private static void KeepBusy()
        {
            for (int n = 0; busy; n++)
            {
                if (Dynamic(n) != n || Catch(n) != n)
                    throw new Exception("wrong");
                if (n % 50 == 0)
                    GC.Collect();
            }
        }

        private static int Work(int n)
        {
            int result = 100 * Dynamic(n) + 10 * Catch(n);
            switch (n)
            {
                case 0: return result + Work0();
                case 1: return result + Work1();
                case 2: return result + Work2();
                case 3: return result + Work3();
                case 4: return result + Work4();
                case 5: return result + Work5();
                case 6: return result + Work6();
                default: return result + Work7();
            }
        }

        private static int Dynamic(int n)
        {
            var method = new DynamicMethod("Made", typeof(int), Type.EmptyTypes);
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldc_I4, n);
            il.Emit(OpCodes.Ret);
            return ((Func<int>)method.CreateDelegate(typeof(Func<int>)))();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Catch(int n)
        {
            try
            {
                throw new Thrown();
            }
            catch (Thrown)
            {
                return new int[n + 1].Length - 1;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work0() { return 0; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work1() { return 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work2() { return 2; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work3() { return 3; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work4() { return 4; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work5() { return 5; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work6() { return 6; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Work7() { return 7; }
    }
}
