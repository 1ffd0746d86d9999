// Methods of all shapes whose results and numbers of calls are known: hooks in them must not change
// the results, and have to count the calls.
using System;
using System.Globalization;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Threading;

namespace Hooked
{
    internal struct TwoInts { public int A, B; }
    internal struct TwoLongs { public long A, B; }
    internal struct TwoDoubles { public double A, B; }
    internal struct LongDouble { public long A; public double B; }
    internal struct DoubleLong { public double A; public long B; }
    internal struct FourFloats { public float A, B, C, D; }
    internal struct ObjectInt { public string A; public int B; }
    internal struct Large { public long A, B, C, D, E; }

    internal interface IShape { long Area(int by, double factor); }

    internal sealed class Square : IShape
    {
        private readonly int side;
        public Square(int side) { this.side = side; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Area(int by, double factor) { return side * (long)by + (long)factor; }
    }

    internal struct Boxed : IShape
    {
        public int Side;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Area(int by, double factor) { return Side - by + (long)(factor * 2); }
    }

    internal static class Shapes
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int S00(int a, int b) { return a * 31 + b; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static long S01(long a, int b, short c, byte d) { return a ^ b * 3 ^ c * 5 ^ d; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static double S02(double a, double b) { return a * 0.5 + b; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static float S03(float a, double b, int c) { return a + (float)b - c; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static double S04(int a, double b, long c, float d, short e, double f, byte g, float h,
            ulong i, double j, sbyte k, double l, int m, float n, long o, double p, int q, double r)
        {
            return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * (double)(i & 0xffff)
                + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r;
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static decimal S05(decimal a, int b) { return a * 3 + b; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static string S06(string a, int b) { return b % 3 == 0 ? a + b.ToString(CultureInfo.InvariantCulture) : a; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static TwoInts S07(TwoInts a, int b) { return new TwoInts { A = a.B + b, B = a.A - b }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static TwoLongs S08(TwoLongs a, long b) { return new TwoLongs { A = a.B + b, B = a.A ^ b }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static TwoDoubles S09(TwoDoubles a, double b) { return new TwoDoubles { A = a.B + b, B = a.A - b }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static LongDouble S10(LongDouble a, int b) { return new LongDouble { A = a.A + b, B = a.B - b }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static DoubleLong S11(DoubleLong a, float b) { return new DoubleLong { A = a.A + b, B = a.B * 3 }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Large S12(Large a, int b, double c) { a.A += b; a.E -= (long)c; return a; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Vector128<int> S13(Vector128<int> a, int b) { return a.WithElement(1, a.GetElement(3) + b); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Vector128<float> S14(Vector128<float> a, float b, Vector128<float> c) { return a.WithElement(0, c.GetElement(2) + b); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Vector256<long> S15(Vector256<long> a, long b) { return a.WithElement(3, a.GetElement(0) - b); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static bool S16(ref int a, char b, out long c) { a += b; c = a * 2L; return (a & 1) == 0; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Vector4 S17(Vector2 a, Vector3 b, Vector4 c) { return new Vector4(a.X + c.W, b.Y, b.Z - a.Y, c.X); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static FourFloats S18(FourFloats a, FourFloats b) { return new FourFloats { A = a.D, B = b.C, C = a.B + 1, D = b.A }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static ObjectInt S19(ObjectInt a, object b) { return new ObjectInt { A = b as string ?? a.A, B = a.B + 1 }; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static T S20<T>(T a, T b, bool first) { return first ? a : typeof(T) == typeof(int) ? a : b; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static long S21(IShape shape, int by, double factor) { return shape.Area(by, factor); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void S22(int[] into, int at, double value, object nothing, float more) { into[at & 3] += (int)value + (int)more; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static ref int S23(int[] of, int at, float ignored) { return ref of[at & 3]; }

        internal const int Number = 24;
    }

    internal static class Program
    {
        private static ulong state = 0x9e3779b97f4a7c15;
        private static ulong sum = 1469598103934665603;
        private static readonly int[] Cells = new int[4];

        private static int Random()
        {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            return (int)(state >> 33);
        }

        private static void Add(long value) { sum = (sum ^ (ulong)value) * 1099511628211; }
        private static void Add(double value) { Add(BitConverter.DoubleToInt64Bits(value)); }

        private static int Main(string[] arguments)
        {
            int number = int.Parse(arguments[1], CultureInfo.InvariantCulture);
            switch (arguments[0])
            {
                case "shapes": return CallShapes(number);
                case "counts": return Counts(number);
                case "bench": return Bench(number);
                case "panics": return Panics(number);
            }
            return 9;
        }

        // Random calls of all shapes, while another thread allocates and collects.
        private static int CallShapes(int number)
        {
            bool stop = false;
            var collector = new Thread(() =>
            {
                object[] kept = new object[64];
                for (int round = 0; !Volatile.Read(ref stop); round++)
                {
                    kept[round & 63] = new byte[round % 3000];
                    if (round % 400 == 0)
                        GC.Collect(round % 4000 == 0 ? 2 : 0, GCCollectionMode.Forced, true, round % 4000 == 0);
                    if (round % 100 == 0)
                        Thread.Sleep(0);
                }
            });
            collector.Start();
            var calls = new int[Shapes.Number];
            IShape square = new Square(7), boxed = new Boxed { Side = 9 };
            string text = "text";
            for (int call = 0; call < number; call++)
            {
                int a = Random(), b = Random(), shape = Random() % Shapes.Number;
                double x = a / 3.0, y = b / 7.0;
                calls[shape]++;
                switch (shape)
                {
                    case 0: Add(Shapes.S00(a, b)); break;
                    case 1: Add(Shapes.S01((long)a << 20, b, (short)a, (byte)b)); break;
                    case 2: Add(Shapes.S02(x, y)); break;
                    case 3: Add((double)Shapes.S03(a, y, b)); break;
                    case 4: Add(Shapes.S04(a, x, b, a, (short)b, y, (byte)a, b, (ulong)a, x, (sbyte)b, y, a, b, b, x, a, y)); break;
                    case 5: Add((double)Shapes.S05(a, b)); break;
                    case 6: text = Shapes.S06(a % 50 == 0 ? "text" : text, b); Add(text.Length); break;
                    case 7: { var r = Shapes.S07(new TwoInts { A = a, B = b }, a); Add(r.A); Add(r.B); break; }
                    case 8: { var r = Shapes.S08(new TwoLongs { A = a, B = b }, (long)b << 30); Add(r.A); Add(r.B); break; }
                    case 9: { var r = Shapes.S09(new TwoDoubles { A = x, B = y }, x); Add(r.A); Add(r.B); break; }
                    case 10: { var r = Shapes.S10(new LongDouble { A = a, B = y }, b); Add(r.A); Add(r.B); break; }
                    case 11: { var r = Shapes.S11(new DoubleLong { A = x, B = b }, a); Add(r.A); Add(r.B); break; }
                    case 12: { var r = Shapes.S12(new Large { A = a, B = b, C = 3, D = 4, E = a }, b, y); Add(r.A); Add(r.B); Add(r.C); Add(r.D); Add(r.E); break; }
                    case 13: { var r = Shapes.S13(Vector128.Create(a, b, 3, a), b); Add(r.GetElement(0)); Add(r.GetElement(1)); Add(r.GetElement(2)); Add(r.GetElement(3)); break; }
                    case 14: { var r = Shapes.S14(Vector128.Create((float)a, 2, 3, b), a, Vector128.Create(1, 2, (float)b, 4)); Add((double)r.GetElement(0)); Add((double)r.GetElement(3)); break; }
                    case 15: { var r = Shapes.S15(Vector256.Create(a, b, 3L, 4L), b); Add(r.GetElement(0)); Add(r.GetElement(1)); Add(r.GetElement(2)); Add(r.GetElement(3)); break; }
                    case 16: { int c = a; Add(Shapes.S16(ref c, (char)b, out long d) ? 1 : 0); Add(c); Add(d); break; }
                    case 17: { var r = Shapes.S17(new Vector2(a, b), new Vector3(b, a, 5), new Vector4(1, 2, a, b)); Add((double)r.X); Add((double)r.Y); Add((double)r.Z); Add((double)r.W); break; }
                    case 18: { var r = Shapes.S18(new FourFloats { A = a, B = b, D = 1 }, new FourFloats { C = a, A = b }); Add((double)r.A); Add((double)r.B); Add((double)r.C); Add((double)r.D); break; }
                    case 19: { var r = Shapes.S19(new ObjectInt { A = text, B = a }, a % 2 == 0 ? (object)"other" : new object()); Add(r.A.Length); Add(r.B); break; }
                    case 20: Add(Shapes.S20("a", "bc", a % 2 == 0).Length); break;
                    case 21: Add(Shapes.S21(a % 2 == 0 ? square : boxed, b, x)); break;
                    case 22: Shapes.S22(Cells, a, y, null, b); Add(Cells[a & 3]); break;
                    case 23: Shapes.S23(Cells, a, b)++; Add(Cells[a & 3]); break;
                }
            }
            Volatile.Write(ref stop, true);
            collector.Join();
            Console.WriteLine("sum " + sum.ToString("x16"));
            for (int shape = 0; shape < Shapes.Number; shape++)
                Console.WriteLine("S" + shape.ToString("00") + " " + calls[shape]);
            return 5;
        }

        // Calls whose number is known.
        private static int Counts(int calls)
        {
            const int Depth = 1000;
            long deep = 0;
            for (int i = 0; i < calls / Depth; i++)
                deep += CountDeep(Depth - 1);
            Console.WriteLine("deep " + deep);

            var threads = new Thread[16];
            int total = 0;
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() =>
                {
                    int mine = 0;
                    for (int call = 0; call < calls / 16; call++)
                        mine = CountThreads(mine);
                    Interlocked.Add(ref total, mine);
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            Console.WriteLine("threads " + total);

            int caught = 0;
            for (int i = 0; i < 300; i++)
                caught += CountCatches(i);
            Console.WriteLine("caught " + caught);

            long jumped = 0;
            for (int i = 0; i < 1000; i++)
                jumped += TailFew(i) + TailMany(i);
            Console.WriteLine("jumped " + jumped);
            return 5;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountDeep(int depth) { return depth == 0 ? 1 : CountDeep(depth - 1) + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountThreads(int value) { return value + 1; }

        // Exceptions that are caught here, thrown again, replaced on the way, or not thrown at all.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountCatches(int kind)
        {
            try
            {
                return CountPasses(kind);
            }
            catch (InvalidOperationException)
            {
                return 1;
            }
            catch (ArgumentException)
            {
                return 100;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountPasses(int kind)
        {
            try
            {
                return CountThrows(kind, 3);
            }
            catch (InvalidOperationException) when (CountFilters(kind))
            {
                throw;
            }
            finally
            {
                CountFinally(kind);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool CountFilters(int kind) { return kind % 2 == 0; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CountFinally(int kind)
        {
            if (kind % 5 == 0)
                throw new ArgumentException();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountThrows(int kind, int depth)
        {
            if (depth > 0)
                return CountThrows(kind, depth - 1) + 1;
            if (kind % 3 == 0)
                throw new InvalidOperationException();
            return 0;
        }

        // The profiler makes the calls at the end of these two tail calls: C# compilers do not.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long TailFew(int value) { return CountFew(value, value + 1); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long CountFew(int a, int b) { return a * b; }

        // Its arguments need more stack than its caller has.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long TailMany(int value) { return CountMany(value, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long CountMany(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l)
        {
            return a + b + c + d + e + f + g + h + i + j + k + l;
        }

        // Only calls.
        private static int Bench(int calls)
        {
            int value = 0;
            for (int call = 0; call < calls; call++)
                value = CountBench(value, call);
            Console.WriteLine("bench " + value);
            return 5;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CountBench(int a, int b) { return a ^ b; }

        private static int Panics(int calls)
        {
            int value = 0;
            for (int call = 0; call < calls; call++)
                value = CountThreads(value);
            Console.WriteLine("counted " + value);
            return 5;
        }
    }
}
