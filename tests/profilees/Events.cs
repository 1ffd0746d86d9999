// Causes the events of profilers, as far as a program can.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

namespace Events
{
    internal static class Program
    {
        [DllImport("libc", EntryPoint = "abs")]
        private static extern int Absolute(int value);

        [DllImport("msvcrt", EntryPoint = "abs")]
        private static extern int AbsoluteOnWindows(int value);

        private static readonly ConditionalWeakTable<object, object> Table = new ConditionalWeakTable<object, object>();
        private static readonly List<object> Kept = new List<object>();

        private static int Main()
        {
            // A resolver of names would be an entry of a ConditionalWeakTable, which is an event.
            bool isWindows = RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
            bool native = (isWindows ? AbsoluteOnWindows(-1) : Absolute(-1)) == 0;
            Thread thread = new Thread(() => Exceptions());
            thread.Name = "named";
            thread.Start();
            thread.Join();
            var source = new EventSource("ClrProfilerEvents");
            source.Write("Hello");
            Dynamic();
            // The runtime announces the symbols of a module in memory, whatever they contain.
            Collectible(new byte[64]);
            Collectible(null);
            Collections();
            source.Dispose();
            Console.WriteLine("done " + native + " " + Again(1) + " " + Kept.Count);
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Again(int value)
        {
            return value + 1;
        }

        private static void Exceptions()
        {
            try
            {
                try
                {
                    throw new InvalidOperationException("filtered");
                }
                catch (InvalidOperationException caught) when (caught.Message == "filtered")
                {
                    Kept.Add(caught);
                }
                try
                {
                    Throw("finally");
                }
                finally
                {
                    Kept.Add("finally");
                }
            }
            catch (ArgumentException caught)
            {
                Kept.Add(caught);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw(string message)
        {
            throw new ArgumentException(message);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Dynamic()
        {
            for (int i = 0; i < 3; i++)
            {
                var method = new DynamicMethod("Made", typeof(int), Type.EmptyTypes);
                ILGenerator il = method.GetILGenerator();
                il.Emit(OpCodes.Ldc_I4, i);
                il.Emit(OpCodes.Ret);
                Kept.Add(((Func<int>)method.CreateDelegate(typeof(Func<int>)))());
            }
        }

        // A load context for a copy of this assembly, which is then unloaded.
        private sealed class Context : AssemblyLoadContext
        {
            public Context() : base(true)
            {
            }

            protected override Assembly Load(AssemblyName name)
            {
                return null;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference LoadAndUnload(byte[] symbols)
        {
            var context = new Context();
            string path = typeof(Program).Assembly.Location;
            using (var stream = new MemoryStream(File.ReadAllBytes(path)))
            {
                Assembly assembly = symbols == null
                    ? context.LoadFromStream(stream)
                    : context.LoadFromStream(stream, new MemoryStream(symbols));
                object result = assembly.GetType("Events.Guest").GetMethod("Visit").Invoke(null, null);
                Kept.Add(result.ToString());
            }
            context.Unload();
            return new WeakReference(context);
        }

        private static void Collectible(byte[] symbols)
        {
            WeakReference context = LoadAndUnload(symbols);
            for (int i = 0; i < 100 && context.IsAlive; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            // The objects of the context are collected in steps, each after the previous one.
            for (int i = 0; i < 10; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }

        private sealed class Finalizable
        {
            ~Finalizable()
            {
                Again(2);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Garbage()
        {
            for (int i = 0; i < 1000; i++)
            {
                new Finalizable();
                if (i % 10 == 0)
                    Kept.Add(new byte[1000]);
            }
        }

        private static void Collections()
        {
            var key = new object();
            Table.Add(key, new object());
            GCHandle handle = GCHandle.Alloc(new object(), GCHandleType.Weak);
            Garbage();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Garbage();
            GC.Collect(2, GCCollectionMode.Forced, true, true);
            GC.WaitForPendingFinalizers();
            handle.Free();
            GC.KeepAlive(key);
        }
    }

    public static class Guest
    {
        public static int Visit()
        {
            return 1;
        }
    }
}
