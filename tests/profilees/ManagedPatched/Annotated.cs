// Classes of Harmony-style patches as they are written for it.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Text;
using HarmonyLib;
using ManagedPatched;

[HarmonyPatch(typeof(Store), "Price")]
class PricePatch
{
    static void Prefix(Store __instance, ref int count, string item)
    {
        if (__instance.Kind == "base" && item == "apple")
        {
            count += 1;
        }
    }

    static void Postfix(ref int __result, IPriced __instance, object __0, string __1)
    {
        __result += __instance == null ? 0 : 1000 * (int)__0 + 10000 * __1.Length;
    }
}

[HarmonyPatch(typeof(Store))]
[HarmonyPatch("Greet")]
[HarmonyPatch(new Type[] { typeof(string) })]
static class GreetPatch
{
    private sealed class State
    {
        public string Who;
    }

    private static bool Prefix(string who, ref string __result, out State __state)
    {
        __state = new State { Who = who ?? "all" };
        __result = "skipped";
        return who != null;
    }

    private static void Postfix(ref string __result, State __state, bool __runOriginal)
    {
        __result = __result + " for " + __state.Who + " " + __runOriginal;
    }
}

[HarmonyPatch(typeof(Store), nameof(Store.Fields))]
internal static class FieldsPatch
{
    // Fields of the instance, read and written; a static one, and one by its number among all.
    public static void Prefix(ref int ___total, string ___name, ref int ___opened, string ___Sign, out int __state)
    {
        __state = ___opened;
        ___opened = 40 + ___name.Length + ___Sign.Length;
        ___total += 1;
    }

    public static void Postfix(Base __instance, ref int ___total, ref object ___opened, int __state, ref string __result)
    {
        ___opened = __state;
        ___total -= 1;
        __result += " " + __instance.Kind;
    }
}

[HarmonyPatch(typeof(Store), nameof(Store.Total), MethodType.Getter)]
class GetterPatch
{
    [HarmonyPostfix]
    static int Doubled(int result)
    {
        return result * 2;
    }
}

[HarmonyPatch(typeof(Store), "Total", MethodType.Setter)]
class SetterPatch
{
    static void Prefix(ref int value)
    {
        value += 100;
    }
}

[HarmonyPatch(typeof(Store), MethodType.Constructor, new Type[] { typeof(string), typeof(int) })]
class ConstructorPatch
{
    static void Postfix(Store __instance, string name)
    {
        if (name == "other")
        {
            __instance.Kind = "patched";
        }
    }
}

// A class of several patches, each with a target of its own.
[HarmonyPatch]
class Several
{
    [HarmonyPatch(typeof(Store), "Twice")]
    [HarmonyPrefix]
    static bool Thrice(int number, ref int __result)
    {
        __result = number * 3;
        return false;
    }

    [HarmonyPatch("ManagedPatched.Store", "Secret")]
    [HarmonyPostfix]
    static void Known(ref int __result)
    {
        __result += 10;
    }

