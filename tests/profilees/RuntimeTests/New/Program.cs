// Functions of managed code that native code calls without a delegate (.NET 5).
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace RuntimeTests
{
    internal static class Program
    {
        [DllImport("libc", EntryPoint = "bsearch")]
        private static extern IntPtr SearchBlittable(IntPtr key, IntPtr items, UIntPtr count, UIntPtr size, IntPtr compare);

        [DllImport("libc", EntryPoint = "bsearch", CharSet = CharSet.Ansi)]
        private static extern IntPtr SearchText(string key, IntPtr items, UIntPtr count, UIntPtr size, IntPtr compare);

        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
        private static int Compare(IntPtr key, IntPtr item)
        {
            return 0;
        }

        private static unsafe int Main(string[] arguments)
        {
            IntPtr function = (IntPtr)(delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int>)&Compare;
            IntPtr items = Marshal.AllocHGlobal(8);
            IntPtr found = arguments[0] == "blittable"
                ? SearchBlittable(items, items, (UIntPtr)1, (UIntPtr)8, function)
                : SearchText("key", items, (UIntPtr)1, (UIntPtr)8, function);
            Console.WriteLine(found == items);
            Marshal.FreeHGlobal(items);
            Console.WriteLine("end of " + arguments[0]);
            return 100;
        }
    }
}
