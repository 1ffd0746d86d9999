// Throws exceptions through a filter on several threads while another one collects. Each is caught
// where it must be; the program says so and ends with 0.
using System;
using System.Threading;

internal sealed class Expected : Exception
{
    internal readonly int Number;

    internal Expected(int number)
    {
        Number = number;
    }
}

internal static class Program
{
    private static volatile bool over;

    private static int Main()
    {
        var collector = new Thread(() =>
        {
            while (!over)
                GC.Collect(0);
        });
        var throwers = new Thread[16];
        long caught = 0;
        collector.Start();
        for (int i = 0; i < throwers.Length; i++)
        {
            throwers[i] = new Thread(() =>
            {
                DateTime end = DateTime.UtcNow.AddSeconds(5);
                for (int n = 0; DateTime.UtcNow < end; n++)
                {
                    try
                    {
                        Throw(n);
                    }
                    catch (Expected e) when (new object() != null && e.Number == n)
                    {
                        Interlocked.Increment(ref caught);
                    }
                }
            });
            throwers[i].Start();
        }
        foreach (Thread thrower in throwers)
            thrower.Join();
        over = true;
        collector.Join();
        Console.WriteLine("each exception was caught: " + (caught > 0));
        return 0;
    }

    private static void Throw(int n)
    {
        try
        {
            throw new Expected(n);
        }
        finally
        {
            GC.KeepAlive(new byte[100]);
        }
    }
}
