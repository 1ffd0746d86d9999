using System;
using System.Runtime.InteropServices;

namespace Language
{
    internal static unsafe class Pointers
    {
        [StructLayout(LayoutKind.Explicit)]
        private struct Either
        {
            [FieldOffset(0)] internal int Whole;
            [FieldOffset(0)] internal byte First;
        }

        private struct Buffer
        {
            internal fixed byte Bytes[8];
            internal int Used;
        }

        internal static void Run()
        {
            int[] numbers = { 1, 2, 3 };
            fixed (int* first = numbers)
            {
                for (int* p = first; p < first + numbers.Length; p++)
                    *p *= 10;
            }
            Console.WriteLine(string.Join(",", numbers));
            var either = new Either { Whole = 0x01020304 };
            Either* at = &either;
            at->First++;
            Console.WriteLine(at->Whole.ToString("x"));
            var buffer = new Buffer();
            while (buffer.Used < 8)
                buffer.Bytes[buffer.Used] = (byte)(buffer.Used++ * 3);
            Console.WriteLine(Sum(buffer.Bytes, buffer.Used) + " " + sizeof(Buffer));
            char* text = stackalloc char[] { 'a', 'b', 'c' };
            Console.WriteLine(new string(text, 0, 3));
            delegate*<int, int, int> f = &Add;
            Console.WriteLine(Apply(f, 3) + Apply(&Multiply, 3));
            delegate*<string, void> write = &Console.WriteLine;
            write("by a pointer");
            try
            {
                Apply(&Divide, 0);
            }
            catch (DivideByZeroException e)
            {
                Sections.Show(e);
            }
            try
            {
                int* nowhere = null;
                *nowhere =
                    1;
            }
            catch (NullReferenceException e)
            {
                Sections.Show(e);
            }
        }

        private static int Sum(byte* bytes, int count)
        {
            int sum = 0;
            while (count-- > 0)
                sum += *bytes++;
            return sum;
        }

        private static int Apply(delegate*<int, int, int> f, int n) => f(f(n, n), n);

        private static int Add(int a, int b) => a + b;

        private static int Multiply(int a, int b) => a * b;

        private static int Divide(int a, int b)
        {
            return a
                / b;
        }
    }
}
