// Patches without attributes: the profiler names their methods by patterns.
using System;
using System.Reflection;

namespace Plain
{
    public static class Greeting
    {
        public static void Prefix(ref string who)
        {
            who = who == null ? null : who.ToUpperInvariant();
        }
    }

    public static class Everything
    {
        public static int Calls;

        public static void Prefix(MethodBase __originalMethod, object[] __args, object __instance, out DateTime __state)
        {
            __state = DateTime.UtcNow;
        }

        public static void Finalizer(Exception __exception, DateTime __state)
        {
            Calls += __state.Year > 2001 ? 1 : 1000000;
        }
    }

    public static class Root
    {
        public static void Prefix(ref double __0)
        {
            __0 += 15;
        }
    }

    // Of the creation of objects: another object than the one that was made.
    public static class Other
    {
        public static void Postfix(string name, ref ManagedPatched.Store __result)
        {
            if (name == "other")
            {
                __result = new ManagedPatched.Store(name, 1) { Kind = "made" };
            }
        }
    }

    public static class Host
    {
        public static void Postfix(ref string __result)
        {
            __result += "!";
        }
    }

    // Of the program `Waits`; private, so that the runtime loads a copy in memory.
    internal static class Thousand
    {
        private static void Postfix(ref int __result)
        {
            __result += 1000;
        }
    }

    public static class Counted
    {
        public static void Postfix(ref int __result)
        {
            __result += Everything.Calls > 0 ? 7000 : 0;
        }
    }
}
