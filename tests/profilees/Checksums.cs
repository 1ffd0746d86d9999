// Computes checksums by code of many shapes; its output is always the same, and its exit code too.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading.Tasks;

namespace Checksums
{
    internal struct Pair
    {
        public int A;
        public double B;
        public Inner C;

        public Pair(int a, double b)
        {
            A = a;
            B = b;
            C = new Inner { Low = (byte)a, High = a * 3L };
        }

        public static Pair operator +(Pair one, Pair other)
        {
            one.A += other.A;
            one.B *= 1 + other.B / 7;
            one.C.High ^= other.C.High << (other.C.Low & 7);
            return one;
        }
    }

    internal struct Inner
    {
        public byte Low;
        public long High;
    }

    internal interface IFold<T>
    {
        T Fold(T one, T other);
    }

    internal sealed class Numbers : IFold<int>, IFold<long>, IFold<string>
    {
        public int Fold(int one, int other) { return unchecked(one * 31 + other); }
        public long Fold(long one, long other) { return unchecked((one << 5) - one + other); }
        public string Fold(string one, string other) { return one.Length > 40 ? other + one.Length : one + other; }
    }

    internal class Failure : Exception
    {
        public readonly int Code;
        public Failure(int code) : base("failure " + code) { Code = code; }
    }

    internal static class Program
    {
        private static int trace;
        private static readonly int[] Table = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5 };

        private static void Trace(int what) { trace = unchecked(trace * 33 + what); }

        private static uint Loops(int count)
        {
            uint sum = 2166136261;
            for (int i = 0; i < count; i++)
            {
                int j = i;
                do
                {
                    sum = unchecked((sum ^ (uint)(j * Table[(i + j + 11) % Table.Length])) * 16777619);
                    if ((sum & 31) == 7) break;
                    if ((sum & 63) == 9) continue;
                    j--;
                } while (j > i - 5);
                while (sum % 3 == 0 && i % 2 == 0) { sum += 5; if (sum % 7 == 1) goto next; }
                sum ^= 1;
            next:
                sum = sum << 3 | sum >> 29;
            }
            return sum;
        }

        private static int Switches(int value)
        {
            int sum = 0;
            switch (value % 12)
            {
                case 0: sum = 5; break;
                case 1: sum = value; goto case 4;
                case 2: case 3: sum = value * 2; break;
                case 4: sum += 11; break;
                case 5: return -value;
                case 9: sum = 77; goto default;
                default: sum += 3; break;
            }
            switch ("k" + value % 9)
            {
                case "k0": return sum + 1;
                case "k1": return sum + 2;
                case "k2": return sum + 3;
                case "k3": return sum + 4;
                case "k4": return sum + 5;
                case "k5": return sum + 6;
                case "k6": return sum + 7;
                default: return sum ^ 0x55;
            }
        }

        private static int Thrower(int depth, int what)
        {
            try
            {
                Trace(depth);
                if (depth == 0)
                {
                    switch (what % 5)
                    {
                        case 0: throw new Failure(what);
                        case 1: return Table[what + 100];
                        case 2: return ((string)(object)null).Length;
                        case 3: return what / (what - what);
                        default: return what;
                    }
                }
                return Thrower(depth - 1, what) + 1;
            }
            catch (Failure failure) when (Filter(failure, depth))
            {
                Trace(failure.Code);
                return failure.Code * 2;
            }
            catch (IndexOutOfRangeException)
            {
                Trace(7);
                if (depth < 2) throw;
                return 13;
            }
            catch (ArithmeticException e)
            {
                Trace(8);
                try { throw new Failure(what + e.GetType().Name.Length); }
                catch (Failure inner) { return inner.Code; }
                finally { Trace(9); }
            }
            finally
            {
                Trace(depth + 50);
            }
        }

        private static bool Filter(Failure failure, int depth)
        {
            Trace(90 + depth);
            return failure.Code % 2 == 0 ? depth == 2 : depth == 1;
        }

        private static int Exceptions()
        {
            int sum = 0;
            for (int what = 0; what < 25; what++)
            {
                try { sum = unchecked(sum * 17 + Thrower(3, what)); }
                catch (Exception e) { sum = unchecked(sum * 19 + e.GetType().Name.Length); }
            }
            return unchecked(sum + trace);
        }

        private static T Folded<T, F>(F fold, IEnumerable<T> all, T start) where F : IFold<T>
        {
            foreach (T one in all) start = fold.Fold(start, one);
            return start;
        }

