// A program that edits an assembly of its own while it runs, twice, with the differences next to it.
//
//   HotReload [FOLDER]      with the differences Edited.1.meta, Edited.1.il, Edited.1.pdb, and so on
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Metadata;
using System.Threading;

internal static class HotReload
{
    private static int Main(string[] arguments)
    {
        Console.WriteLine("supported " + MetadataUpdater.IsSupported);
        Assembly assembly = typeof(Edited).Assembly;
        string folder = Path.Combine(Path.GetDirectoryName(assembly.Location), "HotReload");
        Show(0);
        for (int edit = 1; edit <= 2; edit++)
        {
            string path = Path.Combine(folder, "Edited." + edit);
            try
            {
                MetadataUpdater.ApplyUpdate(
                    assembly,
                    File.ReadAllBytes(path + ".meta"),
                    File.ReadAllBytes(path + ".il"),
                    File.ReadAllBytes(path + ".pdb"));
            }
            catch (InvalidOperationException exception)
            {
                Console.WriteLine(exception.GetType().Name);
            }
            catch (NotSupportedException exception)
            {
                Console.WriteLine(exception.GetType().Name);
            }
            Show(edit);
        }
        return 3;
    }

    private static void Show(int edits)
    {
        Announce("before " + edits);
        Console.WriteLine(edits + " " + Edited.Answer() + " " + Edited.Same());
        Announce("after " + edits);
        // Requests of the profiler are effective by then.
        Console.WriteLine(edits + " " + Edited.Answer() + " " + Edited.Same());
    }

    // The name of a thread notifies the profiler.
    private static void Announce(string what)
    {
        var thread = new Thread(() => Thread.CurrentThread.Name = what);
        thread.Start();
        thread.Join();
    }
}
