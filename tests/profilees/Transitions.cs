// Calls native code, which calls back.
using System;
using System.Runtime.InteropServices;

namespace Transitions
{
    internal static class Program
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int Comparison(IntPtr left, IntPtr right);

        [DllImport("libc", EntryPoint = "abs")]
        private static extern int Absolute(int value);

        [DllImport("libc", EntryPoint = "qsort")]
        private static extern void Sort(int[] numbers, UIntPtr count, UIntPtr size, Comparison comparison);

        private static int compared;

        private static int Main()
        {
            // The C library of Windows.
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
                NativeLibrary.SetDllImportResolver(typeof(Program).Assembly, (name, assembly, path) => NativeLibrary.Load("msvcrt"));
            Console.WriteLine(Absolute(-5) + " " + Absolute(6));
            int[] numbers = { 9, 4 };
            Sort(numbers, (UIntPtr)2, (UIntPtr)4, Compare);
            Console.WriteLine(numbers[0] + " " + numbers[1] + " " + compared);
            return 9;
        }

        private static int Compare(IntPtr left, IntPtr right)
        {
            compared++;
            return Marshal.ReadInt32(left).CompareTo(Marshal.ReadInt32(right));
        }
    }
}
