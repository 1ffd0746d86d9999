// Throws, filters, catches, cleans up and throws again, in nested frames.
using System;
using System.Runtime.CompilerServices;

namespace Throws
{
    internal static class Program
    {
        private static string trace = "";

        private static int Main()
        {
            Outer();
            Console.WriteLine(trace);
            trace = "";
            Again();
            Console.WriteLine(trace);
            return 4;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Outer()
        {
            try
            {
                Middle();
            }
            catch (ArgumentException caught)
            {
                trace += " outer " + caught.Message;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Middle()
        {
            try
            {
                Inner();
            }
            catch (InvalidOperationException)
            {
                trace += " middle";
                throw new ArgumentException("replaced");
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Inner()
        {
            try
            {
                try
                {
                    Throw();
                }
                catch (InvalidOperationException caught) when (Wanted(caught, "other"))
                {
                    trace += " never";
                }
                finally
                {
                    trace += " finally";
                }
            }
            catch (InvalidOperationException)
            {
                trace += " inner";
                throw;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool Wanted(Exception caught, string message)
        {
            trace += " filter";
            return caught.Message == message;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw()
        {
            throw new InvalidOperationException("first");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Again()
        {
            try
            {
                Filtered(0);
            }
            finally
            {
                trace += " end";
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Filtered(int divisor)
        {
            try
            {
                trace += 1 / divisor;
            }
            catch (DivideByZeroException caught) when (Wanted(caught, caught.Message))
            {
                trace += " caught";
            }
        }
    }
}
