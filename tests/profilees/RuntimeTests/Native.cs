// Calls of native code and back, by a delegate; exceptions; and events.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace RuntimeTests
{
    internal static class Transitions
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int Compare(IntPtr key, IntPtr item);

        // Calls the function once: there is one item.
        [DllImport("libc", EntryPoint = "bsearch")]
        private static extern IntPtr SearchBlittable(IntPtr key, IntPtr items, UIntPtr count, UIntPtr size, IntPtr compare);

        [DllImport("libc", EntryPoint = "bsearch", CharSet = CharSet.Ansi)]
        private static extern IntPtr SearchText(string key, IntPtr items, UIntPtr count, UIntPtr size, IntPtr compare);

        internal static void Run(bool blittable)
        {
            Compare compare = (key, item) => 0;
            IntPtr function = Marshal.GetFunctionPointerForDelegate(compare);
            IntPtr items = Marshal.AllocHGlobal(8);
            IntPtr found = blittable
                ? SearchBlittable(items, items, (UIntPtr)1, (UIntPtr)8, function)
                : SearchText("key", items, (UIntPtr)1, (UIntPtr)8, function);
            Console.WriteLine(found == items);
            Marshal.FreeHGlobal(items);
            GC.KeepAlive(compare);
        }
    }

    internal static class Throws
    {
        internal static void Run()
        {
            Catch();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw()
        {
            throw new InvalidOperationException("thrown");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Catch()
        {
            try
            {
                Throw();
            }
            catch (Exception error) when (error.Message == "thrown")
            {
            }
        }

        // For each line of the input an exception, until the line is `end`.
        internal static void Wait()
        {
            Console.WriteLine("ready");
            while (Console.ReadLine() is string line && line != "end")
            {
                Catch();
                Console.WriteLine("caught " + line);
            }
        }
    }

    [EventSource(Name = "RuntimeTests-Source")]
    internal sealed class Source : EventSource
    {
        internal Source()
            : base(EventSourceSettings.EtwSelfDescribingEventFormat)
        {
        }

        [Event(1)]
        public void Number(int number)
        {
            WriteEvent(1, number);
        }

        [Event(2)]
        public void Arrays(char letter, int[] numbers, string text)
        {
            WriteEvent(2, letter, numbers, text);
        }

        [Event(3)]
        public void Pairs(string source, string name, IEnumerable<KeyValuePair<string, string>> pairs)
        {
            WriteEvent(3, source, name, pairs);
        }
    }

    internal static class Events
    {
        // The profiler writes its events when this method is called.
        internal static void Write()
        {
            Profiler.Call(0);
        }

        internal static void Read()
        {
            Profiler.Call(0);
            using (var source = new Source())
            {
                for (int i = 0; i < 500 && !source.IsEnabled(); i++)
                    Thread.Sleep(10);
                source.Number(12);
                source.Arrays('d', Enumerable.Range(0, 120).ToArray(), "a text");
                var pair = KeyValuePair.Create("the key", "the value");
                source.Pairs("the source", "the event", new List<KeyValuePair<string, string>> { pair });
            }
            Profiler.Call(1);
        }
    }
}
