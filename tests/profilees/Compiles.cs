// `Compiles.dll COUNT` makes the runtime compile COUNT methods of its core library: those of the
// types whose names come first in the alphabet.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

static class Program
{
    static void Main(string[] arguments)
    {
        int left = int.Parse(arguments[0]);
        const BindingFlags All = BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.NonPublic
            | BindingFlags.Static | BindingFlags.Instance;
        var types = typeof(object).Assembly.GetTypes().Where(type => !type.ContainsGenericParameters);
        foreach (var type in types.OrderBy(type => type.FullName, StringComparer.Ordinal))
        {
            foreach (var method in type.GetMethods(All))
            {
                if (method.IsAbstract || method.ContainsGenericParameters || method.GetMethodBody() == null)
                    continue;
                if (left-- == 0)
                    return;
                try
                {
                    RuntimeHelpers.PrepareMethod(method.MethodHandle);
                }
                catch (Exception)
                {
                    // For example, code for another processor.
                }
            }
        }
    }
}
