// One item of each kind of metadata. The program itself prints one line.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

[assembly: System.Reflection.AssemblyVersion("1.2.3.4")]

namespace Shop
{
    [AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
    public sealed class LabelAttribute : Attribute
    {
        public LabelAttribute(string text, int number) { }
        public bool Loud { get; set; }
    }

    public interface IPriced
    {
        decimal Price { get; }
    }

    public enum Colour : byte { Red = 1, Green = 200 }

    [StructLayout(LayoutKind.Explicit, Pack = 4, Size = 24)]
    public struct Overlaid
    {
        [FieldOffset(0)] public int Whole;
        [FieldOffset(2)] public short Half;
        [FieldOffset(16)] public double Far;
    }

    [Label("cart", 7, Loud = true)]
    public class Cart<TItem, TKey> : IPriced
        where TItem : class, IPriced, new()
        where TKey : struct
    {
        public const int Limit = -12;
        public const string Motto = "n\u00e4chste";
        public const double Rate = 0.5;
        public const char Mark = 'x';
        public const string Nothing = null;
        public const ulong Most = ulong.MaxValue;
        public volatile int Count;

        public event EventHandler Changed;

        public string Owner { get; set; }
        public int this[string name, long place] { get { return Limit; } }

        decimal IPriced.Price { get { return 1; } }

        public void Add(string name, int count = 5) { if (Changed != null) Changed(this, null); }
        public void Add(TItem item) { }
        public T Convert<T>(Func<TItem, T> how) where T : IDisposable { return default(T); }

        public class Line { }
    }

    public static class Program
    {
        [DllImport("libc", EntryPoint = "getpid", CharSet = CharSet.Unicode, SetLastError = true,
            CallingConvention = CallingConvention.Cdecl)]
        public static extern int ProcessId([MarshalAs(UnmanagedType.LPStr)] string unused);

        static int Main()
        {
            var list = new List<int> { 1 };
            Console.WriteLine("half a pair \ud800, a zero \0, and {0}".Length);
            Array.Sort<long>(new long[list.Count]);
            return 4;
        }
    }
}
