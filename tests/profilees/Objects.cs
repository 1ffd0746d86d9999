// Objects of all kinds, kept where a profiler of the tests can find them.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Objects
{
    internal struct Point
    {
        public byte Tag;
        public int X;
        public long Y;
    }

    internal enum Colour : short
    {
        Red = 1,
        Blue = -2
    }

    internal class Base
    {
        private readonly int inherited = 7;
        protected readonly string hidden = "of the base";

        public override string ToString() { return hidden + inherited; }
    }

    internal class Pair<T, U> : Base
    {
        public T First;
        public U Second;
    }

    internal sealed class Holder : Base
    {
        public string Text = "text ä𝄞";
        public string Empty = "";
        public string Nothing;
        public long Number = 0x1122334455667788;
        public double Ratio = 2.5;
        public bool Flag = true;
        public char Letter = 'ß';
        public int[] Numbers = { 10, -20, 30 };
        public Point[] Points = { new Point { Tag = 1, X = 2, Y = 3 }, new Point { Tag = 4, X = 5, Y = -6 } };
        public short[,] Grid = { { 1, 2, 3 }, { 4, 5, 6 } };
        public string[] Words = { "one", null, "three" };
        public object Boxed = 42;
        public object Enumeration = Colour.Blue;
        public Pair<short, string> Pair = new Pair<short, string> { First = -5, Second = "second" };
        public new string hidden = "of the holder";
    }

    internal sealed class Carrier : Exception
    {
        public readonly Holder Held;

        public Carrier(Holder held) : base("carried")
        {
            Held = held;
        }
    }

    internal static class Program
    {
        private static readonly string Name = string.Concat("static", " text");
        private static int Count = 17;
        private static Point Origin = new Point { Tag = 9, X = 8, Y = 7 };
        private static Holder[] kept;
        [ThreadStatic] private static int perThread;

        private static int Main()
        {
            // Otherwise the characters are those of a code page.
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
                Console.SetOut(new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true });
            Console.WriteLine("variable " + (Environment.GetEnvironmentVariable("SET_BY_PROFILER") ?? "none"));
            perThread = 23;
            kept = new[] { new Holder(), new Holder(), new Holder() };
            Count++;
            Console.WriteLine(Name + Count + Origin.X);
            Console.WriteLine("outer " + Outer(1));
            var thread = new Thread(() => { });
            thread.Name = "named";
            thread.Start();
            thread.Join();
            GC.KeepAlive(kept);
            return 3;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Outer(int n)
        {
            return Inner(n + 1) + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Inner(int n)
        {
            try
            {
                throw new Carrier(kept[1]);
            }
            catch (Carrier caught)
            {
                return n + caught.Held.Numbers.Length;
            }
        }
    }
}
