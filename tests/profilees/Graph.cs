using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

// A fully known heap: `Graph.dll ENDING [COUNT]`. A snapshot of it finds the objects in the
// comments below. With a COUNT there are also COUNT pairs of a Link and a small array.
namespace Graph
{
    // 1000 of them, each the only one that keeps a B and, through the array of an A, four C.
    public class A
    {
        public int Number;
        public B Own;
        public C[] Several;
        public A Next;
    }

    // Derives from a class with a field of the same kind.
    public class Base
    {
        public C Inherited;
    }

    public class B : Base
    {
        public long First, Second;
        public object Back;
    }

    public class C
    {
        public byte Small;
    }

    // Two that refer to each other, kept alive only by the static field of Program.
    public class Cycle
    {
        public Cycle Other;
        public byte[] Load;
    }

    public struct Pair
    {
        public int Number;
        public object Left, Right;
    }

    public class Structures
    {
        public int Before;
        public Pair Pair;
        public Pair[] Pairs;
        public object[,] Table;
        public object Boxed;
    }

    [StructLayout(LayoutKind.Sequential)]
    public class Pinned { public int Number; }

    public class OnlyWeak { public int Number; }

    public class AlsoWeak { public int Number; }

    public class Attached { public byte[] Load; }

    public class Key { }

    public class Finalized
    {
        public object Kept;

        ~Finalized()
        {
            Program.Finalizing.Set();
            Program.MayEnd.WaitOne();
            GC.KeepAlive(this);
        }
    }

    public class HeldByFinalizer { }

    public class OnStack { public int Number; }

    public class Link
    {
        public Link Next;
        public byte[] Load;
    }

    public class Branch
    {
        public Branch Left, Right;
        public object Load;
    }

    public static class Program
    {
        public static A First;
        public static Cycle Ring;
        public static Structures Structures;
        public static Key Key;
        public static readonly ManualResetEvent Finalizing = new ManualResetEvent(false);
        public static readonly ManualResetEvent MayEnd = new ManualResetEvent(false);
        private static ConditionalWeakTable<Key, Attached> table = new ConditionalWeakTable<Key, Attached>();
        private static AlsoWeak alsoWeak;
        private static GCHandle pinned, weak, weakOfHeld;
        private static Link links;
        private static Branch tree;
        private static string[] texts;

        public static int Main(string[] args)
        {
            Build(args.Length > 1 ? int.Parse(args[1]) : 0, args.Length > 2 ? int.Parse(args[2]) : 0);
            Forget();
            Clear(64);
            GC.Collect();
            // The other one waits for its turn after this one.
            Finalizing.WaitOne();
            GC.Collect();
            var local = new OnStack { Number = 1 };
            // Created before any output: meanwhile the stack refers to the contents of other static fields.
            var input = args[0] == "wait" ? Console.In : null;
            Console.WriteLine("built");
            string line = input != null ? input.ReadLine() : "";
            GC.KeepAlive(local);
            MayEnd.Set();
            Console.WriteLine(line == "more" ? "no" : "ended");
            return args[0] == "exit" ? Exit() : 0;
        }

        private static int Exit()
        {
            Environment.Exit(3);
            return 4;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Build(int count, int branches)
        {
            for (int i = 0; i < 1000; i++)
            {
                var b = new B { Inherited = new C() };
                var a = new A { Own = b, Several = new[] { new C(), null, new C(), new C() }, Next = First };
                b.Back = a;
                First = a;
            }
            Ring = new Cycle { Load = new byte[1000] };
            Ring.Other = new Cycle { Other = Ring, Load = new byte[2000] };
            Structures = new Structures
            {
                Pair = new Pair { Left = new C(), Right = new C() },
                Pairs = new[] { new Pair(), new Pair { Left = new C(), Right = new Key() } },
                Table = new object[2, 3],
                Boxed = new Pair { Right = new Pinned() },
            };
            Structures.Table[1, 2] = new OnlyWeak();
            Structures.Table[1, 2] = new Attached();
            Key = new Key();
            table.Add(Key, new Attached { Load = new byte[3000] });
            pinned = GCHandle.Alloc(new Pinned(), GCHandleType.Pinned);
            alsoWeak = new AlsoWeak();
            weakOfHeld = GCHandle.Alloc(alsoWeak, GCHandleType.Weak);
            weak = GCHandle.Alloc(new OnlyWeak(), GCHandleType.Weak);
            for (int i = 0; i < count; i++)
                links = new Link { Next = links, Load = new byte[i % 32] };
            tree = Tree(branches);
            // Made now, because literals are in no collected memory on some runtimes.
            char end = count < 0 ? 'x' : '!';
            texts = new[]
            {
                new string(end, 300), "a \"quoted\"\ttab" + end, new string('\0', 1) + "\ud83d\ude00" + end,
                "twice" + end, "twice" + end, "\ud800 alone" + end, new string('y', 39) + "\ud83d\ude00" + end,
            };
        }

        private static Branch Tree(int nodes)
        {
            if (nodes == 0)
                return null;
            int left = (nodes - 1) / 2;
            return new Branch { Left = Tree(left), Right = Tree(nodes - 1 - left), Load = nodes % 2 == 0 ? null : new int[1] };
        }

        // The first one's finalizer waits, so that the second one stays in the queue.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Forget()
        {
            new Finalized { Kept = new HeldByFinalizer() };
            new Finalized { Kept = new HeldByFinalizer() };
        }

        // Overwrites the remains of earlier calls.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Clear(int depth)
        {
            long a = depth, b = depth + 1, c = depth + 2, d = depth + 3;
            return depth == 0 ? 0 : Clear(depth - 1) + (int)(a * b - c * d);
        }
    }
}
