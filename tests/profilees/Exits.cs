// Ends while its threads are in the middle of everything that causes callbacks.
using System;
using System.Reflection.Emit;
using System.Threading;

namespace Exits
{
    internal static class Program
    {
        private static int Main()
        {
            var started = new CountdownEvent(4);
            for (int i = 0; i < 4; i++)
            {
                var thread = new Thread(() => Work(started));
                thread.IsBackground = true;
                thread.Start();
            }
            started.Wait();
            Console.WriteLine("leaving");
            return 3;
        }

        private static void Work(CountdownEvent started)
        {
            for (int n = 0; ; n++)
            {
                var method = new DynamicMethod("Made", typeof(int), Type.EmptyTypes);
                ILGenerator il = method.GetILGenerator();
                il.Emit(OpCodes.Ldc_I4, n);
                il.Emit(OpCodes.Ret);
                ((Func<int>)method.CreateDelegate(typeof(Func<int>)))();
                try
                {
                    throw new InvalidOperationException();
                }
                catch (InvalidOperationException)
                {
                }
                if (n == 3)
                    started.Signal();
            }
        }
    }
}
