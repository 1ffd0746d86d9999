// Throws an exception, at which each profiler requests its detach, and gives the runtime 25 seconds for that. The
// profiler then says how many were detached.
using System;
using System.Threading;

static class Program
{
    static int Main()
    {
        try
        {
            throw new InvalidOperationException();
        }
        catch (InvalidOperationException)
        {
        }
        // Nothing to wait for without a profiler.
        if (Environment.GetEnvironmentVariable("CORECLR_ENABLE_PROFILING") == "1")
        {
            Thread.Sleep(25000);
        }
        return 0;
    }
}
