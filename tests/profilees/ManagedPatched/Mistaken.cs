// Classes with the attributes of Harmony-style patches that are not supported, or mistaken.
using System;
using System.Collections.Generic;
using HarmonyLib;
using ManagedPatched;

[HarmonyPatch(typeof(Store), "Price")]
static class Transpiles
{
    static IEnumerable<CodeInstruction> Transpiler(IEnumerable<CodeInstruction> instructions) { return instructions; }
}

[HarmonyPatch]
static class Chooses
{
    static System.Reflection.MethodBase TargetMethod() { return null; }
    static void Prefix() { }
}

[HarmonyPatch]
static class Searches
{
    static System.Reflection.MethodBase TargetMethod()
    {
        foreach (var method in typeof(Store).GetMethods())
            if (method.Name == "Price")
                return method;
        return null;
    }

    static void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class Prepares
{
    static bool Prepare() { return DateTime.Now.Year > 2000; }
    static void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price")]
class OfInstance
{
    void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class GenericMethod
{
    static void Prefix<T>(T item) { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class GenericClass<T>
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class Nothing
{
    static void Helper() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class Returns
{
    static int Prefix() { return 1; }
    static int Postfix(string item) { return 1; }
    static object Finalizer() { return null; }
}

[HarmonyPatch]
static class NoTarget
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(Store))]
static class NoMethod
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(List<int>), "Add")]
static class Instance
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(NoTarget), "Prefix")]
static class Own
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price", MethodType.Enumerator)]
static class Iterator
{
    static void Prefix() { }
}

[HarmonyPatch(typeof(Store), "Price")]
static class UsesMore
{
    static void Prefix(object __instance) { Deeper(__instance); }
    static void Deeper(object instance) { Traverse.Create(instance); }
}
