// Causes every event of a runtime once, and loads and unloads itself meanwhile, so that profilers can keep
// stale ids. In its middle it waits for the file that PROBE_GATE names, if that is set. With
// PROBE_LISTS=0 it leaves out code after which .NET 8.0 cannot walk the heap: lists of types that are unloaded,
// whose empty arrays remain.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

namespace Probe
{
    public struct Pair
    {
        public int A;
        public long B;
    }

    public struct Other
    {
        public string Text;
    }

    public class Node
    {
        public int X;
        public Node Next;
        public static int Count;
        public static string Name = "node";
        [ThreadStatic]
        public static int OfThread;
    }

    public class Cell<T>
    {
        public static T Shared;
        public T Value;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Get()
        {
            return Value;
        }
    }

    public class Finalized
    {
        public static int Count;

        ~Finalized()
        {
            Count++;
        }
    }

    [EventSource(Name = "Probe-Source")]
    public sealed class Source : EventSource
    {
        [Event(1)]
        public void Happened(int what)
        {
            WriteEvent(1, what);
        }
    }

    public static class Program
    {
        private static Pair[] pairs;
        private static Node[] nodes;
        private static Pair[][] nested;
        private static object kept;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int Comparison(IntPtr left, IntPtr right);

        [DllImport("libc", EntryPoint = "abs")]
        private static extern int Absolute(int value);

        [DllImport("libc", EntryPoint = "qsort")]
        private static extern void Sort(int[] numbers, UIntPtr count, UIntPtr size, Comparison comparison);

        private static int Main()
        {
            Console.WriteLine("first " + Act<Pair>(1));
            for (int i = 0; i < 3; i++)
            {
                Unload(i);
            }
            Gate();
            Console.WriteLine("second " + Act<Other>(2));
            Unload(3);
            Console.WriteLine("third " + Act<DateTime>(3));
            Console.WriteLine("hot " + Hot(5));
            return 17;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Gate()
        {
            string gate = Environment.GetEnvironmentVariable("PROBE_GATE");
            for (int i = 0; gate != null && i < 10000 && !File.Exists(gate); i++)
            {
                Thread.Sleep(1);
            }
        }

        private static void Unload(int number)
        {
            WeakReference context = Load(number);
            for (int n = 0; context.IsAlive && n < 100; n++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Console.WriteLine("unloaded " + !context.IsAlive);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Load(int number)
        {
            var context = new AssemblyLoadContext("number " + number, true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            MethodInfo plug = again.GetType("Probe.Program").GetMethod("Plug");
            Console.WriteLine(plug.Invoke(null, new object[] { number }));
            context.Unload();
            return new WeakReference(context);
        }

        // The work of the contexts that are unloaded: their types in types of the core library.
        public static string Plug(int number)
        {
            var map = new Dictionary<Pair, Node> { [new Pair()] = new Node() };
            bool hasLists = Environment.GetEnvironmentVariable("PROBE_LISTS") != "0";
            ICollection<Pair> list = hasLists ? new List<Pair>() : new LinkedList<Pair>();
            list.Add(new Pair { A = number });
            ICollection<Node> others = hasLists ? new List<Node>() : new LinkedList<Node>();
            others.Add(new Node());
            pairs = new Pair[3];
            nodes = new Node[3];
            nested = new Pair[2][];
            Cell<int>.Shared = 4;
            Cell<Pair>.Shared = new Pair();
            new Cell<Pair>().Get();
            new Cell<Node>().Get();
            Same(new Pair());
            Same(others);
            Node.Count += Hot(number);
            Node.OfThread = 3;
            Func<Pair, int> first = pair => pair.A;
            Array.Sort(pairs, (left, right) => left.A - right.A);
            var tuple = Tuple.Create(new Pair(), 3);
            return "plug " + first(list.First()) + list.Count + map.Count + tuple.Item2 + pairs.Length + nodes.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T Same<T>(T value)
        {
            return value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Hot(int count)
        {
            int sum = 0;
            for (int i = 0; i < count; i++)
            {
                sum += i;
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Act<T>(int number)
        {
            string did = "";
            new Cell<T>().Get();
            did += Hot(number);
            did += Threads<T>();
            did += Throws<T>(number);
            did += Dynamic<T>(number);
            did += Native<T>();
            did += Handles<T>();
            did += Traces<T>(number);
            did += Collects<T>();
            return did;
        }

        private static string Threads<T>()
        {
            int ran = 0;
            for (int i = 0; i < 3; i++)
            {
                var thread = new Thread(() =>
                {
                    new Cell<T[]>().Get();
                    Node.OfThread = 1;
                    ran++;
                });
                thread.Name = "Probe " + i;
                thread.Start();
                thread.Join();
            }
            return " threads " + ran;
        }

        private static string Throws<T>(int number)
        {
            string seen = "";
            try
            {
                try
                {
                    Throw<T>(number);
                }
                finally
                {
                    seen += "finally ";
                }
            }
            catch (InvalidOperationException e) when (Hot(number) >= 0)
            {
                seen += e.Message;
            }
            return " " + seen;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw<T>(int number)
        {
            throw new InvalidOperationException(typeof(T).Name + number);
        }

        private static string Dynamic<T>(int number)
        {
            var method = new DynamicMethod("Dynamic", typeof(int), new[] { typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, number);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            var run = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
            AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(
                new AssemblyName("Built" + number), AssemblyBuilderAccess.Run);
            TypeBuilder type = assembly.DefineDynamicModule("Built").DefineType("Built", TypeAttributes.Public);
            MethodBuilder built = type.DefineMethod(
                "Answer", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
            il = built.GetILGenerator();
            il.Emit(OpCodes.Ldc_I4, number);
            il.Emit(OpCodes.Ret);
            object answer = type.CreateTypeInfo().AsType().GetMethod("Answer").Invoke(null, null);
            return " dynamic " + run(1) + answer;
        }

        private static string Native<T>()
        {
            int[] numbers = { 9, 4 };
            Sort(numbers, (UIntPtr)2, (UIntPtr)4, Compare);
            return " native " + Absolute(-5) + numbers[0];
        }

        private static int Compare(IntPtr left, IntPtr right)
        {
            return Marshal.ReadInt32(left).CompareTo(Marshal.ReadInt32(right));
        }

        private static string Handles<T>()
        {
            var target = new T[2];
            foreach (GCHandleType type in new[] { GCHandleType.Weak, GCHandleType.Normal })
            {
                GCHandle handle = GCHandle.Alloc(target, type);
                handle.Target = null;
                handle.Free();
            }
            var table = new ConditionalWeakTable<object, Node>();
            table.Add(target, new Node());
            kept = table;
            return " handles";
        }

        private static string Traces<T>(int number)
        {
            using (var source = new Source())
            {
                source.Happened(number);
            }
            return " traces";
        }

        private static string Collects<T>()
        {
            Drop<T>();
            var held = new List<object>();
            for (int i = 0; i < 2000; i++)
            {
                object made = new T[i % 7];
                if (i % 9 == 0)
                {
                    held.Add(made);
                    held.Add(new Node { Next = new Node() });
                }
            }
            GC.Collect(0);
            GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
            GC.Collect(2, GCCollectionMode.Forced, true, true);
            GC.WaitForPendingFinalizers();
            return " collects " + held.Count;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Drop<T>()
        {
            new Finalized();
            Same(new Cell<T>());
        }
    }
}
