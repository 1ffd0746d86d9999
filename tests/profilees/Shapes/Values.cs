using System;
using System.Runtime.InteropServices;

namespace Shapes
{
    internal struct One
    {
        public byte Value;
    }

    internal struct Floats
    {
        public float A, B, C;
    }

    internal struct Mixed
    {
        public int Number;
        public double Real;
    }

    internal struct Big
    {
        public long A, B, C, D, E, F, G, H;
    }

    internal struct WithReference
    {
        public string Text;
        public int Number;
    }

    [StructLayout(LayoutKind.Explicit)]
    internal struct Overlaid
    {
        [FieldOffset(0)] public float Single;
        [FieldOffset(0)] public uint Bits;
    }

    internal enum Colour : byte
    {
        Red = 1,
        Green,
        Blue = 200
    }

    internal enum Huge : ulong
    {
        All = ulong.MaxValue
    }

    // Every type is passed and returned.
    internal static class Values
    {
        private static bool Bool(bool value) { return !value; }
        private static char Char(char value) { return (char)(value + 1); }
        private static sbyte SByte(sbyte value) { return (sbyte)-value; }
        private static byte Byte(byte value) { return (byte)(value * 2); }
        private static short Short(short value) { return (short)(value - 1); }
        private static ushort UShort(ushort value) { return (ushort)~value; }
        private static uint UInt(uint value) { return value >> 1; }
        private static long Long(long value) { return value << 32; }
        private static ulong ULong(ulong value) { return value / 3; }
        private static float Single(float value) { return value * 0.5f; }
        private static double Double(double value) { return 1 / value; }
        private static IntPtr Native(IntPtr value) { return new IntPtr(value.ToInt64() + 1); }
        private static UIntPtr Unsigned(UIntPtr value) { return new UIntPtr(value.ToUInt64() ^ 1); }
        private static string Text(string value) { return value + value; }
        private static object Thing(object value) { return value; }
        private static Array Strings(string[] values) { return (Array)values.Clone(); }
        private static int[][] Jagged(int size) { return new[] { new int[size], null }; }
        private static Colour Next(Colour value) { return value + 1; }
        private static Huge Inverse(Huge value) { return ~value; }
        private static Type TypeOf(object value) { return value.GetType(); }
        private static DateTime Later(DateTime time, TimeSpan by) { return time + by; }
        private static int? Half(int? value) { return value / 2; }
        private static dynamic Untyped(object value) { return value; }

        private static One MakeOne(byte value) { return new One { Value = value }; }

        private static Floats MakeFloats(float a) { return new Floats { A = a, B = a + 1, C = a + 2 }; }

        private static Mixed MakeMixed(int number, double real) { return new Mixed { Number = number, Real = real }; }

        private static Big MakeBig(long first)
        {
            Big big = new Big { A = first };
            big.H = big.A * 2;
            return big;
        }

        private static WithReference MakeWithReference(string text)
        {
            WithReference made;
            made.Text = text;
            made.Number = text.Length;
            return made;
        }

        private static uint BitsOf(float value)
        {
            Overlaid overlaid = new Overlaid();
            overlaid.Single = value;
            return overlaid.Bits;
        }

        private static long SumBig(Big big, ref Big other, out Big sum)
        {
            sum = new Big { A = big.A + other.A, H = big.H + other.H };
            other.A = 0;
            big.A = 0;
            return sum.A + sum.H;
        }

        private static float SumFloats(Floats a, Floats b, int times)
        {
            return (a.A + b.A + a.B + b.B + a.C + b.C) * times;
        }

        private static double Chosen(bool first, Mixed a, Mixed b)
        {
            Mixed chosen = first ? a : b;
            return chosen.Real * chosen.Number;
        }

        private static object Boxed(int kind)
        {
            switch (kind)
            {
                case 0: return true;
                case 1: return 'c';
                case 2: return 3L;
                case 3: return 0.25f;
                case 4: return Colour.Blue;
                case 5: return MakeOne(6);
                case 6: return (int?)7;
                case 7: return (int?)null;
                default: return DBNull.Value;
            }
        }

        private static int Unboxed(object value)
        {
            if (value is int)
                return (int)value;
            if (value is One)
                return ((One)value).Value;
            Colour? colour = value as Colour?;
            return colour.HasValue ? (int)colour.Value : -1;
        }

        public static void All()
        {
            Check.Same("Bool", false, Bool(true));
            Check.Same("Char", 'b', Char('a'));
            Check.Same("SByte", -128, SByte(-128));
            Check.Same("Byte", 254, Byte(255));
            Check.Same("Short", 32767, Short(-32768));
            Check.Same("UShort", 65535, UShort(0));
            Check.Same("UInt", 0x7fffffff, UInt(uint.MaxValue));
            Check.Same("Long", -4294967296, Long(-1));
            Check.Same("ULong", 6148914691236517205, (long)ULong(ulong.MaxValue));
            Check.Same("Single", 0.75, Single(1.5f));
            Check.Same("Double", double.NegativeInfinity, Double(-0.0));
            Check.Same("Native", 0, Native(new IntPtr(-1)).ToInt64());
            Check.Same("Unsigned", 2, (long)Unsigned(new UIntPtr(3)).ToUInt64());
            Check.Same("Text", "abab", Text("ab"));
            Check.True("Thing", Thing(null) == null);
            Check.Same("Strings", "y", (string)Strings(new[] { "x", "y" }).GetValue(1));
            Check.Same("Jagged", 3, Jagged(3)[0].Length);
            Check.Same("Next", (int)Colour.Green, (int)Next(Colour.Red));
            Check.Same("Inverse", 0, (long)Inverse(Huge.All));
            Check.Same("TypeOf", "Colour", TypeOf(Colour.Red).Name);
            Check.Same("Later", 2026, Later(new DateTime(2025, 12, 31), TimeSpan.FromDays(1)).Year);
            Check.True("Half", Half(7) == 3 && Half(null) == null);
            Check.Same("Untyped", "u", ((object)Untyped("u")).ToString());
            Check.Same("MakeOne", 255, MakeOne(255).Value);
            Check.Same("MakeFloats", 6.0, SumFloats(MakeFloats(0), MakeFloats(0), 1));
            Check.Same("SumFloats", 24.0, SumFloats(MakeFloats(1), MakeFloats(1), 2));
            Check.Same("MakeMixed", 1.5, Chosen(true, MakeMixed(3, 0.5), MakeMixed(1, 1)));
            Check.Same("Chosen", 1.0, Chosen(false, MakeMixed(3, 0.5), MakeMixed(1, 1)));
            Check.Same("MakeWithReference", 4, MakeWithReference("four").Number);
            Check.Same("BitsOf", 0x3f800000, BitsOf(1));
            Big big = MakeBig(1), other = MakeBig(10), sum;
            Check.Same("SumBig", 33, SumBig(big, ref other, out sum));
            Check.Same("SumBig", 1 + 0 + 11 + 22, big.A + other.A + sum.A + sum.H);
            Check.Same("Boxed", "True c 3 0.25 Blue Shapes.One 7 null",
                "" + Boxed(0) + ' ' + Boxed(1) + ' ' + Boxed(2) + ' ' + Boxed(3) + ' ' + Boxed(4) + ' ' + Boxed(5) + ' ' + Boxed(6)
                + ' ' + (Boxed(7) ?? "null"));
            Check.Same("Unboxed", 5 + 6 + 200 - 1, Unboxed(5) + Unboxed(Boxed(5)) + Unboxed(Boxed(4)) + Unboxed("x"));
        }
    }
}
