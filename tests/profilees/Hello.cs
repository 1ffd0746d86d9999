// The smallest program: the cost of the runtime's start.
using System;

internal static class Hello
{
    private static void Main()
    {
        Console.WriteLine("Hello");
    }
}
