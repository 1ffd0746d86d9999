// Triggers collections in known methods, and counts the collections of each. With an argument, in dynamic methods, each of which is
// collected before the next one.
using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Triggers
{
    internal static class Program
    {
        private static readonly object[] Kept = new object[16];

        private static int Main(string[] arguments)
        {
            // Allocates the objects that writing needs.
            Console.WriteLine("begins");
            if (arguments.Length > 0)
                return Dynamic();
            for (int round = 0; round < 3; round++)
            {
                Count("ByCollect", ByCollect);
                Count("ByAllocation", ByAllocation);
                Count("ByLargeAllocation", ByLargeAllocation);
            }
            return 7;
        }

        private static int Dynamic()
        {
            for (int round = 0; round < 20; round++)
            {
                ByDynamic("Dynamic" + round);
                for (int i = 0; i < 3; i++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
            }
            return 7;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ByDynamic(string name)
        {
            var method = new DynamicMethod(name, null, Type.EmptyTypes, typeof(Program).Module);
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Call, typeof(GC).GetMethod("Collect", Type.EmptyTypes));
            // Not a tail call, for which it would leave the stack.
            il.Emit(OpCodes.Ldnull);
            il.Emit(OpCodes.Call, typeof(GC).GetMethod("KeepAlive"));
            il.Emit(OpCodes.Ret);
            Count(name, (Action)method.CreateDelegate(typeof(Action)));
        }

        private static void Count(string name, Action trigger)
        {
            int before = GC.CollectionCount(0);
            trigger();
            Console.WriteLine(name + " " + (GC.CollectionCount(0) - before));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ByCollect()
        {
            GC.Collect();
            GC.Collect(0);
            GC.Collect(1, GCCollectionMode.Forced, true, true);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ByAllocation()
        {
            int enough = GC.CollectionCount(0) + 4;
            for (int i = 0; GC.CollectionCount(0) < enough; i++)
                Kept[i % Kept.Length] = new byte[2000];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ByLargeAllocation()
        {
            int enough = GC.CollectionCount(2) + 1;
            for (int i = 0; GC.CollectionCount(2) < enough; i++)
                Kept[i % Kept.Length] = new byte[1000000];
        }
    }
}
