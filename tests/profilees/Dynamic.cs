// Creates methods, assemblies and load contexts without files, and unloads them again.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Dynamic
{
    public static class Program
    {
        private static int Main()
        {
            Console.WriteLine("made " + Made());
            for (int i = 0; i < 10; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Type built = Build();
            Console.WriteLine("built " + built.GetMethod("Add").Invoke(null, new object[] { 3, 4 }));
            Step("built");
            byte[] symbols = new byte[300];
            for (int i = 0; i < symbols.Length; i++)
                symbols[i] = (byte)i;
            Assembly again = Assembly.Load(File.ReadAllBytes(typeof(Program).Assembly.Location), symbols);
            Console.WriteLine("again " + again.GetType("Dynamic.Guest").GetMethod("Visit").Invoke(null, null));
            Step("symbols");
            Console.WriteLine("unloaded " + Unloads());
            return 10;
        }

        private static void Step(string name)
        {
            // A profiler reacts to the name.
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Made()
        {
            var method = new DynamicMethod("TwiceAdded", typeof(int), new[] { typeof(int), typeof(string) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Dup);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            return ((Func<int, string, int>)method.CreateDelegate(typeof(Func<int, string, int>)))(21, null);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Type Build()
        {
            AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Built"), AssemblyBuilderAccess.Run);
            ModuleBuilder module = assembly.DefineDynamicModule("Built");
            // A method that never has IL.
            TypeBuilder shape = module.DefineType("Shape", TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Interface);
            shape.DefineMethod("Area", MethodAttributes.Public | MethodAttributes.Abstract | MethodAttributes.Virtual | MethodAttributes.NewSlot, typeof(int), Type.EmptyTypes);
            shape.CreateTypeInfo();
            TypeBuilder type = module.DefineType("Sums", TypeAttributes.Public);
            MethodBuilder method = type.DefineMethod("Add", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int), typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            return type.CreateTypeInfo().AsType();
        }

        private static int Unloads()
        {
            int unloaded = 0;
            for (int i = 0; i < 3; i++)
            {
                WeakReference context = Use(i);
                for (int n = 0; context.IsAlive && n < 100; n++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
                if (!context.IsAlive)
                    unloaded++;
                // The objects of the context are collected in steps, each after the previous one.
                for (int n = 0; n < 10; n++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
            }
            return unloaded;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use(int number)
        {
            var context = new AssemblyLoadContext("number " + number, true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            again.GetType("Dynamic.Guest").GetMethod("Visit").Invoke(null, null);
            context.Unload();
            return new WeakReference(context);
        }
    }

    public class Guest
    {
        private readonly int number = 5;

        public static int Visit()
        {
            return new Guest().number;
        }
    }
}
