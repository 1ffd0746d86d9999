// The smallest program: what the start of the runtime costs.
using System;

internal static class Hello
{
    private static void Main()
    {
        Console.WriteLine("Hello");
    }
}
