using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// Spends about 70, 20 and 10 % of its processor time in three methods, which all do the same kind of work, and prints the
// shares by its own clock. `Truths.dll WAY MILLISECONDS SEED`.
namespace Truths
{
    public interface IShape
    {
        int Area(int by);
    }

    public sealed class Square : IShape
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Area(int by)
        {
            return by * by;
        }
    }

    public struct Pair : IShape
    {
        public int Left;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Area(int by)
        {
            return Left * by;
        }
    }

    public sealed class Node
    {
        public Node Next;
        public int Value;
    }

    public static class Program
    {
        private static readonly Dictionary<string, int> Known = new Dictionary<string, int>();
        private static readonly Node[] From = Nodes();
        private static readonly Node[] To = new Node[64];
        private static readonly object Gate = new object();
        private static readonly IShape Shape = new Square();
        private static Func<int, int> function = Leaf;
        private static Node last;
        private static int sink;

        public static int Main(string[] args)
        {
            Action work = Work(args[0]);
            long end = Time() + long.Parse(args[1]) * 1000000;
            var random = new Random(int.Parse(args[2]));
            var spent = new long[3];
            // The first calls are compiled before anything is counted.
            work();
            while (Time() < end)
            {
                // Rounds of different lengths: never in step with the sampler.
                int length = random.Next(200000, 1500000);
                spent[0] += Seventy(work, length * 7L);
                spent[1] += Twenty(work, length * 2L);
                spent[2] += Ten(work, length);
            }
            double all = spent[0] + spent[1] + spent[2];
            foreach (long part in spent)
            {
                Console.WriteLine((long)(part / all * 100000));
            }
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Seventy(Action work, long length)
        {
            return Spend(work, length);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Twenty(Action work, long length)
        {
            long spent = Spend(work, length);
            sink++;
            return spent;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Ten(Action work, long length)
        {
            long spent = Spend(work, length);
            sink += 2;
            return spent;
        }

        // Works for so many nanoseconds of processor time; returns how many they were.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Spend(Action work, long length)
        {
            long began = Time(), now = began;
            while (now - began < length)
            {
                work();
                now = Time();
            }
            return now - began;
        }

        [DllImport("libc")]
        private static extern int clock_gettime(int clock, out Moment moment);

        [DllImport("libc")]
        private static extern int abs(int value);

        [StructLayout(LayoutKind.Sequential)]
        private struct Moment
        {
            internal long Seconds;
            internal long Nanoseconds;
        }

        // The processor time of this thread.
        private static long Time()
        {
            clock_gettime(3, out Moment moment);
            return moment.Seconds * 1000000000 + moment.Nanoseconds;
        }

        // Each takes some ten microseconds.
        private static Action Work(string way)
        {
            switch (way)
            {
                case "loops": return Loops;
                case "calls": return Calls;
                case "copies": return Copies;
                case "locks": return Locks;
                case "allocations": return Allocations;
                case "natives": return Natives;
                case "exceptions": return Exceptions;
                case "generics": return Generics;
                case "interfaces": return Interfaces;
                case "delegates": return Delegates;
                case "dictionaries": return Dictionaries;
                case "strings": return Strings;
                default: throw new ArgumentException(way);
            }
        }

        private static Node[] Nodes()
        {
            var nodes = new Node[64];
            for (int i = 0; i < nodes.Length; i++)
            {
                nodes[i] = new Node { Value = i };
                Known["node " + i] = i;
            }
            return nodes;
        }

        private static void Loops()
        {
            int value = sink;
            for (int i = 0; i < 10000; i++)
            {
                value = value * 1103515245 + 12345;
            }
            sink = value;
        }

        private static void Calls()
        {
            int value = sink;
            for (int i = 0; i < 5000; i++)
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

        private static void Copies()
        {
            for (int i = 0; i < 100; i++)
            {
                Array.Copy(From, To, 64);
                To[i % 64] = From[i % 60];
            }
        }

        private static void Locks()
        {
            for (int i = 0; i < 500; i++)
            {
                lock (Gate)
                {
                    sink++;
                }
            }
        }

        private static void Allocations()
        {
            for (int i = 0; i < 500; i++)
            {
                last = new Node { Next = i % 100 == 0 ? null : last, Value = i };
            }
        }

        private static void Natives()
        {
            for (int i = 0; i < 500; i++)
            {
                sink += abs(i - 100);
            }
        }

        private static void Exceptions()
        {
            try
            {
                Throw(3);
            }
            catch (InvalidOperationException)
            {
                sink++;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw(int depth)
        {
            if (depth == 0)
            {
                throw new InvalidOperationException();
            }
            Throw(depth - 1);
            sink++;
        }

        private static void Generics()
        {
            for (int i = 0; i < 500; i++)
            {
                sink += Sum<Pair>(new Pair { Left = i }, 3) + Sum<IShape>(Shape, i);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Sum<T>(T shape, int by) where T : IShape
        {
            return shape.Area(by) + typeof(T).GetHashCode();
        }

        private static void Interfaces()
        {
            IShape shape = Shape;
            for (int i = 0; i < 3000; i++)
            {
                sink += shape.Area(i);
            }
        }

        private static void Delegates()
        {
            Func<int, int> called = function;
            for (int i = 0; i < 3000; i++)
            {
                sink = called(sink);
            }
        }

        private static void Dictionaries()
        {
            for (int i = 0; i < 200; i++)
            {
                Known.TryGetValue(i % 2 == 0 ? "node 7" : "node 77", out int value);
                sink += value;
            }
        }

        private static void Strings()
        {
            for (int i = 0; i < 50; i++)
            {
                sink += string.Concat("number ", i.ToString(), " of fifty").IndexOf('f');
            }
        }
    }
}
