// Loads a copy of itself into a collectible load context, runs a method of it and lets the context
// go, 100 times; then says so and ends with 0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

public sealed class Plugged
{
    private static readonly List<Plugged> All = new List<Plugged>();

    public Plugged Next;

    public static int Run()
    {
        for (int i = 0; i < 1000; i++)
            All.Add(new Plugged { Next = All.Count == 0 ? null : All[All.Count - 1] });
        return All.Count;
    }
}

internal sealed class Context : AssemblyLoadContext
{
    internal Context() : base(isCollectible: true)
    {
    }

    protected override Assembly Load(AssemblyName name)
    {
        return null;
    }
}

internal static class Program
{
    private static int Main()
    {
        byte[] image = File.ReadAllBytes(Assembly.GetExecutingAssembly().Location);
        int gone = 0;
        for (int n = 0; n < 100; n++)
        {
            WeakReference context = Load(image);
            for (int i = 0; i < 20 && context.IsAlive; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            gone += context.IsAlive ? 0 : 1;
        }
        Console.WriteLine("unloaded: " + gone);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Load(byte[] image)
    {
        var context = new Context();
        Assembly assembly = context.LoadFromStream(new MemoryStream(image));
        object count = assembly.GetType("Plugged").GetMethod("Run").Invoke(null, null);
        if ((int)count != 1000)
            throw new Exception("the copy made " + count + " objects");
        context.Unload();
        return new WeakReference(context);
    }
}
