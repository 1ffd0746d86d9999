// Arguments and results of every kind, which a profiler boxes. Prints only the results of the methods of
// `Kinds`; `Program` has the methods that the profiler calls.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Runtime.CompilerServices;

namespace Boxes
{
    internal enum Color : byte
    {
        Red = 1,
        Blue = 7
    }

    internal struct Pair<T, U>
    {
        public T First;
        public U Second;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public V Third<V>(V third, T[] others, ref U second)
        {
            Second = second;
            return third;
        }

        public override string ToString()
        {
            return "<" + Program.Text(First) + " " + Program.Text(Second) + ">";
        }
    }

    internal class Holder<T>
    {
        private readonly T held;

        public Holder(T held)
        {
            this.held = held;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Held()
        {
            return held;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Dictionary<T, U> Both<U>(T key, U value, Pair<T, U> pair, ref T place, out U other)
        {
            other = value;
            return new Dictionary<T, U> { { key, value } };
        }

        internal struct Inner
        {
            public T Value;

            [MethodImpl(MethodImplOptions.NoInlining)]
            public Inner Same(Inner other)
            {
                return other;
            }

            public override string ToString()
            {
                return "inner " + Program.Text(Value);
            }
        }

        public override string ToString()
        {
            return "holder of " + typeof(T).Name;
        }
    }

    internal struct Small
    {
        public short Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Small(short number)
        {
            Number = number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public short Twice()
        {
            Number *= 2;
            return Number;
        }

        public override string ToString()
        {
            return "small " + Number;
        }
    }

    internal static class Kinds
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Nothing()
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static bool Integers(bool a, char b, sbyte c, byte d, short e, ushort f, int g, uint h, long i, ulong j)
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static double Others(float a, double b, IntPtr c, UIntPtr d, decimal e, DateTime f, string g, object h)
        {
            return b;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Color Values(Color a, Small b, int? c, int? d, Color? e, KeyValuePair<string, int> f, DayOfWeek g)
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int? Maybe(int a)
        {
            return a > 0 ? a : (int?)null;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int[] Arrays(int[] a, string[] b, int[,] c, Small[][] d, List<int> e)
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static ref int References(ref int a, ref string b, out Small c, ref long d, ref Color e, ref int? f)
        {
            c = new Small(4);
            return ref a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static unsafe int* Pointers(int* a, void* b, Small** c, ref int* d)
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Span<int> OnStack(Span<int> a, ReadOnlySpan<char> b, int c, ref Span<int> d)
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T Any<T, U>(T a, U b, ref T c, T[] d, List<U> e) where T : IComparable<T>
        {
            return a;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Typed(TypedReference a, int b)
        {
            return b;
        }

        // The profiler lets the program return other arguments: see `Program.Replace`.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static unsafe string Replaced<T>(int a, string b, Color c, T d, ref Small e, ref string f, int* g, int[] h, Pair<int, T> i, int? j)
        {
            return string.Join(" ", a, b, c, d, e, f, ((IntPtr)g).ToInt64(), h.Length, i, j);
        }
    }

    internal static class Program
    {
        internal static string Text(object value)
        {
            if (value == null)
                return "null";
            if (value is string)
                return "\"" + value + "\"";
            if (value is Array)
                return value.GetType().Name + ((Array)value).Length;
            // From .NET 5 on, `IntPtr` has formats.
            var number = value is IntPtr || value is UIntPtr ? null : value as IFormattable;
            string text = number == null ? value.ToString() : number.ToString(null, CultureInfo.InvariantCulture);
            return value.GetType().Name + ":" + text;
        }

        public static void Show(string method, object self, object[] arguments)
        {
            Console.WriteLine(method + " of " + Text(self) + " (" + string.Join(", ", arguments.Select(Text)) + ")");
        }

        public static void Gave(string method, object result)
        {
            Console.WriteLine(method + " gave " + Text(result));
        }

        public static object Replace(int number, object argument)
        {
            Console.WriteLine("replacing " + number + " " + Text(argument));
            switch (number)
            {
                case 0: return 10;
                case 1: return "eleven";
                case 2: return Color.Blue;
                case 3: return argument is int ? (object)13 : "thirteen";
                case 4: return new Small(14);
                case 5: return "fifteen";
                case 6: return new IntPtr(16);
                case 7: return new int[17];
                case 8: return argument is Pair<int, int> ? (object)new Pair<int, int> { First = 18, Second = 18 } : new Pair<int, string> { First = 18, Second = "18" };
                default: return null;
            }
        }

        private static unsafe int Main()
        {
            CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
            Kinds.Nothing();
            Kinds.Integers(true, 'x', -1, 2, -3, 4, -5, 6, -7, ulong.MaxValue);
            Kinds.Others(1.5f, -2.25, new IntPtr(-3), new UIntPtr(4), 5.75m, new DateTime(2020, 1, 2), "text", new Holder<Uri>(null));
            Kinds.Values(Color.Blue, new Small(3), 5, null, Color.Red, new KeyValuePair<string, int>("k", 1), DayOfWeek.Friday);
            Kinds.Maybe(3);
            Kinds.Maybe(-3);
            Kinds.Arrays(new int[2], new string[3], new int[2, 2], new Small[1][], new List<int>());
            int one = 1;
            string text = "by reference";
            long large = 1L << 40;
            Color color = Color.Red;
            int? maybe = 8;
            one += Kinds.References(ref one, ref text, out Small small, ref large, ref color, ref maybe);
            int* pointer = (int*)0x1234;
            Kinds.Pointers((int*)0x10, (void*)0x20, (Small**)0x30, ref pointer);
            Span<int> span = new int[3];
            Kinds.OnStack(span, "abc".AsSpan(), 5, ref span);
            string place = "place";
            Kinds.Any("a", 1, ref place, new string[1], new List<int>());
            Kinds.Any(2, "b", ref one, new int[2], new List<string>());
            Kinds.Any(Color.Blue.ToString().Length, new Small(6), ref one, new int[2], new List<Small>());
            Kinds.Typed(__makeref(one), 7);
            var holder = new Holder<string>("held");
            holder.Held();
            holder.Both("key", 1, new Pair<string, int> { First = "f", Second = 2 }, ref place, out int other);
            holder.Both("key", "value", new Pair<string, string>(), ref place, out string another);
            var numbers = new Holder<int>(9);
            numbers.Held();
            numbers.Both(1, DayOfWeek.Monday, new Pair<int, DayOfWeek>(), ref one, out DayOfWeek day);
            var inner = new Holder<long>.Inner { Value = 3 };
            inner.Same(new Holder<long>.Inner { Value = 4 });
            new Holder<Uri>.Inner().Same(new Holder<Uri>.Inner());
            string second = "second";
            var pair = new Pair<int, string> { First = 1, Second = "2" };
            pair.Third(3.5, new int[4], ref second);
            var texts = new Pair<string, string> { First = "1", Second = "2" };
            texts.Third("three", new string[4], ref second);
            small = new Small(21);
            Console.WriteLine("twice " + small.Twice());
            Console.WriteLine("replaced " + Kinds.Replaced(0, "1", Color.Red, 3, ref small, ref text, (int*)6, new int[7], new Pair<int, int>(), 9));
            Console.WriteLine("replaced " + Kinds.Replaced(0, "1", Color.Red, "3", ref small, ref text, (int*)6, new int[7], new Pair<int, string>(), 9));
            Console.WriteLine("then " + small + " " + text);
            return 5;
        }
    }
}
