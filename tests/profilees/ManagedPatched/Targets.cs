// Classes of Harmony-style patches whose targets are named by code, as it is written for it.
using System;
using System.Collections.Generic;
using System.Reflection;
using HarmonyLib;
using ManagedPatched;

[HarmonyPatch]
static class ByName
{
    static MethodBase TargetMethod() { return AccessTools.Method(typeof(Store), nameof(Store.Price)); }

    static void Postfix(ref int __result) { __result += 100; }
}

[HarmonyPatch]
static class ByTypes
{
    [HarmonyTargetMethod]
    static MethodBase Overload() { return AccessTools.Method(typeof(Store), "Greet", new Type[] { typeof(string) }); }

    static void Postfix(ref string __result) { __result += "!"; }
}

[HarmonyPatch]
static class ByText
{
    static MethodInfo TargetMethod() { return AccessTools.Method("ManagedPatched.Methods:Renamed"); }

    static void Postfix(ref int __result) { __result += 5000; }
}

[HarmonyPatch]
static class ByReflection
{
    static MethodBase TargetMethod()
    {
        var store = typeof(Store);
        return store.GetMethod("Secret", BindingFlags.NonPublic | BindingFlags.Static);
    }

    static void Postfix(ref int __result) { __result += 10; }
}

[HarmonyPatch]
static class OfProperty
{
    static MethodBase TargetMethod() { return AccessTools.PropertyGetter(typeof(Store), "Total"); }

    static void Postfix(ref int __result) { __result *= 2; }
}

[HarmonyPatch]
static class OfSetter
{
    static MethodBase TargetMethod() { return typeof(Store).GetProperty("Total").SetMethod; }

    static void Prefix(ref int value) { value += 100; }
}

[HarmonyPatch]
static class OfConstructor
{
    static MethodBase TargetMethod() { return AccessTools.Constructor(typeof(Store), new[] { typeof(string), typeof(int) }); }

    static void Postfix(Store __instance, string name)
    {
        if (name == "other")
            __instance.Kind = "patched";
    }
}

[HarmonyPatch]
static class OfSeveral
{
    static IEnumerable<MethodBase> TargetMethods()
    {
        return new MethodBase[]
        {
            AccessTools.Method(typeof(Store), "Twice"),
            AccessTools.DeclaredMethod(AccessTools.TypeByName("ManagedPatched.Methods"), "Ordered", new[] { typeof(int) }),
        };
    }

    static void Prefix(ref int number) { number += 10; }
}

[HarmonyPatch]
static class OfList
{
    static IEnumerable<MethodBase> TargetMethods()
    {
        var found = new List<MethodBase>();
        found.Add(AccessTools.Method(typeof(Store), "Fields", Type.EmptyTypes));
        found.Add(AccessTools.Method("ManagedPatched.Methods:Fill", new[] { typeof(int).MakeByRefType(), typeof(string).MakeByRefType(), typeof(Point).MakeByRefType() }));
        return found;
    }

    static int runs;

    static void Prefix() { runs += 1; }

    static void Finalizer()
    {
        if (runs == 0)
            throw new InvalidOperationException();
    }
}

[HarmonyPatch]
static class OfIterator
{
    static IEnumerable<MethodBase> TargetMethods()
    {
        foreach (string name in new[] { "Skipped", "Paint" })
            yield return AccessTools.Method(AccessTools.TypeByName("ManagedPatched.Methods"), name);
    }

    static void Prefix(ref object __0)
    {
        if (__0 is int number)
            __0 = number + 1;
    }
}

// As in the guide.
[HarmonyPatch]
static class Counted
{
    private static int calls;

    static IEnumerable<MethodBase> TargetMethods()
    {
        yield return AccessTools.Method(typeof(Store), "Price");
        yield return AccessTools.Method(typeof(Store), "Greet", new[] { typeof(string) });
    }

    static void Prefix() => calls++;
}

// At the calls in the program.
[HarmonyPatch]
[HarmonyPatchCategory("framework")]
static class OfFramework
{
    static MethodBase TargetMethod() { return AccessTools.Method(typeof(Math), "Sqrt", new[] { typeof(double) }); }

    static void Postfix(ref double __result) { __result += 1; }
}

[HarmonyPatch(typeof(Store), "Price")]
static class Prepared
{
    static bool Prepare() { return true; }

    static void Postfix(ref int __result) { __result += 1000; }

    static void Cleanup() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class NotPrepared
{
    static bool Prepare() { return false; }

    static void Postfix(ref int __result) { __result += 1000000; }
}
