// Passes and returns values of all shapes, by value and by reference, and prints the received ones.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Values
{
    internal enum Small : byte { A, B = 200 }
    internal enum Number { A, B = -5 }
    internal enum Big : long { A, B = 1L << 50 }

    // Named after their contents and their size in bytes.
    internal struct B1 { public byte A; }
    internal struct S2 { public short A; }
    internal struct C3 { public byte A; public byte B; public byte C; }
    internal struct I4 { public int A; }
    internal struct F4 { public float A; }
    internal struct IB5 { public int A; public byte B; }
    internal struct FF8 { public float A; public float B; }
    internal struct D8 { public double A; }
    internal struct L8 { public long A; }
    internal struct P8 { public IntPtr A; }
    internal struct U8 { public UIntPtr A; }
    internal struct R8 { public string A; }
    internal struct IF8 { public int A; public float B; }
    internal struct FI8 { public float A; public int B; }
    internal struct IFI12 { public int A; public float B; public int C; }
    internal struct FFF12 { public float A; public float B; public float C; }
    internal struct LD16 { public long A; public double B; }
    internal struct DL16 { public double A; public long B; }
    internal struct LL16 { public long A; public long B; }
    internal struct DD16 { public double A; public double B; }
    internal struct PD16 { public IntPtr A; public double B; }
    internal struct DP16 { public double A; public IntPtr B; }
    internal struct PP16 { public IntPtr A; public UIntPtr B; }
    internal struct RD16 { public string A; public double B; }
    internal struct DR16 { public double A; public string B; }
    internal struct RR16 { public string A; public string B; }
    internal struct LR16 { public long A; public string B; }
    internal struct PR16 { public IntPtr A; public string B; }
    internal struct FFFF16 { public float A; public float B; public float C; public float D; }
    internal struct IFL16 { public int A; public float B; public long C; }
    internal struct LIF16 { public long A; public int B; public float C; }
    internal struct FFL16 { public float A; public float B; public long C; }
    internal struct LF16 { public long A; public float B; }
    internal struct LLL24 { public long A; public long B; public long C; }
    internal struct DDD24 { public double A; public double B; public double C; }
    internal struct RDL24 { public string A; public double B; public long C; }
    internal struct PPP24 { public IntPtr A; public IntPtr B; public UIntPtr C; }
    internal struct Nested { public IF8 A; public D8 B; }
    internal struct One<T> { public T A; }
    internal struct Two<T, U> { public T A; public U B; }

    internal delegate T Pass<T>(int i, T a, float f, T b, double d, long l, T c);
    internal delegate double Through<T>(ref T a, out T b, float f);

    internal sealed class Instance
    {
        private readonly float start = 2.5f;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public double Float(float a, int b, double c) { return start + a + b + c; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public LD16 Struct(float a, LD16 b, double c) { b.B += a + c + start; return b; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public DP16 Pointer(DP16 a, float b) { a.A += b + start; return a; }
    }

    internal static class Program
    {
        private static int Main()
        {
            Value<bool>(true, Pass, Through);
            Value<char>('x', Pass, Through);
            Value<sbyte>(-3, Pass, Through);
            Value<byte>(200, Pass, Through);
            Value<short>(-300, Pass, Through);
            Value<ushort>(60000, Pass, Through);
            Value<int>(-70000, Pass, Through);
            Value<uint>(4000000000, Pass, Through);
            Value<long>(-1L << 40, Pass, Through);
            Value<ulong>(1UL << 63, Pass, Through);
            Value<float>(1.25f, Pass, Through);
            Value<double>(-2.5, Pass, Through);
            Value<IntPtr>(new IntPtr(0x1234), Pass, Through);
            Value<UIntPtr>(new UIntPtr(0x4321), Pass, Through);
            Value<string>("text", Pass, Through);
            Value<object>(5, Pass, Through);
            Value<int[]>(new[] { 1, 2 }, Pass, Through);
            Value<decimal>(1.5m, Pass, Through);
            Value<DateTime>(new DateTime(2020, 1, 2), Pass, Through);
            Value<TimeSpan>(TimeSpan.FromTicks(77), Pass, Through);
            Value<Guid>(new Guid("DF63A541-5A33-4611-8829-F4E495985EE3"), Pass, Through);
            Value<Small>(Small.B, Pass, Through);
            Value<Number>(Number.B, Pass, Through);
            Value<Big>(Big.B, Pass, Through);
            Value<B1>(new B1 { A = 1 }, Pass, Through);
            Value<S2>(new S2 { A = -2 }, Pass, Through);
            Value<C3>(new C3 { A = 1, B = 250, C = 3 }, Pass, Through);
            Value<I4>(new I4 { A = 7 }, Pass, Through);
            Value<F4>(new F4 { A = 1.5f }, Pass, Through);
            Value<IB5>(new IB5 { A = 7, B = 1 }, Pass, Through);
            Value<FF8>(new FF8 { A = 1.5f, B = -2.25f }, Pass, Through);
            Value<D8>(new D8 { A = 0.5 }, Pass, Through);
            Value<L8>(new L8 { A = 1L << 40 }, Pass, Through);
            Value<P8>(new P8 { A = new IntPtr(0x1000) }, Pass, Through);
            Value<U8>(new U8 { A = new UIntPtr(0x7000) }, Pass, Through);
            Value<R8>(new R8 { A = "one" }, Pass, Through);
            Value<IF8>(new IF8 { A = 7, B = 1.5f }, Pass, Through);
            Value<FI8>(new FI8 { A = 1.5f, B = 7 }, Pass, Through);
            Value<IFI12>(new IFI12 { A = 7, B = 1.5f, C = -70000 }, Pass, Through);
            Value<FFF12>(new FFF12 { A = 1.5f, B = -2.25f, C = 3.125f }, Pass, Through);
            Value<LD16>(new LD16 { A = 1L << 40, B = 0.5 }, Pass, Through);
            Value<DL16>(new DL16 { A = 0.5, B = 1L << 40 }, Pass, Through);
            Value<LL16>(new LL16 { A = 1L << 40, B = -5L }, Pass, Through);
            Value<DD16>(new DD16 { A = 0.5, B = -6.25 }, Pass, Through);
            Value<PD16>(new PD16 { A = new IntPtr(0x1000), B = 0.5 }, Pass, Through);
            Value<DP16>(new DP16 { A = 0.5, B = new IntPtr(0x1000) }, Pass, Through);
            Value<PP16>(new PP16 { A = new IntPtr(0x1000), B = new UIntPtr(0x7000) }, Pass, Through);
            Value<RD16>(new RD16 { A = "one", B = 0.5 }, Pass, Through);
            Value<DR16>(new DR16 { A = 0.5, B = "one" }, Pass, Through);
            Value<RR16>(new RR16 { A = "one", B = "two" }, Pass, Through);
            Value<LR16>(new LR16 { A = 1L << 40, B = "one" }, Pass, Through);
            Value<PR16>(new PR16 { A = new IntPtr(0x1000), B = "one" }, Pass, Through);
            Value<FFFF16>(new FFFF16 { A = 1.5f, B = -2.25f, C = 3.125f, D = 4.75f }, Pass, Through);
            Value<IFL16>(new IFL16 { A = 7, B = 1.5f, C = 1L << 40 }, Pass, Through);
            Value<LIF16>(new LIF16 { A = 1L << 40, B = 7, C = 1.5f }, Pass, Through);
            Value<FFL16>(new FFL16 { A = 1.5f, B = -2.25f, C = 1L << 40 }, Pass, Through);
            Value<LF16>(new LF16 { A = 1L << 40, B = 1.5f }, Pass, Through);
            Value<LLL24>(new LLL24 { A = 1L << 40, B = -5L, C = 6L }, Pass, Through);
            Value<DDD24>(new DDD24 { A = 0.5, B = -6.25, C = 7.5 }, Pass, Through);
            Value<RDL24>(new RDL24 { A = "one", B = 0.5, C = 1L << 40 }, Pass, Through);
            Value<PPP24>(new PPP24 { A = new IntPtr(0x1000), B = new IntPtr(-3), C = new UIntPtr(0x7000) }, Pass, Through);
            Value<Nested>(new Nested { A = new IF8 { A = 5, B = 6.5f }, B = new D8 { A = 7.5 } }, Pass, Through);
            Value<One<int>>(new One<int> { A = 3 }, Pass, Through);
            Value<One<double>>(new One<double> { A = 3.5 }, Pass, Through);
            Value<One<string>>(new One<string> { A = "in" }, Pass, Through);
            Value<One<IntPtr>>(new One<IntPtr> { A = new IntPtr(9) }, Pass, Through);
            Value<Two<int, double>>(new Two<int, double> { A = 3, B = 4.5 }, Pass, Through);
            Value<Two<IntPtr, float>>(new Two<IntPtr, float> { A = new IntPtr(8), B = 4.5f }, Pass, Through);
            Value<Two<string, UIntPtr>>(new Two<string, UIntPtr> { A = "s", B = new UIntPtr(6) }, Pass, Through);
            Value<KeyValuePair<int, double>>(new KeyValuePair<int, double>(4, 5.5), Pass, Through);
            Value<ValueTuple<int, float>>(ValueTuple.Create(5, 6.5f), Pass, Through);
            Value<ValueTuple<IntPtr, UIntPtr>>(ValueTuple.Create(new IntPtr(5), new UIntPtr(6)), Pass, Through);
            Value<ValueTuple<double, string, int>>(ValueTuple.Create(2.5, "t", 3), Pass, Through);
            Value<int?>((int?)6, Pass, Through);
            Value<double?>((double?)6.5, Pass, Through);
            Value<IntPtr?>((IntPtr?)new IntPtr(7), Pass, Through);
            Value<IF8?>((IF8?)new IF8 { A = 1, B = 2.5f }, Pass, Through);
            Value<long?>((long?)null, Pass, Through);
            Many();
            return 9;
        }

        private static void Value<T>(T value, Pass<T> pass, Through<T> through)
        {
            T other = default(T);
            T returned = pass(3, value, 1.5f, value, -2.5, 1L << 33, value);
            Say(typeof(T).Name, returned);
            Say("through", through(ref returned, out other, 4.5f));
            Say("out", other);
        }

        private static void Many()
        {
            var instance = new Instance();
            Say("instance", instance.Float(1.5f, 2, 3.25));
            Say("instance", instance.Struct(1.5f, new LD16 { A = 6, B = 7.5 }, 3.25));
            Say("instance", instance.Pointer(new DP16 { A = 1.5, B = new IntPtr(5) }, 3.5f));
            Say("floats", Floats(1, 2, 3, 4, 5, 6, 7, 8, 9.5f, 10.5));
            Say("numbers", Numbers(1, 2, 3, 4, 5, 6, 7, 8.5, 9));
            Say("generic", Generic(1.5f, 2.5) + Generic(new IntPtr(3), new UIntPtr(4)) + Generic("a", 5.5f));
            IntPtr kept = new IntPtr(11);
            Say("by reference", Reference(ref kept));
            Say("by reference", kept);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static float Floats(
            float a, double b, float c, double d, float e, double f, float g, double h, float i, double j)
        {
            return (float)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static double Numbers(
            int a, long b, byte c, short d, uint e, ulong f, int g, double h, long i)
        {
            return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * (long)f + 7 * g + 8 * h + 9 * i;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Generic<T, U>(T a, U b)
        {
            return Show(a) + Show(b);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static IntPtr Reference(ref IntPtr value)
        {
            IntPtr before = value;
            value = new IntPtr(13);
            return before;
        }

        private static bool Pass(int i, bool a, float f, bool b, double d, long l, bool c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref bool a, out bool b, float f) { b = a; return f + 1; }
        private static char Pass(int i, char a, float f, char b, double d, long l, char c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref char a, out char b, float f) { b = a; return f + 1; }
        private static sbyte Pass(int i, sbyte a, float f, sbyte b, double d, long l, sbyte c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref sbyte a, out sbyte b, float f) { b = a; return f + 1; }
        private static byte Pass(int i, byte a, float f, byte b, double d, long l, byte c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref byte a, out byte b, float f) { b = a; return f + 1; }
        private static short Pass(int i, short a, float f, short b, double d, long l, short c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref short a, out short b, float f) { b = a; return f + 1; }
        private static ushort Pass(int i, ushort a, float f, ushort b, double d, long l, ushort c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref ushort a, out ushort b, float f) { b = a; return f + 1; }
        private static int Pass(int i, int a, float f, int b, double d, long l, int c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref int a, out int b, float f) { b = a; return f + 1; }
        private static uint Pass(int i, uint a, float f, uint b, double d, long l, uint c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref uint a, out uint b, float f) { b = a; return f + 1; }
        private static long Pass(int i, long a, float f, long b, double d, long l, long c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref long a, out long b, float f) { b = a; return f + 1; }
        private static ulong Pass(int i, ulong a, float f, ulong b, double d, long l, ulong c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref ulong a, out ulong b, float f) { b = a; return f + 1; }
        private static float Pass(int i, float a, float f, float b, double d, long l, float c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref float a, out float b, float f) { b = a; return f + 1; }
        private static double Pass(int i, double a, float f, double b, double d, long l, double c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref double a, out double b, float f) { b = a; return f + 1; }
        private static IntPtr Pass(int i, IntPtr a, float f, IntPtr b, double d, long l, IntPtr c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IntPtr a, out IntPtr b, float f) { b = a; return f + 1; }
        private static UIntPtr Pass(int i, UIntPtr a, float f, UIntPtr b, double d, long l, UIntPtr c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref UIntPtr a, out UIntPtr b, float f) { b = a; return f + 1; }
        private static string Pass(int i, string a, float f, string b, double d, long l, string c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref string a, out string b, float f) { b = a; return f + 1; }
        private static object Pass(int i, object a, float f, object b, double d, long l, object c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref object a, out object b, float f) { b = a; return f + 1; }
        private static int[] Pass(int i, int[] a, float f, int[] b, double d, long l, int[] c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref int[] a, out int[] b, float f) { b = a; return f + 1; }
        private static decimal Pass(int i, decimal a, float f, decimal b, double d, long l, decimal c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref decimal a, out decimal b, float f) { b = a; return f + 1; }
        private static DateTime Pass(int i, DateTime a, float f, DateTime b, double d, long l, DateTime c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DateTime a, out DateTime b, float f) { b = a; return f + 1; }
        private static TimeSpan Pass(int i, TimeSpan a, float f, TimeSpan b, double d, long l, TimeSpan c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref TimeSpan a, out TimeSpan b, float f) { b = a; return f + 1; }
        private static Guid Pass(int i, Guid a, float f, Guid b, double d, long l, Guid c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Guid a, out Guid b, float f) { b = a; return f + 1; }
        private static Small Pass(int i, Small a, float f, Small b, double d, long l, Small c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Small a, out Small b, float f) { b = a; return f + 1; }
        private static Number Pass(int i, Number a, float f, Number b, double d, long l, Number c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Number a, out Number b, float f) { b = a; return f + 1; }
        private static Big Pass(int i, Big a, float f, Big b, double d, long l, Big c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Big a, out Big b, float f) { b = a; return f + 1; }
        private static B1 Pass(int i, B1 a, float f, B1 b, double d, long l, B1 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref B1 a, out B1 b, float f) { b = a; return f + 1; }
        private static S2 Pass(int i, S2 a, float f, S2 b, double d, long l, S2 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref S2 a, out S2 b, float f) { b = a; return f + 1; }
        private static C3 Pass(int i, C3 a, float f, C3 b, double d, long l, C3 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref C3 a, out C3 b, float f) { b = a; return f + 1; }
        private static I4 Pass(int i, I4 a, float f, I4 b, double d, long l, I4 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref I4 a, out I4 b, float f) { b = a; return f + 1; }
        private static F4 Pass(int i, F4 a, float f, F4 b, double d, long l, F4 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref F4 a, out F4 b, float f) { b = a; return f + 1; }
        private static IB5 Pass(int i, IB5 a, float f, IB5 b, double d, long l, IB5 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IB5 a, out IB5 b, float f) { b = a; return f + 1; }
        private static FF8 Pass(int i, FF8 a, float f, FF8 b, double d, long l, FF8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref FF8 a, out FF8 b, float f) { b = a; return f + 1; }
        private static D8 Pass(int i, D8 a, float f, D8 b, double d, long l, D8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref D8 a, out D8 b, float f) { b = a; return f + 1; }
        private static L8 Pass(int i, L8 a, float f, L8 b, double d, long l, L8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref L8 a, out L8 b, float f) { b = a; return f + 1; }
        private static P8 Pass(int i, P8 a, float f, P8 b, double d, long l, P8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref P8 a, out P8 b, float f) { b = a; return f + 1; }
        private static U8 Pass(int i, U8 a, float f, U8 b, double d, long l, U8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref U8 a, out U8 b, float f) { b = a; return f + 1; }
        private static R8 Pass(int i, R8 a, float f, R8 b, double d, long l, R8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref R8 a, out R8 b, float f) { b = a; return f + 1; }
        private static IF8 Pass(int i, IF8 a, float f, IF8 b, double d, long l, IF8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IF8 a, out IF8 b, float f) { b = a; return f + 1; }
        private static FI8 Pass(int i, FI8 a, float f, FI8 b, double d, long l, FI8 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref FI8 a, out FI8 b, float f) { b = a; return f + 1; }
        private static IFI12 Pass(int i, IFI12 a, float f, IFI12 b, double d, long l, IFI12 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IFI12 a, out IFI12 b, float f) { b = a; return f + 1; }
        private static FFF12 Pass(int i, FFF12 a, float f, FFF12 b, double d, long l, FFF12 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref FFF12 a, out FFF12 b, float f) { b = a; return f + 1; }
        private static LD16 Pass(int i, LD16 a, float f, LD16 b, double d, long l, LD16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LD16 a, out LD16 b, float f) { b = a; return f + 1; }
        private static DL16 Pass(int i, DL16 a, float f, DL16 b, double d, long l, DL16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DL16 a, out DL16 b, float f) { b = a; return f + 1; }
        private static LL16 Pass(int i, LL16 a, float f, LL16 b, double d, long l, LL16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LL16 a, out LL16 b, float f) { b = a; return f + 1; }
        private static DD16 Pass(int i, DD16 a, float f, DD16 b, double d, long l, DD16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DD16 a, out DD16 b, float f) { b = a; return f + 1; }
        private static PD16 Pass(int i, PD16 a, float f, PD16 b, double d, long l, PD16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref PD16 a, out PD16 b, float f) { b = a; return f + 1; }
        private static DP16 Pass(int i, DP16 a, float f, DP16 b, double d, long l, DP16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DP16 a, out DP16 b, float f) { b = a; return f + 1; }
        private static PP16 Pass(int i, PP16 a, float f, PP16 b, double d, long l, PP16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref PP16 a, out PP16 b, float f) { b = a; return f + 1; }
        private static RD16 Pass(int i, RD16 a, float f, RD16 b, double d, long l, RD16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref RD16 a, out RD16 b, float f) { b = a; return f + 1; }
        private static DR16 Pass(int i, DR16 a, float f, DR16 b, double d, long l, DR16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DR16 a, out DR16 b, float f) { b = a; return f + 1; }
        private static RR16 Pass(int i, RR16 a, float f, RR16 b, double d, long l, RR16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref RR16 a, out RR16 b, float f) { b = a; return f + 1; }
        private static LR16 Pass(int i, LR16 a, float f, LR16 b, double d, long l, LR16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LR16 a, out LR16 b, float f) { b = a; return f + 1; }
        private static PR16 Pass(int i, PR16 a, float f, PR16 b, double d, long l, PR16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref PR16 a, out PR16 b, float f) { b = a; return f + 1; }
        private static FFFF16 Pass(int i, FFFF16 a, float f, FFFF16 b, double d, long l, FFFF16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref FFFF16 a, out FFFF16 b, float f) { b = a; return f + 1; }
        private static IFL16 Pass(int i, IFL16 a, float f, IFL16 b, double d, long l, IFL16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IFL16 a, out IFL16 b, float f) { b = a; return f + 1; }
        private static LIF16 Pass(int i, LIF16 a, float f, LIF16 b, double d, long l, LIF16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LIF16 a, out LIF16 b, float f) { b = a; return f + 1; }
        private static FFL16 Pass(int i, FFL16 a, float f, FFL16 b, double d, long l, FFL16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref FFL16 a, out FFL16 b, float f) { b = a; return f + 1; }
        private static LF16 Pass(int i, LF16 a, float f, LF16 b, double d, long l, LF16 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LF16 a, out LF16 b, float f) { b = a; return f + 1; }
        private static LLL24 Pass(int i, LLL24 a, float f, LLL24 b, double d, long l, LLL24 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref LLL24 a, out LLL24 b, float f) { b = a; return f + 1; }
        private static DDD24 Pass(int i, DDD24 a, float f, DDD24 b, double d, long l, DDD24 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref DDD24 a, out DDD24 b, float f) { b = a; return f + 1; }
        private static RDL24 Pass(int i, RDL24 a, float f, RDL24 b, double d, long l, RDL24 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref RDL24 a, out RDL24 b, float f) { b = a; return f + 1; }
        private static PPP24 Pass(int i, PPP24 a, float f, PPP24 b, double d, long l, PPP24 c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref PPP24 a, out PPP24 b, float f) { b = a; return f + 1; }
        private static Nested Pass(int i, Nested a, float f, Nested b, double d, long l, Nested c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Nested a, out Nested b, float f) { b = a; return f + 1; }
        private static One<int> Pass(int i, One<int> a, float f, One<int> b, double d, long l, One<int> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref One<int> a, out One<int> b, float f) { b = a; return f + 1; }
        private static One<double> Pass(int i, One<double> a, float f, One<double> b, double d, long l, One<double> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref One<double> a, out One<double> b, float f) { b = a; return f + 1; }
        private static One<string> Pass(int i, One<string> a, float f, One<string> b, double d, long l, One<string> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref One<string> a, out One<string> b, float f) { b = a; return f + 1; }
        private static One<IntPtr> Pass(int i, One<IntPtr> a, float f, One<IntPtr> b, double d, long l, One<IntPtr> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref One<IntPtr> a, out One<IntPtr> b, float f) { b = a; return f + 1; }
        private static Two<int, double> Pass(int i, Two<int, double> a, float f, Two<int, double> b, double d, long l, Two<int, double> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Two<int, double> a, out Two<int, double> b, float f) { b = a; return f + 1; }
        private static Two<IntPtr, float> Pass(int i, Two<IntPtr, float> a, float f, Two<IntPtr, float> b, double d, long l, Two<IntPtr, float> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Two<IntPtr, float> a, out Two<IntPtr, float> b, float f) { b = a; return f + 1; }
        private static Two<string, UIntPtr> Pass(int i, Two<string, UIntPtr> a, float f, Two<string, UIntPtr> b, double d, long l, Two<string, UIntPtr> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref Two<string, UIntPtr> a, out Two<string, UIntPtr> b, float f) { b = a; return f + 1; }
        private static KeyValuePair<int, double> Pass(int i, KeyValuePair<int, double> a, float f, KeyValuePair<int, double> b, double d, long l, KeyValuePair<int, double> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref KeyValuePair<int, double> a, out KeyValuePair<int, double> b, float f) { b = a; return f + 1; }
        private static ValueTuple<int, float> Pass(int i, ValueTuple<int, float> a, float f, ValueTuple<int, float> b, double d, long l, ValueTuple<int, float> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref ValueTuple<int, float> a, out ValueTuple<int, float> b, float f) { b = a; return f + 1; }
        private static ValueTuple<IntPtr, UIntPtr> Pass(int i, ValueTuple<IntPtr, UIntPtr> a, float f, ValueTuple<IntPtr, UIntPtr> b, double d, long l, ValueTuple<IntPtr, UIntPtr> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref ValueTuple<IntPtr, UIntPtr> a, out ValueTuple<IntPtr, UIntPtr> b, float f) { b = a; return f + 1; }
        private static ValueTuple<double, string, int> Pass(int i, ValueTuple<double, string, int> a, float f, ValueTuple<double, string, int> b, double d, long l, ValueTuple<double, string, int> c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref ValueTuple<double, string, int> a, out ValueTuple<double, string, int> b, float f) { b = a; return f + 1; }
        private static int? Pass(int i, int? a, float f, int? b, double d, long l, int? c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref int? a, out int? b, float f) { b = a; return f + 1; }
        private static double? Pass(int i, double? a, float f, double? b, double d, long l, double? c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref double? a, out double? b, float f) { b = a; return f + 1; }
        private static IntPtr? Pass(int i, IntPtr? a, float f, IntPtr? b, double d, long l, IntPtr? c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IntPtr? a, out IntPtr? b, float f) { b = a; return f + 1; }
        private static IF8? Pass(int i, IF8? a, float f, IF8? b, double d, long l, IF8? c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref IF8? a, out IF8? b, float f) { b = a; return f + 1; }
        private static long? Pass(int i, long? a, float f, long? b, double d, long l, long? c) { Say(i + f + d + l, a, b); return c; }
        private static double Through(ref long? a, out long? b, float f) { b = a; return f + 1; }

        private static void Say<T>(double sum, T first, T second)
        {
            Say("sum", sum);
            Say("first", first);
            Say("second", second);
        }

        private static void Say<T>(string name, T value)
        {
            Console.WriteLine(name + " " + Show(value));
        }

        private static string Show(object value)
        {
            if (value == null)
                return "null";
            Type type = value.GetType();
            if (value is IntPtr)
                return "p" + ((IntPtr)value).ToInt64();
            if (value is UIntPtr)
                return "u" + ((UIntPtr)value).ToUInt64();
            if (value is int[])
                return "array " + ((int[])value).Length;
            if (type.IsPrimitive || type.IsEnum || type.Namespace == "System" && !type.IsGenericType)
                return Convert.ToString(value, CultureInfo.InvariantCulture);
            string text = "{";
            foreach (FieldInfo field in type.GetFields(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance))
                text += " " + field.Name + "=" + Show(field.GetValue(value));
            return text + " }";
        }
    }
}
