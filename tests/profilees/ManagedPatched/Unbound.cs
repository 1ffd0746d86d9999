// Patches that do not bind to a method, each for a reason of its own.
using System;
using System.Reflection;
using ManagedPatched;

public static class NoArgument { public static void Prefix(int cuont) { } }
public static class NoNumber { public static void Prefix(int __2) { } }
public static class OtherType { public static void Prefix(string count) { } }
public static class OtherRef { public static void Prefix(ref long count) { } }
public static class Derived { public static void Postfix(Exception __instance) { } }
public static class NoInstance { public static void Prefix(object __instance) { } }
public static class RefInstance { public static void Prefix(ref Store __instance) { } }
public static class NoResult { public static void Postfix(object __result) { } }
public static class OtherResult { public static void Postfix(ref long __result) { } }
public static class NoThrough { public static string Postfix(string result) { return result; } }
public static class NoField { public static void Prefix(int ___totl) { } }
public static class OtherField { public static void Prefix(ref long ___total) { } }
public static class HiddenStatic { public static void Prefix(int ___hidden) { } }
public static class StaticField { public static void Prefix(int ___total) { } }
public static class ReadOnlyField { public static void Prefix(ref string ___Sign) { } }
public static class EarlyException { public static void Postfix(Exception __exception) { } }
public static class OtherException { public static void Finalizer(ArgumentException __exception) { } }
public static class OtherOriginal { public static void Prefix(Type __originalMethod) { } }
public static class OtherArguments { public static void Prefix(string[] __args) { } }
public static class RefRun { public static void Prefix(ref bool __runOriginal) { } }
public static class RefResult { public static void Postfix(ref object __resultRef) { } }
public static class Generic { public static void Prefix(string value) { } }
public static class Stack { public static void Prefix(object numbers) { } }

public static class TwoStates
{
    public static void Prefix(out int __state) { __state = 1; }
    public static void Postfix(string __state) { }
}

public static class OneOfTwo
{
    public static void Prefix(ref int number) { number = 1000; }
    public static void Postfix(ref string __result) { }
}
