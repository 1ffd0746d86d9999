// Allocates known numbers of objects, and collects garbage step by step.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Allocates
{
    internal sealed class Small
    {
        public long Content = 1;
    }

    internal sealed class Tracked
    {
        public long Content = 2;
    }

    internal struct Item
    {
        public long Content;
    }

    internal static class Program
    {
        private static readonly object[] Kept = new object[100];

        private static int Main()
        {
            // Only the requested collections.
            Garbage(100);
            Tracked tracked = Make();
            for (int i = 0; i < 5; i++)
                Kept[i] = new Item[20000];
            for (int i = 0; i < 3; i++)
                Kept[10 + i] = new Item[10];
            Console.WriteLine("pinned " + (Pinned(2) == (Environment.Version.Major < 5 ? 0 : 2)));
            Say("at", tracked);
            GC.Collect(0, GCCollectionMode.Forced, true, true);
            Say("at", tracked);
            Garbage(11);
            GC.Collect(1, GCCollectionMode.Forced, true, true);
            Say("at", tracked);
            GC.Collect(2, GCCollectionMode.Forced, true, true);
            Say("at", tracked);
            // A profiler collects at this name.
            Tell("force");
            Say("at", tracked);
            GCHandle handle = GCHandle.Alloc(tracked, GCHandleType.Weak);
            Tell("handle made");
            Console.WriteLine("alive " + (handle.Target == tracked));
            handle.Free();
            Tell("handle freed");
            GC.KeepAlive(tracked);
            return 9;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Tracked Make()
        {
            return new Tracked();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Garbage(int count)
        {
            for (int i = 0; i < count; i++)
                Kept[99] = new Small();
            Kept[99] = null;
        }

        // Newer runtimes have a heap for objects that never move.
        private static int Pinned(int count)
        {
            MethodInfo method = typeof(GC).GetMethod("AllocateArray");
            if (method == null)
                return 0;
            method = method.MakeGenericMethod(typeof(Item));
            for (int i = 0; i < count; i++)
                Kept[20 + i] = method.Invoke(null, new object[] { 30, true });
            return count;
        }

        private static unsafe void Say(string what, object which)
        {
            TypedReference reference = __makeref(which);
            long address = (long)**(IntPtr**)&reference;
            Tell(what + " " + address);
        }

        private static void Tell(string name)
        {
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }
    }
}
