// Calls methods that the runtime itself makes asynchronous (RuntimeAsyncIL.il), with tasks that are
// already complete and with some that are not, and prints their results. With an argument it does so
// for each line that it reads, and prints one line then.
using System;
using System.IO;
using System.Threading.Tasks;

internal static class Program
{
    private static int Main(string[] arguments)
    {
        if (arguments.Length == 0)
        {
            Both(Console.Out);
            return 17;
        }
        while (Console.ReadLine() != null)
        {
            Both(TextWriter.Null);
            Console.WriteLine("ran");
        }
        return 17;
    }

    private static void Both(TextWriter output)
    {
        Run(() => Task.CompletedTask, "done", output).GetAwaiter().GetResult();
        Run(() => Task.Delay(5), "later", output).GetAwaiter().GetResult();
    }

    private static async Task Run(Func<Task> wait, string kind, TextWriter output)
    {
        output.WriteLine(kind + " Give " + await Methods.Give(wait(), 42));
        await Methods.Nothing(wait());
        output.WriteLine(kind + " Sum " + await Methods.Sum(wait(), 40, 2));
        await Methods.Idle(wait());
        Task<int> one = Methods.Give(wait(), 1), two = Methods.Give(wait(), 2);
        output.WriteLine(kind + " Together " + (await one + await two));
        output.WriteLine(kind + " Same " + await Methods.Same(wait(), "text") + " " + await Methods.Same(wait(), 1.5));
        output.WriteLine(kind + " Caught " + await Methods.Caught(wait(), "five!"));
        try
        {
            await Methods.Fail(wait(), "failed " + kind);
        }
        catch (InvalidOperationException e)
        {
            output.WriteLine(kind + " Fail " + e.Message);
        }
    }
}
