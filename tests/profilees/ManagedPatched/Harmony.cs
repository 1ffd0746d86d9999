// The attributes of Harmony-style patches, as far as the tests use them: the patches are compiled against this assembly, which
// is not there when they run.
using System;
using System.Collections.Generic;
using System.Reflection;

namespace HarmonyLib
{
    public enum MethodType
    {
        Normal,
        Getter,
        Setter,
        Constructor,
        StaticConstructor,
        Enumerator,
    }

    public enum ArgumentType
    {
        Normal,
        Ref,
        Out,
        Pointer,
    }

    public static class Priority
    {
        public const int Last = 0;
        public const int Low = 200;
        public const int Normal = 400;
        public const int High = 600;
        public const int First = 800;
    }

    [AttributeUsage(AttributeTargets.Class | AttributeTargets.Method, AllowMultiple = true)]
    public class HarmonyPatch : Attribute
    {
        public HarmonyPatch() { }
        public HarmonyPatch(Type declaringType) { }
        public HarmonyPatch(Type declaringType, string methodName) { }
        public HarmonyPatch(Type declaringType, string methodName, params Type[] argumentTypes) { }
        public HarmonyPatch(Type declaringType, string methodName, Type[] argumentTypes, ArgumentType[] argumentVariations) { }
        public HarmonyPatch(Type declaringType, string methodName, MethodType methodType) { }
        public HarmonyPatch(Type declaringType, MethodType methodType) { }
        public HarmonyPatch(Type declaringType, MethodType methodType, params Type[] argumentTypes) { }
        public HarmonyPatch(string methodName) { }
        public HarmonyPatch(string methodName, params Type[] argumentTypes) { }
        public HarmonyPatch(MethodType methodType) { }
        public HarmonyPatch(Type[] argumentTypes) { }
        public HarmonyPatch(string typeName, string methodName, MethodType methodType = MethodType.Normal) { }
    }

    [AttributeUsage(AttributeTargets.Class | AttributeTargets.Method)]
    public class HarmonyPriority : Attribute
    {
        public HarmonyPriority(int priority) { }
    }

    [AttributeUsage(AttributeTargets.Class | AttributeTargets.Method | AttributeTargets.Parameter, AllowMultiple = true)]
    public class HarmonyArgument : Attribute
    {
        public HarmonyArgument(string originalName) { }
        public HarmonyArgument(int index) { }
        public HarmonyArgument(string originalName, string newName) { }
        public HarmonyArgument(int index, string newName) { }
    }

    public class HarmonyPrefix : Attribute { }

    public class HarmonyPostfix : Attribute { }

    public class HarmonyFinalizer : Attribute { }

    public class HarmonyTranspiler : Attribute { }

    public class HarmonyPrepare : Attribute { }

    public class HarmonyBefore : Attribute
    {
        public HarmonyBefore(params string[] before) { }
    }

    public class HarmonyTargetMethod : Attribute { }

    public class HarmonyPatchCategory : Attribute
    {
        public HarmonyPatchCategory(string category) { }
    }

    public class CodeInstruction { }

    public static class AccessTools
    {
        public static Type TypeByName(string name) { return null; }
        public static MethodInfo Method(Type type, string name, Type[] parameters = null, Type[] generics = null) { return null; }
        public static MethodInfo Method(string typeColonName, Type[] parameters = null, Type[] generics = null) { return null; }
        public static MethodInfo DeclaredMethod(Type type, string name, Type[] parameters = null, Type[] generics = null) { return null; }
        public static MethodInfo PropertyGetter(Type type, string name) { return null; }
        public static ConstructorInfo Constructor(Type type, Type[] parameters = null, bool searchForStatic = false) { return null; }
    }

    public static class Traverse
    {
        public static object Create(object root) { return root; }
    }
}
