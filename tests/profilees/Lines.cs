// The line of an exception in code that was compiled before a profiler changes its method, and after. The profiler reacts
// to the name of a thread. A generic method has a code for each kind of type.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Lines
{
    internal static class Program
    {
        private static int Main()
        {
            // The runtime looks for its line after the change.
            Exception before = Catch<int>();
            var thread = new Thread(() => { }) { Name = "change" };
            thread.Start();
            thread.Join();
            Exception after = Catch<string>();
            Console.WriteLine("after {0}, before {1}, again {2}", Line(after), Line(before), Line(Catch<int>()));
            return 8;
        }

        private static Exception Catch<T>()
        {
            try
            {
                Throws<T>(1);
            }
            catch (InvalidOperationException exception)
            {
                return exception;
            }
            return null;
        }

        // In the second line.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Throws<T>(int number)
        {
            Fail(number);
            Fail(number - 1);
            Fail(number);
            return typeof(T).Name.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Fail(int number)
        {
            if (number == 0)
            {
                throw new InvalidOperationException();
            }
        }

        private static int Line(Exception exception)
        {
            return new StackTrace(exception, true).GetFrame(1).GetFileLineNumber();
        }
    }
}
