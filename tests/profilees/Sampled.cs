using System;
using System.Runtime.CompilerServices;
using System.Threading;

// Uses processors in ways that are hard to sample. `Sampled.dll WAY MILLISECONDS THREADS`:
// `faults` catches hardware exceptions; `copies` and `locks` spend most of the time in a loop of calls, and little in a
// copy of 32 references, or below a lock, between two such loops; `threads` starts threads that end soon.
namespace Sampled
{
    public sealed class Node
    {
        public int Value;
    }

    public static class Program
    {
        private static readonly Node[] From = Nodes();
        private static readonly Node[] To = new Node[32];
        private static readonly object Gate = new object();
        private static int sink;

        public static int Main(string[] args)
        {
            int end = Environment.TickCount + int.Parse(args[1]);
            int count = int.Parse(args[2]);
            var threads = new Thread[count];
            for (int i = 0; i < count; i++)
            {
                threads[i] = new Thread(() => Run(args[0], end));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            Console.WriteLine("sampled");
            return 0;
        }

        private static void Run(string way, int end)
        {
            while (Environment.TickCount - end < 0)
            {
                switch (way)
                {
                    case "faults":
                        Faults();
                        break;
                    case "copies":
                        Compute();
                        Copies();
                        break;
                    case "locks":
                        Compute();
                        Locks();
                        break;
                    default:
                        var thread = new Thread(Compute);
                        thread.Start();
                        thread.Join();
                        break;
                }
            }
        }

        private static Node[] Nodes()
        {
            var nodes = new Node[32];
            for (int i = 0; i < nodes.Length; i++)
            {
                nodes[i] = new Node { Value = i };
            }
            return nodes;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Faults()
        {
            try
            {
                sink += Read(null);
            }
            catch (NullReferenceException)
            {
                sink++;
            }
            try
            {
                sink += Divide(1, 0);
            }
            catch (DivideByZeroException)
            {
                sink++;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Read(Node node)
        {
            return node.Value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Divide(int left, int right)
        {
            return left / right;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Compute()
        {
            int value = sink;
            for (int i = 0; i < 20000; i++)
            {
                value = Leaf(value);
            }
            sink = value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Leaf(int value)
        {
            return value * 1103515245 + 12345;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Copies()
        {
            Array.Copy(From, To, 32);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Locks()
        {
            lock (Gate)
            {
                sink++;
            }
        }
    }
}
