// Patches of a second assembly, some of them of methods that those of `Annotated.cs` and `Plain.cs` change, too.
using System;
using HarmonyLib;
using ManagedPatched;

namespace Second
{
    // The prefixes of the other assembly have the priorities 400 and 200, and its postfixes 200 and 0.
    [HarmonyPatch("ManagedPatched.Methods", "Ordered")]
    static class Between
    {
        [HarmonyPriority(300)]
        static void Prefix(ref int number, out int __state)
        {
            number *= 2;
            __state = 3;
        }

        [HarmonyPriority(Priority.First)]
        static void Postfix(ref int __result, int __state)
        {
            __result *= __state;
        }
    }

    [HarmonyPatch("ManagedPatched.Methods", "Wrong")]
    static class Alone
    {
        static void Postfix(ref int __result)
        {
            __result = 9;
        }
    }

    // With the priority of the other assembly's patch: later, because the assembly is.
    [HarmonyPatch(typeof(DateTime), "UtcNow", MethodType.Getter)]
    static class Later
    {
        static void Postfix(ref DateTime __result)
        {
            __result = __result.AddYears(1);
        }
    }
}