        private static IEnumerable<long> Iterator(int count)
        {
            long a = 1, b = 1;
            try
            {
                for (int i = 0; i < count; i++)
                {
                    yield return a;
                    long c = unchecked(a + b);
                    a = b;
                    b = c;
                    if (i == 60) yield break;
                }
            }
            finally { Trace(61); }
        }

        private static async Task<int> Async(int count)
        {
            int sum = 0;
            for (int i = 0; i < count; i++)
            {
                try
                {
                    sum += await Step(i);
                    if (i % 4 == 3) await Task.Yield();
                }
                catch (Failure failure)
                {
                    sum ^= failure.Code;
                }
                finally
                {
                    sum = unchecked(sum * 3 + 1);
                }
            }
            return sum;
        }

        private static async Task<int> Step(int i)
        {
            if (i % 3 == 0) await Task.Delay(1);
            if (i % 5 == 4) throw new Failure(i);
            return i * i;
        }

        private static string Strings(int count)
        {
            var text = new StringBuilder();
            for (int i = 0; i < count; i++)
            {
                text.Append((char)('a' + i % 26)).Append(i).Insert(i / 2, i % 3 == 0 ? "<" : ">");
                if (text.Length > 60) text.Remove(5, 20);
            }
            string all = text.ToString();
            return all.Substring(all.Length / 3) + string.Join("|", all.Split('<').Select(part => part.Length));
        }

        private static long Floats(int count)
        {
            double sum = 1.5;
            float small = 0.1f;
            for (int i = 1; i < count; i++)
            {
                sum = sum * 1.0000001 + 1.0 / i - small;
                small += (float)(i % 7) / 3;
                if (sum > 1e6 || double.IsNaN(sum)) sum = -2.25;
                if (small >= 50f) small -= 49.5f;
            }
            return BitConverter.DoubleToInt64Bits(sum) ^ (long)(small * 1000) ^ (long)(decimal)(count * 1.25);
        }

        private static string Structs(int count)
        {
            var pairs = new Pair[count];
            for (int i = 0; i < count; i++) pairs[i] = new Pair(i * 7 % 13, i / 3.0);
            Pair sum = default(Pair);
            foreach (Pair pair in pairs) sum += pair;
            ByRef(ref pairs[3].C.Low, out pairs[4].A);
            int? maybe = pairs[4].A > 5 ? (int?)pairs[4].A : null;
            object boxed = sum.C;
            return sum.A + " " + BitConverter.DoubleToInt64Bits(sum.B) + " " + ((Inner)boxed).High + " "
                + pairs[3].C.Low + " " + (maybe ?? -1);
        }

        private static void ByRef(ref byte low, out int a)
        {
            low += 200;
            a = low > 10 ? checked(low * 3) : 0;
        }

        private static unsafe int Pointers(int count)
        {
            byte* bytes = stackalloc byte[count];
            for (int i = 0; i < count; i++) bytes[i] = (byte)(i * i);
            int sum = 0;
            fixed (int* table = Table)
                for (int i = 0; i < count; i++)
                    sum += bytes[i] * table[i % Table.Length] >> (i & 3);
            return sum;
        }

        private static int Delegates(int count)
        {
            Func<int, int> all = x => x + 1;
            for (int i = 0; i < count; i++)
            {
                int captured = i;
                Func<int, int> before = all;
                all = x => unchecked(before(x) * 3 + captured);
            }
            int[,] grid = new int[count, 3];
            for (int i = 0; i < count; i++) grid[i, i % 3] = all(i);
            return grid.Cast<int>().Aggregate(0, (a, b) => unchecked(a * 7 + b));
        }

        private static int Main()
        {
            int code = 0;
            // Often enough that the code becomes hot.
            for (int round = 0; round < 40; round++)
            {
                trace = round;
                var numbers = new Numbers();
                string line = Loops(50) + " "
                    + Enumerable.Range(0, 40).Sum(value => Switches(value)) + " "
                    + Exceptions() + " "
                    + Folded<int, Numbers>(numbers, Table, 1) + " "
                    + Folded<long, IFold<long>>(numbers, Iterator(70), 2) + " "
                    + Folded<string, Numbers>(numbers, Table.Select(x => x.ToString()), "s") + " "
                    + Async(12).Result + " " + Strings(30) + " " + Floats(500) + " " + Structs(20) + " "
                    + Pointers(64) + " " + Delegates(9) + " " + trace;
                int hash = line.Aggregate(7, (sum, letter) => unchecked(sum * 31 + letter));
                if (round % 13 == 0) Console.WriteLine(round + ": " + line);
                code = unchecked(code * 5 + hash);
            }
            Console.WriteLine("in all " + code);
            return code & 0x7f;
        }
    }
}