    // Neither a patch nor with the attribute of one.
    static int Helper(int number)
    {
        return number;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Fill")]
class FillPatch
{
    static void Prefix(int value, ref Point point)
    {
        point.X += value * 100;
    }

    static void Postfix(ref int value, ref string text)
    {
        value *= 10;
        text += "!";
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Move")]
class MovePatch
{
    static void Prefix(ref Point point, object dx)
    {
        point.X += (int)dx;
    }

    static Point Postfix(Point point)
    {
        point.Y = -1;
        return point;
    }
}

[HarmonyPatch(typeof(Point), "Sum")]
class SumTwicePatch
{
    static void Prefix(ref Point __instance, int more)
    {
        __instance.X *= 2;
    }

    static void Postfix(Point __instance, ref long __result)
    {
        __result += __instance.X * 1000;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Fails")]
class FailsPatch
{
    static void Prefix(out int __state)
    {
        __state = 40;
    }

    static void Postfix(ref int __result)
    {
        __result += 7;
    }

    static Exception Finalizer(Exception __exception, int number, ref int __result, int __state)
    {
        if (number == 1)
        {
            __result = __state + 1;
            return null;
        }
        if (number == 2)
        {
            return new TimeoutException("instead of " + __exception.Message);
        }
        if (__exception == null)
        {
            __result += 100;
        }
        return __exception;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Never")]
class NeverPatch
{
    static bool Prefix(ref int __result)
    {
        __result = 5;
        return false;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Ordered")]
[HarmonyPriority(Priority.Low)]
class LateOrder
{
    static void Prefix(ref int number)
    {
        number += 3;
    }

    static void Postfix(ref int __result)
    {
        __result += 5;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Ordered")]
class EarlyOrder
{
    static void Prefix(ref int number)
    {
        number *= 10;
    }

    [HarmonyPriority(Priority.Last)]
    static void Postfix(ref int __result)
    {
        __result *= 2;
    }

    // Those that pass the result through are the last.
    [HarmonyPostfix]
    [HarmonyPriority(Priority.First)]
    static int Passes(int result)
    {
        return result + 100000;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Skipped")]
class FirstSkip
{
    static bool Prefix(int number)
    {
        return number != 1;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Skipped")]
[HarmonyBefore("somebody.else")]
class SecondSkip
{
    private static int seen;

    [HarmonyPrefix]
    static void Changes(ref int number)
    {
        number += 5;
    }

    // Has no effect on the method, so it runs.
    [HarmonyPrefix]
    static void Sees(int number)
    {
        seen = number;
    }

    static void Postfix(ref int __result, bool __runOriginal)
    {
        __result = __result + seen * 10 + (__runOriginal ? 1 : 0);
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Renamed")]
[HarmonyArgument("second", "two")]
class RenamedPatch
{
    static void Prefix([HarmonyArgument("first")] ref int one, ref int two)
    {
        one += 2;
        two += 4;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Depth")]
class DepthPatch
{
    static void Prefix(int number, out int __state)
    {
        __state = number;
    }

    static void Postfix(int number, int __state, ref long __result)
    {
        __result += number == __state ? 1000 : 0;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Echo")]
class EchoPatch
{
    static void Prefix(ref object value, object __1)
    {
        if (value is int number)
        {
            value = number + 500;
        }
    }

    static void Postfix(ref object __result)
    {
        if (__result is string)
        {
            __result = "other";
        }
    }
}

[HarmonyPatch("ManagedPatched.Box`1", "Swap")]
class SwapPatch
{
    static void Postfix(object __instance, object ___content, ref object __result, MethodBase __originalMethod)
    {
        if (__result is string)
        {
            __result = __result + "-" + ___content + "-" + __originalMethod.Name + "-" + __originalMethod.DeclaringType.IsGenericType;
        }
    }
}

[HarmonyPatch("ManagedPatched.Box`1+Lid", "Open")]
class LidPatch
{
    static void Postfix(ref string __result, MethodInfo __originalMethod)
    {
        __result += " of " + __originalMethod.DeclaringType.Name;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Numbers")]
class NumbersPatch
{
    static IEnumerable<int> Postfix(IEnumerable<int> numbers, int count)
    {
        foreach (int number in numbers)
        {
            yield return number + count;
        }
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Paint")]
class PaintPatch
{
    static void Prefix(ref Color color)
    {
        color = Color.Green;
    }
}

[HarmonyPatch("ManagedPatched.Methods", "Length")]
class LengthPatch
{
    static void Prefix(ref Span<int> numbers)
    {
        numbers = numbers.Slice(1);
    }
}

[HarmonyPatch("ManagedPatched.Methods", "All")]
class AllPatch
{
    static void Prefix(object[] __args)
    {
        __args[0] = (int)__args[0] + 1;
        __args[1] = __args[1] + " " + __args.Length + " ";
        __args[2] = Color.Green;
    }
}

// Methods of .NET: at their calls in the program.
[HarmonyPatch(typeof(DateTime), nameof(DateTime.UtcNow), MethodType.Getter)]
class YearPatch
{
    static void Prefix(ref int __state)
    {
        __state += 1;
    }

    static void Postfix(ref DateTime __result, int __state)
    {
        __result = new DateTime(1999 + __state, 2, 3);
    }
}

[HarmonyPatch(typeof(File), "ReadAllText", typeof(string))]
class FilePatch
{
    static bool Prefix(string path, ref string __result, MethodBase __originalMethod)
    {
        __result = "contents of " + path + " by " + __originalMethod.Name;
        return false;
    }
}

[HarmonyPatch(typeof(Math), "Sqrt")]
class RootPatch
{
    static void Prefix(ref double __0)
    {
        __0 = 9;
    }
}

[HarmonyPatch(typeof(StringBuilder), "Append", typeof(string))]
class AppendPatch
{
    static void Prefix(StringBuilder __instance, ref string value)
    {
        value += __instance.Length;
    }

    static StringBuilder Postfix(StringBuilder result, object __instance, string value)
    {
        return result.Append(__instance == null ? "?" : "!");
    }
}

[HarmonyPatch(typeof(List<>), "Add")]
class AddPatch
{
    static void Prefix(ref object item)
    {
        if (item is int)
        {
            item = (int)item + 6;
        }
    }
}

[HarmonyPatch(typeof(DateTime), "AddDays")]
class DaysPatch
{
    static void Prefix(ref DateTime __instance, ref double __0)
    {
        __instance = __instance.AddMonths(1);
        __0 += 1;
    }
}

// Fields of base types: private, protected, internal and static ones.
[HarmonyPatch(typeof(Store), "Inherits")]
static class InheritedPatch
{
    static void Prefix(ref string ___secret, ref long ___weight, ref int ___level, ref string ___shared, out string __state)
    {
        __state = ___secret;
        ___secret = ___secret + "!";
        ___weight += 1;
        ___level = 9;
        ___shared = "both";
    }

    static void Postfix(ref string ___secret, ref object ___weight, ref int ___level, ref string ___shared, string __state)
    {
        ___secret = __state;
        ___weight = 7L;
        ___level = 1;
        ___shared = "shared";
    }
}

// A private field of a class of .NET.
[HarmonyPatch(typeof(Late), "Tell")]
static class LatePatch
{
    static void Prefix(ref string ____message, int ___own)
    {
        ____message = "very " + ____message + " " + ___own;
    }
}
