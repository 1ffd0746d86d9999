using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Language
{
    internal static unsafe class Native
    {
        [DllImport("libc")]
        private static extern void qsort(
            int* items, nint count, nint size, delegate* unmanaged[Cdecl]<int*, int*, int> compare);

        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
        private static int Compare(int* a, int* b)
        {
            try
            {
                Check(*a, *b);
                return a->CompareTo(*b);
            }
            catch (InvalidOperationException e)
            {
                Sections.Show(e);
                return 0;
            }
        }

        private static void Check(int a, int b)
        {
            if (a == b)
            {
                throw new InvalidOperationException("equal");
            }
        }

        internal static void Run()
        {
            Span<int> numbers = stackalloc int[] { 3, 1, 2 };
            fixed (int* first = numbers)
            {
                qsort(first, numbers.Length, sizeof(int), &Compare);
            }
            Console.WriteLine(string.Join(",", numbers.ToArray()));
            Span<int> same = stackalloc int[] { 4, 4 };
            fixed (int* first = same)
            {
                qsort(first, same.Length, sizeof(int), &Compare);
            }
        }
    }
}
