// Loads itself again and again, and unloads the copies.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Unloads
{
    public static class Program
    {
        private static int Main()
        {
            for (int i = 0; i < 8; i++)
            {
                WeakReference loaded = Use(i);
                for (int n = 0; loaded.IsAlive && n < 100; n++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
                Console.WriteLine("unloaded " + !loaded.IsAlive);
            }
            return 7;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use(int number)
        {
            var context = new AssemblyLoadContext("number " + number, true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            MethodInfo answer = again.GetType("Unloads.Program").GetMethod("Answer");
            Console.WriteLine("answer " + answer.Invoke(null, null));
            context.Unload();
            return new WeakReference(context);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Answer()
        {
            return 41;
        }
    }
}
