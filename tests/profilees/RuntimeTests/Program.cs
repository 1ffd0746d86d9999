// The program of the tests that the runtime has of its profiling interface, done again: the first argument
// is the case. Each case prints one line at its end.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace RuntimeTests
{
    internal static class Program
    {
        private static readonly Dictionary<string, Action<string[]>> Cases = new Dictionary<string, Action<string[]>>
        {
            ["collect"] = _ => Heap.Collect(),
            ["allocate"] = _ => Heap.Allocate(),
            ["literals"] = _ => Heap.Literals(),
            ["classes"] = _ => Heap.AllocateByClass(),
            ["heap"] = a => Heap.Enumerate(a[1]),
            ["handles"] = _ => Heap.Handles(),
            ["arguments"] = _ => Values.Arguments(),
            ["results"] = _ => Values.Results(),
            ["transitions"] = a => Transitions.Run(a[1] == "blittable"),
            ["rejit"] = _ => Inlined.Rejit(),
            ["inlining"] = _ => Inlined.Inlining(),
            ["write"] = _ => Events.Write(),
            ["read"] = _ => Events.Read(),
            ["nothing"] = _ => { },
            ["throw"] = _ => Throws.Run(),
            ["waits"] = _ => Throws.Wait(),
            ["contexts"] = _ => Loading.Contexts(),
            ["optimization"] = _ => Loading.Optimization(),
            ["statics"] = _ => Loading.Statics(),
            ["unload"] = _ => Loading.Classes(),
            ["dynamic"] = _ => Loading.Dynamic(),
            ["async"] = a => Asynchronous.Run(a[1]),
        };

        private static int Main(string[] arguments)
        {
            Cases[arguments[0]](arguments);
            Console.WriteLine("end of " + arguments[0]);
            return 100;
        }
    }

    // Methods whose bodies profilers replace by calls of their own functions.
    internal static class Profiler
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Call(int what) { return -1; }
    }

    // The garbage collector and the heap.
    internal static class Heap
    {
        // An array on the pinned object heap, which .NET Core 3.1 does not have.
        private static object Pinned(int length)
        {
            MethodInfo allocate = typeof(GC).GetMethod("AllocateArray");
            if (allocate == null)
                return new byte[length];
            return allocate.MakeGenericMethod(typeof(byte)).Invoke(null, new object[] { length, true });
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Collect()
        {
            object pinned = Pinned(1000);
            object[] holder = { pinned, new byte[100000] };
            for (int i = 0; i < 12; i++)
            {
                for (int j = 0; j < 2000; j++)
                    GC.KeepAlive(new object[10]);
                GC.Collect(i % 3);
            }
            GC.KeepAlive(holder);
            GC.KeepAlive(pinned);
        }

        internal static void Allocate()
        {
            for (int i = 0; i < 10; i++)
            {
                GC.KeepAlive(new byte[200000]);
                GC.KeepAlive(Pinned(1000));
                GC.KeepAlive(new object());
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Literals()
        {
            string[] literals = { "one literal", "another literal", "a third one" };
            GC.Collect();
            Type[] types = { typeof(List<CustomHeapObject>), typeof(Dictionary<Counted, string>) };
            GC.Collect();
            GC.KeepAlive(literals);
            GC.KeepAlive(types);
        }

        // Many types of which instances exist, and collections meanwhile, at each of which the runtime counts
        // the new objects by their types. For each line of the input, one more round.
        internal static void AllocateByClass()
        {
            Type type = typeof(object);
            var arrays = new List<Type>();
            for (int i = 0; i < 25; i++)
            {
                type = typeof(List<>).MakeGenericType(type);
                Type array = type;
                for (int j = 0; j < 8; j++)
                {
                    array = array.MakeArrayType();
                    arrays.Add(array);
                }
            }
            Console.WriteLine("ready");
            while (Console.ReadLine() is string line && line != "end")
            {
                foreach (Type array in arrays)
                    GC.KeepAlive(Array.CreateInstance(array.GetElementType(), 0));
                for (int i = 0; i < 20000; i++)
                    GC.KeepAlive(new Counted());
                GC.Collect();
                Console.WriteLine("allocated " + line);
            }
        }

        private sealed class Counted
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Enumerate(string how)
        {
            var one = new CustomHeapObject();
            var many = new object[1000];
            for (int i = 0; i < many.Length; i++)
                many[i] = new object();
            bool[] done = { false };
            Thread competitor = null;
            if (how == "collecting")
            {
                competitor = new Thread(() =>
                {
                    while (!Volatile.Read(ref done[0]))
                    {
                        GC.Collect();
                        // Without a rest, .NET Core 3.1 can leave the other thread no time for minutes.
                        Thread.Sleep(1);
                    }
                });
                competitor.Start();
            }
            for (int i = 0; i < (how == "collecting" ? 5 : 1); i++)
                Profiler.Call(how == "suspended" ? 1 : 0);
            Volatile.Write(ref done[0], true);
            competitor?.Join();
            GC.KeepAlive(one);
            GC.KeepAlive(many);
        }

        private sealed class CustomHeapObject
        {
        }

        internal static void Handles()
        {
            Instances();
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                Look();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Instances()
        {
            GC.KeepAlive(new WeaklyHeld());
            GC.KeepAlive(new StronglyHeld());
            GC.KeepAlive(new PinnedHeld());
        }

        // An allocation at which the profiler looks at the objects of its handles.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Look()
        {
            GC.KeepAlive(new LookNow());
        }

        private sealed class WeaklyHeld
        {
        }

        private sealed class StronglyHeld
        {
        }

        private sealed class PinnedHeld
        {
        }

        private sealed class LookNow
        {
        }
    }
}
