// Methods that patches change: prints their results, and whether they stay the same in all tiers and collections.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Patched
{
    internal enum Color : short
    {
        Red = 1,
        Green = 2,
        Blue = -3,
    }

    internal struct Point
    {
        public int X;
        public long Y;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Sum(int more)
        {
            return X + Y + more;
        }
    }

    internal struct Wide
    {
        public byte Tag;
        public Point At;
        public float Scale;
        public Color Of;
    }

    internal sealed class Store
    {
        private static int opened = 5;
        private readonly string name;
        private int total;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Store(string name, int total)
        {
            this.name = name;
            this.total = total;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Price(int count, string item)
        {
            return count * 3 + item.Length + total;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Greet(string who)
        {
            return "hello " + (who ?? "nobody") + " in " + name;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Opened()
        {
            return opened + total;
        }

        // Small enough to be inlined everywhere.
        public int Total()
        {
            return total;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static string Kinds(bool a, char b, sbyte c, byte d, short e, ushort f, uint g, long h, ulong i, float j, double k, IntPtr l, UIntPtr m, Color n)
        {
            return a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h + " " + i + " "
                + j.ToString(System.Globalization.CultureInfo.InvariantCulture) + " "
                + k.ToString(System.Globalization.CultureInfo.InvariantCulture) + " " + l.ToInt64() + " " + m.ToUInt64() + " " + (short)n;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Color Paint(Color color)
        {
            return color;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Fill(ref int value, out string text, ref Point point, in long read, ref object any)
        {
            value += 1;
            text = "filled " + read;
            point.X += 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Point Move(Point point, int dx)
        {
            point.X += dx;
            return point;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Wide Widen(Wide wide)
        {
            return wide;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Fails(int number)
        {
            if (number > 0)
            {
                throw new InvalidOperationException("number " + number);
            }
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Escapes(int number)
        {
            if (number > 0)
            {
                throw new ArgumentException("escaped");
            }
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Faulty(int number)
        {
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Never()
        {
            throw new NotImplementedException();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static long Depth(int number)
        {
            return number == 0 ? 0 : 1 + Depth(number - 1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T Echo<T>(T value, int number)
        {
            return number > 100 ? default(T) : value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Panics(int number)
        {
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Mistaken(int number)
        {
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Length(object any, int[] numbers, List<string> list)
        {
            return (any == null ? 0 : 1) + (numbers == null ? 0 : 10) + (list == null ? 0 : 100);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Ordered(int number)
        {
            return number + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<int> Later(int number)
        {
            await Task.Yield();
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static decimal Cost(decimal price, DateTime when)
        {
            return price + when.Year;
        }
    }

    internal static class Program
    {
        private static readonly List<Func<string>> Cases = new List<Func<string>>();
        private static volatile int wrongs;

        private static string Caught(Func<object> run)
        {
            try
            {
                return run().ToString();
            }
            catch (Exception exception)
            {
                return exception.GetType().FullName + ": " + exception.Message;
            }
        }

        private static string Filled()
        {
            int value = 1;
            var point = new Point { X = 3, Y = 4 };
            object any = "any";
            Store.Fill(ref value, out string text, ref point, 7, ref any);
            return value + " " + text + " " + point.X + " " + point.Y + " " + (any ?? "null");
        }

        private static string Widened()
        {
            var wide = Store.Widen(new Wide { Tag = 1, At = new Point { X = 2, Y = 3 }, Scale = 1.5f, Of = Color.Green });
            return wide.Tag + " " + wide.At.X + " " + wide.At.Y + " " + wide.Scale.ToString(System.Globalization.CultureInfo.InvariantCulture) + " " + (short)wide.Of;
        }

        private static string Moved()
        {
            var point = Store.Move(new Point { X = 1, Y = 2 }, 10);
            return point.X + " " + point.Y + " " + point.Sum(5);
        }

        private static int Main(string[] args)
        {
            int rounds = args.Length > 0 ? int.Parse(args[0]) : 300;
            var store = new Store("shop", 10);
            Cases.Add(() => "price " + store.Price(2, "apple"));
            Cases.Add(() => "greet " + store.Greet("you"));
            Cases.Add(() => "greet " + store.Greet(null));
            Cases.Add(() => "greet " + store.Greet(new string('ä', 3000)).Length);
            Cases.Add(() => "opened " + store.Opened());
            Cases.Add(() => "total " + store.Total());
            Cases.Add(() => "kinds " + Store.Kinds(true, 'x', -1, 2, -3, 4, 5, -6, 7, 1.5f, -2.5, (IntPtr)8, (UIntPtr)9, Color.Blue));
            Cases.Add(() => "paint " + (short)Store.Paint(Color.Red));
            Cases.Add(() => "fill " + Filled());
            Cases.Add(() => "move " + Moved());
            Cases.Add(() => "wide " + Widened());
            Cases.Add(() => "fails " + Caught(() => Store.Fails(0)) + " " + Caught(() => Store.Fails(1)) + " " + Caught(() => Store.Fails(2)));
            Cases.Add(() => "escapes " + Caught(() => Store.Escapes(0)) + " " + Caught(() => Store.Escapes(1)));
            Cases.Add(() => "faulty " + Caught(() => Store.Faulty(0)) + " " + Caught(() => Store.Faulty(1)) + " " + Caught(() => Store.Faulty(2)));
            Cases.Add(() => "never " + Caught(() => Store.Never()));
            Cases.Add(() => "depth " + Store.Depth(20));
            Cases.Add(() => "echo " + Store.Echo("text", 1) + " " + Store.Echo(5, 1) + " " + Store.Echo(6, 2));
            Cases.Add(() => "panics " + Store.Panics(1));
            Cases.Add(() => "mistaken " + Store.Mistaken(1));
            Cases.Add(() => "length " + Store.Length("", new int[1], new List<string>()) + " " + Store.Length(null, null, null));
            Cases.Add(() => "ordered " + Store.Ordered(1));
            Cases.Add(() => "later " + Store.Later(3).Result);
            Cases.Add(() => "cost " + Store.Cost(1.5m, new DateTime(2020, 1, 2)).ToString(System.Globalization.CultureInfo.InvariantCulture));
            Cases.Add(() => "year " + (DateTime.UtcNow.Year > 2001 ? "now" : DateTime.UtcNow.ToString("yyyy-MM-dd", System.Globalization.CultureInfo.InvariantCulture) + DateTime.UtcNow.Kind));
            Cases.Add(() => "file " + Caught(() => File.ReadAllText("/nowhere/settings.json")));
            // Without IL, and abstract.
            Cases.Add(() => "root " + (int)Math.Sqrt(49.0 + wrongs));
            Cases.Add(() => "compare " + ((IComparable)"a").CompareTo("b"));
            var first = new List<string>();
            foreach (var one in Cases)
            {
                first.Add(one());
                Console.WriteLine(first[first.Count - 1]);
            }
            int wrong = 0;
            for (int round = 0; round < rounds; round++)
            {
                for (int index = 0; index < Cases.Count; index++)
                {
                    string now = Cases[index]();
                    if (now != first[index] && wrong++ < 5)
                    {
                        Console.WriteLine("round " + round + ": " + now);
                    }
                }
                if (round % 50 == 0)
                {
                    GC.Collect();
                    System.Threading.Thread.Sleep(20);
                }
            }
            Console.WriteLine("wrong " + wrong);
            return 6;
        }
    }
}
