// Patches of methods of the core library, for the program `CorePatched`: at their calls in the program, or for all callers.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Text;
using HarmonyLib;

[HarmonyPatch(typeof(DateTime), nameof(DateTime.UtcNow), MethodType.Getter)]
static class Clock
{
    static void Postfix(ref DateTime __result)
    {
        // Its time is not patched here, so nothing recurses.
        bool isReal = __result.Year > 2020 && DateTime.UtcNow.Year > 2020;
        __result = new DateTime(isReal ? 2001 : 1999, 2, 3, 12, 0, 0, DateTimeKind.Utc);
    }
}

[HarmonyPatch(typeof(File), "ReadAllText", typeof(string))]
static class Files
{
    private sealed class State
    {
        public string Path;
        public string Original = "none";
    }

    static bool Prefix(string path, ref string __result, out State __state, MethodBase __originalMethod)
    {
        __state = new State { Path = path };
        if (path.StartsWith("/nowhere/"))
        {
            __result = "contents by " + __originalMethod.Name;
            return false;
        }
        // The original method.
        __state.Original = File.ReadAllText(path);
        __state.Path = "file";
        return true;
    }

    static void Postfix(ref string __result, State __state, bool __runOriginal)
    {
        __result += " of " + __state.Path + " " + __state.Original + " " + __runOriginal;
    }
}

[HarmonyPatch(typeof(Environment), "GetEnvironmentVariable", typeof(string))]
static class Variables
{
    static void Postfix(string variable, ref string __result)
    {
        if (variable == "CORE_PATCHED")
        {
            __result = "patched";
        }
    }
}

// Without attributes: the profiler names the methods.
namespace Core
{
    static class Parse
    {
        private static Exception Finalizer(Exception __exception, string s, ref int __result)
        {
            if (__exception is FormatException)
            {
                __result = -s.Length;
                return null;
            }
            return __exception;
        }
    }

    static class Days
    {
        private static void Prefix(ref DateTime __instance, ref double value, out (int, string) __state)
        {
            __state = (0, null);
            if (value == 12345)
            {
                __instance = __instance.AddDays(365);
                value = 1;
                __state = (1, "one");
            }
        }

        private static DateTime Postfix(DateTime result, (int, string) __state)
        {
            return __state.Item2 == "one" ? result.AddDays(__state.Item1) : result;
        }
    }

    static class Append
    {
        private static void Prefix(StringBuilder __instance, ref string value)
        {
            if (value == "marker")
            {
                value = new StringBuilder().Append("mark").Append(__instance.Length).ToString();
            }
        }
    }

    static class Resize
    {
        private static void Prefix(object array, ref int newSize)
        {
            if (newSize == 77)
            {
                newSize = array is string[] ? 5 : 3;
            }
        }
    }

    static class Capacity
    {
        private static void Postfix(ref int __result, int ___m_ChunkLength)
        {
            if (__result == 1234)
            {
                __result = 5000 + ___m_ChunkLength;
            }
        }
    }

    // A struct that the core library cannot name.
    struct Stamp
    {
        public long Ticks;
    }

    static class Stamped
    {
        private static void Prefix(out Stamp __state) { __state = default; }
        private static void Postfix(ref int __result, Stamp __state) { __result = 1; }
    }
}
