// Assemblies, modules and types that are loaded and unloaded: this assembly again, and dynamic ones.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace RuntimeTests.Library
{
    public static class LoadedStatics
    {
        public static int Number = 5;
        public static string Text = "static";
        public static object Reference = new object();

        public static int Use()
        {
            return Number + Text.Length + (Reference == null ? 1 : 0);
        }
    }

    public static class LoadedGeneric<T>
    {
        public static int Number = 6;
        public static T[] Values = new T[1];

        public static int Use()
        {
            return Number + Values.Length;
        }
    }

    public interface ILoadedType
    {
        int Give();
    }

    public class LoadedBase
    {
        public int Value = 1;
    }

    public class LoadedType : LoadedBase, ILoadedType
    {
        public int Give()
        {
            return Value + default(LoadedStruct).Value;
        }
    }

    public struct LoadedStruct
    {
        public int Value;
    }

    public static class LoadedEntry
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Types()
        {
            ILoadedType made = new LoadedType();
            return made.Give() + LoadedGeneric<int>.Use() + LoadedGeneric<LoadedStruct>.Use();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Statics()
        {
            int sum = 0;
            for (int i = 0; i < 3; i++)
                sum += LoadedStatics.Use() + LoadedGeneric<int>.Use() + LoadedGeneric<string>.Use();
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Optimized()
        {
            return Small() + 1;
        }

        private static int Small()
        {
            return 41;
        }
    }
}

namespace RuntimeTests
{
    internal static class Loading
    {
        // Calls a method of a copy of this assembly in a collectible context, and unloads it.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference InContext(string method, int expected)
        {
            var context = new AssemblyLoadContext(method, true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            object result = again.GetType("RuntimeTests.Library.LoadedEntry").GetMethod(method).Invoke(null, null);
            if ((int)result != expected)
                Console.WriteLine(method + " returned " + result);
            // The types are initialised and alive: after the request below they need not be.
            GC.Collect();
            context.Unload();
            return new WeakReference(context);
        }

        private static void Unloaded(WeakReference context)
        {
            for (int i = 0; context.IsAlive && i < 100; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Console.WriteLine("unloaded " + !context.IsAlive);
        }

        internal static void Contexts()
        {
            for (int i = 0; i < 3; i++)
                Unloaded(InContext("Types", 15));
        }

        internal static void Classes()
        {
            Unloaded(InContext("Types", 15));
        }

        internal static void Statics()
        {
            int expected = Library.LoadedEntry.Statics();
            for (int i = 0; i < 3; i++)
                Unloaded(InContext("Statics", expected));
            GC.Collect();
        }

        internal static void Dynamic()
        {
            for (int i = 0; i < 3; i++)
            {
                var name = new AssemblyName("Dynamic" + i);
                AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(name, AssemblyBuilderAccess.Run);
                TypeBuilder type = assembly.DefineDynamicModule("Dynamic" + i).DefineType("Made", TypeAttributes.Public);
                MethodBuilder method = type.DefineMethod(
                    "Give", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
                ILGenerator code = method.GetILGenerator();
                code.Emit(OpCodes.Ldc_I4, 40 + i);
                code.Emit(OpCodes.Ret);
                Console.WriteLine(type.CreateType().GetMethod("Give").Invoke(null, null));
            }
        }

        // How copies of one method are compiled, while the profiler switches optimisation off and on again.
        internal static void Optimization()
        {
            using (var compiled = new Compiled())
            {
                compiled.Print(InContext("Optimized", 42));
                Profiler.Call(1);
                compiled.Print(InContext("Optimized", 42));
                Profiler.Call(0);
                compiled.Print(InContext("Optimized", 42));
                Profiler.Call(2);
                compiled.Print(InContext("Optimized", 42));
                Profiler.Call(0);
                compiled.Print(InContext("Optimized", 42));
            }
        }

        // The runtime's events about compiled methods.
        private sealed class Compiled : EventListener
        {
            private readonly Queue<int> tiers = new Queue<int>();

            protected override void OnEventSourceCreated(EventSource source)
            {
                const EventKeywords Jit = (EventKeywords)0x10;
                if (source.Name == "Microsoft-Windows-DotNETRuntime")
                    EnableEvents(source, EventLevel.Verbose, Jit);
            }

            protected override void OnEventWritten(EventWrittenEventArgs raised)
            {
                if (raised.EventId != 143 || (string)raised.Payload[7] != "Optimized")
                    return;
                lock (this)
                {
                    tiers.Enqueue((int)((uint)raised.Payload[5] >> 7 & 7));
                    Monitor.Pulse(this);
                }
            }

            internal void Print(WeakReference context)
            {
                lock (this)
                {
                    if (tiers.Count == 0)
                        Monitor.Wait(this, 20000);
                    Console.WriteLine(tiers.Count == 0 ? "no event" : "tier " + tiers.Dequeue());
                }
            }
        }
    }
}
