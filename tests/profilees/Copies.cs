// Calls a precompiled method that has inlined another one, and prints whether its result is 42.
using System;
using System.Reflection;

namespace Copies
{
    internal static class Program
    {
        private static int Main()
        {
            // By reflection, so that the method is not inlined here itself.
            MethodInfo mixes = typeof(HashCode).GetMethod("ToHashCode");
            object result = mixes.Invoke(new HashCode(), null);
            Console.WriteLine("42 " + result.Equals(42));
            return 3;
        }
    }
}
