// Methods that patches in C# change: prints their results, and whether they stay the same in all tiers and collections.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;

namespace ManagedPatched
{
    public interface IPriced
    {
        int Price(int count, string item);
    }

    public class Base
    {
        public string Kind = "base";
        protected int level = 1;
        internal static string shared = "shared";
        private string secret = "secret";
        private long weight = 7;
        private static int hidden = 3;

        public string Described(int number)
        {
            return secret + weight + hidden + level + shared + number;
        }
    }

    public struct Point
    {
        public int X;
        public long Y;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Sum(int more)
        {
            return X + Y + more;
        }
    }

    public enum Color : short
    {
        Red = 1,
        Green = 2,
    }

    public sealed class Store : Base, IPriced
    {
        private static int opened = 5;
        private static readonly string Sign = "open";
        private readonly string name;
        private int total;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Store(string name, int total)
        {
            this.name = name;
            this.total = total;
        }

        public int Total
        {
            get { return total; }
            [MethodImpl(MethodImplOptions.NoInlining)]
            set { total = value; }
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
        public string Greet(string who, int times)
        {
            return "hello " + who + " times " + times;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Fields()
        {
            return Sign + " " + opened + " " + total + " " + name;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Inherits(int number)
        {
            GC.Collect(0);
            return Described(number);
        }

        // Small enough to be inlined everywhere.
        public int Twice(int number)
        {
            return number * 2;
        }

        private static int Secret(int number)
        {
            return number + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Secrets(int number)
        {
            return Secret(number);
        }
    }

    // Of a class of another assembly.
    public sealed class Late : Exception
    {
        private int own = 2;

        public Late()
            : base("late")
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Tell(int number)
        {
            return own + number + Message.Length;
        }
    }

    internal static class Methods
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Fill(ref int value, out string text, ref Point point)
        {
            value += 1;
            text = "filled";
            point.X += 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static Point Move(Point point, int dx)
        {
            point.X += dx;
            return point;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Fails(int number)
        {
            if (number > 0)
            {
                throw new InvalidOperationException("number " + number);
            }
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Never()
        {
            throw new NotImplementedException("never");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Ordered(int number)
        {
            return number + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Skipped(int number)
        {
            return number * 1000;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Renamed(int first, int second)
        {
            return first * 10 + second;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static long Depth(int number)
        {
            return number == 0 ? 0 : 1 + Depth(number - 1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static T Echo<T>(T value, int number)
        {
            return number > 100 ? default(T) : value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static IEnumerable<int> Numbers(int count)
        {
            return new int[count];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static short Paint(Color color)
        {
            return (short)color;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Length(Span<int> numbers)
        {
            return numbers.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static int Wrong(int number)
        {
            return number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static string All(int number, string text, Color color)
        {
            return number + text + color;
        }
    }

    internal sealed class Box<T>
    {
        internal sealed class Lid
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            internal string Open()
            {
                return "lid";
            }
        }

        private T content;

        [MethodImpl(MethodImplOptions.NoInlining)]
        internal T Swap(T other)
        {
            T before = content;
            content = other;
            return before;
        }
    }

    internal static class Program
    {
        private static readonly List<Func<string>> Cases = new List<Func<string>>();

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
            Methods.Fill(ref value, out string text, ref point);
            return value + " " + text + " " + point.X + " " + point.Y;
        }

        private static string Moved()
        {
            var point = Methods.Move(new Point { X = 1, Y = 2 }, 10);
            return point.X + " " + point.Y + " " + point.Sum(5);
        }

        private static string Swapped()
        {
            var numbers = new Box<int>();
            var texts = new Box<string>();
            numbers.Swap(4);
            texts.Swap("four");
            return numbers.Swap(5) + " " + texts.Swap("five") + " " + new Box<string>.Lid().Open();
        }

        private static string Counted()
        {
            string all = "";
            foreach (int number in Methods.Numbers(2))
            {
                all += number + ",";
            }
            return all;
        }

        private static string Year()
        {
            // In a loop, so that states begin anew.
            string all = "";
            for (int round = 0; round < 2; round++)
            {
                all += DateTime.UtcNow.Year > 2001 ? "now " : DateTime.UtcNow.Year + " ";
            }
            return all;
        }

        private static string Called()
        {
            var builder = new StringBuilder();
            builder.Append("one");
            builder.Append(2);
            var list = new List<int>();
            list.Add(1);
            var day = new DateTime(2020, 1, 1);
            day = day.AddDays(1);
            return builder + " " + list[0] + " " + day.Month + "-" + day.Day;
        }

        private static int Main(string[] args)
        {
            int rounds = args.Length > 0 ? int.Parse(args[0]) : 300;
            var store = new Store("shop", 10);
            Cases.Add(() => "price " + store.Price(2, "apple"));
            Cases.Add(() => "greet " + store.Greet("you") + ", " + store.Greet("you", 2));
            Cases.Add(() => "greet " + store.Greet(null));
            Cases.Add(() => "fields " + store.Fields());
            Cases.Add(() => "total " + store.Total);
            Cases.Add(() =>
            {
                var other = new Store("other", 1);
                other.Total = 5;
                return "set " + other.Total + " " + other.Kind;
            });
            Cases.Add(() => "twice " + store.Twice(4));
            Cases.Add(() => "secret " + Store.Secrets(4));
            Cases.Add(() => "fill " + Filled());
            Cases.Add(() => "move " + Moved());
            Cases.Add(() => "fails " + Caught(() => Methods.Fails(0)) + " " + Caught(() => Methods.Fails(1)) + " " + Caught(() => Methods.Fails(2)) + " " + Caught(() => Methods.Fails(3)));
            Cases.Add(() => "never " + Caught(() => Methods.Never()));
            Cases.Add(() => "ordered " + Methods.Ordered(1));
            Cases.Add(() => "skipped " + Methods.Skipped(1) + " " + Methods.Skipped(2));
            Cases.Add(() => "renamed " + Methods.Renamed(1, 2));
            Cases.Add(() => "depth " + Methods.Depth(20));
            Cases.Add(() => "echo " + Methods.Echo("text", 1) + " " + Methods.Echo(5, 1) + " " + Methods.Echo(6, 2));
            Cases.Add(() => "swap " + Swapped());
            Cases.Add(() => "numbers " + Counted());
            Cases.Add(() => "paint " + Methods.Paint(Color.Red));
            Cases.Add(() => "length " + Methods.Length(new int[3]));
            Cases.Add(() => "wrong " + Methods.Wrong(1));
            Cases.Add(() => "all " + Methods.All(1, "one", Color.Red));
            Cases.Add(() => "year " + Year());
            Cases.Add(() => "file " + Caught(() => File.ReadAllText("/nowhere/settings.json")));
            Cases.Add(() => "root " + (int)Math.Sqrt(49.0));
            Cases.Add(() => "called " + Called());
            Cases.Add(() => "host " + new Uri("http://shop/a").Host);
            Cases.Add(() => "inherits " + store.Inherits(1) + " " + new Late().Tell(1));
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
