using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Language
{
    internal static class Spans
    {
        private ref struct Words
        {
            private ReadOnlySpan<char> left;

            public Words(ReadOnlySpan<char> text)
            {
                left = text;
                Current = default;
            }

            public ReadOnlySpan<char> Current { get; private set; }

            public Words GetEnumerator() => this;

            public bool MoveNext()
            {
                if (left.IsEmpty)
                {
                    return false;
                }
                int end = left.IndexOf(' ');
                Current = end < 0 ? left : left[..end];
                left = end < 0 ? default : left[(end + 1)..];
                return true;
            }

            public void Dispose() => Console.WriteLine("disposed of");
        }

        private readonly struct Large
        {
            internal readonly long A, B, C;

            internal Large(long a)
            {
                (A, B, C) = (a, a * 2, a * 3);
            }

            internal long Sum(in Large other) => A + other.B + other.C;
        }

        internal static void Run()
        {
            foreach (ReadOnlySpan<char> word in new Words("the quick brown fox".AsSpan()))
            {
                Console.Write(word.Length + " ");
            }
            Span<int> stack = stackalloc int[5];
            for (int i = 0; i < stack.Length; i++)
            {
                stack[i] = i * i;
            }
            Console.WriteLine(stack[^1] + " " + stack[1..3].Length + " " + Total(stack));
            int[] data = { 1, 2, 3 };
            Find(data, 2) = 20;
            ref int last = ref data[^1];
            last += 5;
            ref readonly int least = ref Least(data);
            data[0] = -7;
            Console.WriteLine(string.Join(",", data) + " " + least);
            var large = new Large(5);
            Console.WriteLine(large.Sum(large) + " " + large.Sum(new Large(1)));
            Span<byte> bytes = MemoryMarshal.AsBytes(stack);
            Console.WriteLine(bytes.Length + " " + bytes[8]);
            Console.WriteLine(data is [_, .., var end] ? "ends with " + end : "is short");
            try
            {
                Find(data, 99)++;
            }
            catch (KeyNotFoundException e) when (e.Message == "99")
            {
                Sections.Show(e);
            }
            try
            {
                Beyond(stack, 5);
            }
            catch (IndexOutOfRangeException e)
            {
                Sections.Show(e);
            }
            try
            {
                Console.WriteLine(Total(stack[..
                    7]));
            }
            catch (ArgumentOutOfRangeException e)
            {
                Sections.Show(e);
            }
        }

        private static ref int Find(int[] values, int value)
        {
            for (int i = 0; i < values.Length; i++)
                if (values[i] == value)
                    return ref values[i];
            throw new KeyNotFoundException(value.ToString());
        }

        private static ref readonly int Least(ReadOnlySpan<int> values)
        {
            ref readonly int least = ref values[0];
            for (int i = 1; i < values.Length; i++)
            {
                if (values[i] < least)
                    least = ref values[i];
            }
            return ref least;
        }

        private static int Total(ReadOnlySpan<int> values)
        {
            int total = 0;
            foreach (ref readonly int value in values)
                total += value;
            return total;
        }

        private static void Beyond(Span<int> values, int index)
        {
            values[index]
                = 1;
        }
    }
}
