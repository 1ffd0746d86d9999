// The patches of the guide's page `Patches in C#`, for the sample program of the examples.
using HarmonyLib;
using Shop;

[HarmonyPatch(typeof(Store), "Sell")]
static class Discount
{
    static void Postfix(ref Money __result) => __result = new Money(__result.Cents / 2);
}

static class Limit
{
    static bool Prefix(ref int count, string name, ref Money __result)
    {
        count = System.Math.Min(count, 10);
        return name != "pear";
    }

    static System.Exception Finalizer(System.Exception __exception) => null;
}

namespace HarmonyLib
{
    [System.AttributeUsage(System.AttributeTargets.Class, AllowMultiple = true)]
    sealed class HarmonyPatch : System.Attribute
    {
        public HarmonyPatch(System.Type type, string method) { }
        public HarmonyPatch(string type, string method) { }
    }
}
