using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Shapes
{
    internal unsafe struct Fixed
    {
        public fixed int Values[8];
        public int Count;
    }

    internal struct Cursor
    {
        public int Position;

        // `this` is a managed pointer.
        public int Forward(int by)
        {
            Position += by;
            return Position;
        }
    }

    internal ref struct Window
    {
        private Span<int> over;
        public int Reads;

        public Window(Span<int> over)
        {
            this.over = over;
            Reads = 0;
        }

        public int Read(int index)
        {
            Reads++;
            return over[index];
        }

        public Window Narrow(int start)
        {
            return new Window(over.Slice(start));
        }
    }

    // By-refs, by-ref-like types, pointers, memory of the stack.
    internal static unsafe class Pointers
    {
        private static int* Larger(int* a, int* b)
        {
            return *a > *b ? a : b;
        }

        private static int Through(int** place)
        {
            return ++**place;
        }

        private static void* Nowhere()
        {
            return null;
        }

        private static int StackAlloc(int count)
        {
            int* squares = stackalloc int[count];
            for (int index = 0; index < count; index++)
                squares[index] = index * index;
            int sum = 0;
            for (int* place = squares; place < squares + count; place++)
                sum += *place;
            return sum;
        }

        private static int StackAllocReturns(int count)
        {
            byte* bytes = stackalloc byte[count];
            if (count == 0)
                return -1;
            for (int index = 0; index < count; index++)
                if (bytes[index] != 0)
                    return index;
            return count;
        }

        private static int FixedArray(int[] values)
        {
            fixed (int* first = values)
            {
                if (first == null)
                    return -1;
                int* last = first + values.Length - 1;
                return *first - *last;
            }
        }

        private static int FixedString(string text)
        {
            int sum = 0;
            fixed (char* first = text)
                for (char* place = first; *place != 0; place++)
                    sum += *place;
            return sum;
        }

        private static int FixedBuffer(int count)
        {
            Fixed buffer = new Fixed();
            for (int index = 0; index < count; index++)
                buffer.Values[index] = index + 1;
            buffer.Count = count;
            int product = 1;
            for (int index = 0; index < buffer.Count; index++)
                product *= buffer.Values[index];
            return product;
        }

        private static ref int Choose(bool first, ref int a, ref int b)
        {
            if (first)
                return ref a;
            return ref b;
        }

        private static ref int FirstAbove(int[] values, int limit)
        {
            for (int index = 0; index < values.Length; index++)
                if (values[index] > limit)
                    return ref values[index];
            throw new InvalidOperationException("none above " + limit);
        }

        private static int shared = 5;

        private static ref int Shared()
        {
            return ref shared;
        }

        private static void Exchange(ref int a, ref int b, out int sum)
        {
            int kept = a;
            a = b;
            b = kept;
            sum = a + b;
        }

        private static Span<int> Middle(Span<int> span)
        {
            return span.Slice(1, span.Length - 2);
        }

        private static ReadOnlySpan<char> Word(string text, int start)
        {
            int end = text.IndexOf(' ', start);
            if (end < 0)
                return text.AsSpan(start);
            return text.AsSpan(start, end - start);
        }

        private static int SumSpan(ReadOnlySpan<int> span)
        {
            int sum = 0;
            foreach (int value in span)
                sum += value;
            return sum;
        }

        private static int OnStack()
        {
            int* place = stackalloc int[6];
            Span<int> span = new Span<int>(place, 6);
            for (int index = 0; index < span.Length; index++)
                span[index] = index + 1;
            return SumSpan(Middle(span));
        }

        private static Window Open(int[] values)
        {
            return new Window(values);
        }

        private static int Windows()
        {
            Window window = Open(new[] { 1, 2, 3, 4 });
            Window narrow = window.Narrow(2);
            return window.Read(1) * 100 + narrow.Read(1) * 10 + window.Reads + narrow.Reads;
        }

        private static int SpanInTry(int[] values, int index)
        {
            Span<int> span = values;
            try
            {
                return span[index];
            }
            catch (IndexOutOfRangeException)
            {
                return span.Length;
            }
            finally
            {
                span[0]++;
            }
        }

        private static int MoveCursor()
        {
            Cursor cursor = new Cursor();
            cursor.Forward(3);
            Cursor copy = cursor;
            copy.Forward(10);
            return cursor.Forward(1) * 100 + copy.Position;
        }

        private static int Arguments(int first, __arglist)
        {
            return first;
        }

        private static T Read<T>(byte[] bytes, int offset) where T : struct
        {
            return MemoryMarshal.Read<T>(new ReadOnlySpan<byte>(bytes, offset, bytes.Length - offset));
        }

        private static int Reinterpreted(float value)
        {
            return *(int*)&value;
        }

        private static int SizeOfAll()
        {
            return sizeof(Cursor) + sizeof(Fixed) + sizeof(Mixed) + sizeof(decimal);
        }

        private static long Rows(int[,] table, long[,,] cube)
        {
            ref int corner = ref table[1, 1];
            corner += 5;
            cube[1, 0, 1] = corner;
            long sum = 0;
            foreach (long value in cube)
                sum += value;
            return sum;
        }

        public static void All()
        {
            int one = 1, two = 2;
            Check.Same("Larger", 2, *Larger(&one, &two));
            int* place = &one;
            Check.Same("Through", 2, Through(&place));
            Check.True("Nowhere", Nowhere() == null);
            Check.Same("StackAlloc", 285, StackAlloc(10));
            Check.Same("StackAlloc", 0, StackAlloc(0));
            Check.Same("StackAllocReturns", 17, StackAllocReturns(17));
            Check.Same("StackAllocReturns", -1, StackAllocReturns(0));
            Check.Same("FixedArray", -2, FixedArray(new[] { 1, 2, 3 }));
            Check.Same("FixedArray", -1, FixedArray(new int[0]));
            Check.Same("FixedString", 294, FixedString("abc"));
            Check.Same("FixedBuffer", 720, FixedBuffer(6));
            int a = 10, b = 20, sum;
            Choose(true, ref a, ref b) += 5;
            Choose(false, ref a, ref b) *= 2;
            Check.Same("Choose", 1540, a * 100 + b);
            int[] values = { 1, 5, 9 };
            FirstAbove(values, 3) = 50;
            Check.Same("FirstAbove", 50, values[1]);
            Check.Throws<InvalidOperationException>("FirstAbove", () => FirstAbove(values, 100)++, "none above 100");
            Check.Same("Shared", 5, Shared());
            Exchange(ref a, ref b, out sum);
            Check.Same("Exchange", 40 * 10000 + 15 * 100 + 55, a * 10000 + b * 100 + sum);
            Check.Same("Middle", 3, Middle(new[] { 1, 2, 3, 4, 5 }).Length);
            Check.Throws<ArgumentOutOfRangeException>("Middle", () => Middle(new int[1]));
            Check.Same("Word", "two", Word("one two three", 4).ToString());
            Check.Same("Word", "three", Word("one two three", 8).ToString());
            Check.Same("OnStack", 14, OnStack());
            Check.Same("Windows", 242, Windows());
            int[] tried = { 7, 8 };
            Check.Same("SpanInTry", 8, SpanInTry(tried, 1));
            Check.Same("SpanInTry", 2, SpanInTry(tried, 2));
            Check.Same("SpanInTry", 9, tried[0]);
            Check.Same("MoveCursor", 413, MoveCursor());
            Check.Same("Read", 0x04030201, Read<int>(new byte[] { 0, 1, 2, 3, 4 }, 1));
            Check.Same("Read", 0x0201, Read<short>(new byte[] { 1, 2, 3 }, 0));
            Check.Same("Reinterpreted", 0x40000000, Reinterpreted(2));
            Check.Same("SizeOfAll", 4 + 36 + 16 + 16, SizeOfAll());
            Check.Same("Rows", 12, Rows(new[,] { { 1, 2 }, { 3, 7 } }, new long[2, 1, 2]));
        }
    }
}
