// Waits, and answers once in a while, as a service without many requests does: `Seldom ANSWERS`.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

public static class Seldom
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Answer(int number)
    {
        return number % 7;
    }

    private static int Main(string[] args)
    {
        int sum = 0;
        for (int i = 0; i < int.Parse(args[0]); i++)
        {
            Thread.Sleep(20);
            sum += Answer(i);
        }
        Console.WriteLine(sum);
        return 0;
    }
}
