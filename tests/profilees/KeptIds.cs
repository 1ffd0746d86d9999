// Loads itself into contexts that it unloads again, and starts threads that end: as many of each as the
// argument says.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace KeptIds
{
    public struct Pair
    {
        public int First;
        public string Second;
    }

    public sealed class Item
    {
        public int Number;
    }

    public sealed class Box<T>
    {
        public T Value;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Get()
        {
            return Value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static U Through<U>(U value)
        {
            return value;
        }
    }

    public static class Program
    {
        private static volatile bool over;

        private static int Main(string[] arguments)
        {
            int count = int.Parse(arguments[0]);
            byte[] image = File.ReadAllBytes(typeof(Program).Assembly.Location);
            var collector = new Thread(() =>
            {
                while (!over)
                {
                    GC.Collect();
                    Thread.Sleep(1);
                }
            });
            collector.Start();
            var starter = new Thread(() =>
            {
                for (int i = 0; i < count; i++)
                {
                    var thread = new Thread(() => Thread.Sleep(0));
                    thread.Start();
                    thread.Join();
                }
            });
            starter.Start();
            int sum = 0;
            int alive = 0;
            for (int i = 0; i < count; i++)
            {
                WeakReference context = Use(image, ref sum);
                for (int n = 0; context.IsAlive && n < 200; n++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
                alive += context.IsAlive ? 1 : 0;
            }
            starter.Join();
            over = true;
            collector.Join();
            Console.WriteLine("sum " + sum / count + " alive " + alive);
            return 6;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use(byte[] image, ref int sum)
        {
            var context = new AssemblyLoadContext("kept", true);
            Assembly again = context.LoadFromStream(new MemoryStream(image));
            MethodInfo work = again.GetType("KeptIds.Program").GetMethod("Work");
            sum += (int)work.Invoke(null, null);
            context.Unload();
            return new WeakReference(context);
        }

        // Its types as arguments of generics of the core library, as structures and as classes.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Work()
        {
            var pairs = new List<Pair> { new Pair { First = 1, Second = "one" } };
            var items = new List<Item> { new Item { Number = 2 } };
            var both = new Dictionary<string, Pair> { { "three", new Pair { First = 3 } } };
            var keyed = new Dictionary<Pair, Item>();
            keyed[pairs[0]] = items[0];
            var arrays = new Pair[2][];
            arrays[0] = pairs.ToArray();
            Func<Pair, Item> function = pair => new Item { Number = pair.First };
            var box = new Box<Pair> { Value = pairs[0] };
            var other = new Box<Item> { Value = items[0] };
            int through = Box<Item>.Through(arrays)[0][0].First + Box<Pair>.Through(other).Get().Number;
            return box.Get().First + function(pairs[0]).Number + both["three"].First + keyed.Count + through;
        }
    }
}
