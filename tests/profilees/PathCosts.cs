// Times reads of members by code that a tracer has compiled into methods, and by the program's own: `PathCosts ROUNDS`. A line for each
// round has, for each method, the nanoseconds of a call. Code is warm before the first line.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace PathCosts
{
    public sealed class Node
    {
        public Node Next { get; set; }
        public int Number;
    }

    public static class Traced
    {
        // One member, 100 more by fields, and 100 more by getters.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Short(Node node) { return 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Fields(Node node) { return 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Getters(Node node) { return 1; }
    }

    public static class Direct
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Short(Node node) { return node.Number; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Long(Node node)
        {
            return node
                .Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next
                .Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next
                .Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next
                .Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next
                .Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next.Next
                .Number;
        }
    }

    public static class Program
    {
        // So many spans wait until the tracer takes them.
        private const int Calls = 500;

        private static readonly Func<Node, int>[] Ways = { Direct.Short, Direct.Long, Traced.Short, Traced.Fields, Traced.Getters };

        private static int sum;

        public static int Main(string[] arguments)
        {
            int rounds = int.Parse(arguments[0]);
            Node first = null, last = null;
            for (int i = 0; i < 8; i++)
            {
                first = new Node { Next = first, Number = i };
                last = last ?? first;
            }
            last.Next = first;
            // Until the last tier is there.
            for (int i = 0; i < 60; i++)
            {
                Round(first);
            }
            for (int i = 0; i < rounds; i++)
            {
                Console.WriteLine(Round(first));
            }
            return 0;
        }

        private static string Round(Node node)
        {
            var line = new StringBuilder();
            foreach (Func<Node, int> way in Ways)
            {
                Thread.Sleep(12);
                long ticks = Stopwatch.GetTimestamp();
                for (int i = 0; i < Calls; i++)
                {
                    sum += way(node);
                }
                double time = (Stopwatch.GetTimestamp() - ticks) * 1e9 / Stopwatch.Frequency / Calls;
                line.Append(time.ToString("F2", CultureInfo.InvariantCulture)).Append(' ');
            }
            return line.ToString();
        }
    }
}
