// The program that the examples profile when no other one is given: a small shop.
//
// It uses the constructs that a profiler meets: namespaces, nested and generic types, generic
// methods over classes and structs, arrays, ref and out parameters, lambdas, an iterator, an
// exception, a method created at run time, a second thread, and a method that is called often enough
// to be compiled again with optimisations. Its output is the same in every run, in less than a
// second. The argument exit=N sets its exit code; other arguments are listed.

using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

[assembly: AssemblyVersion("1.0.0.0")]

namespace Shop
{
    public struct Money : IComparable<Money>
    {
        private readonly long cents;

        public Money(long cents)
        {
            this.cents = cents;
        }

        public long Cents
        {
            get { return cents; }
        }

        public static Money operator +(Money left, Money right)
        {
            return new Money(left.cents + right.cents);
        }

        public static Money operator *(Money price, int count)
        {
            return new Money(price.cents * count);
        }

        public int CompareTo(Money other)
        {
            return cents.CompareTo(other.cents);
        }

        public override string ToString()
        {
            return (cents / 100) + "." + (cents % 100).ToString("00");
        }
    }

    public sealed class OutOfStockException : Exception
    {
        public OutOfStockException(string item)
            : base("no " + item + " left")
        {
        }
    }

    // A generic type, used with classes and with structs.
    public class Shelf<TKey, TValue>
    {
        private readonly Dictionary<TKey, TValue> places = new Dictionary<TKey, TValue>();
        private readonly List<TKey> order = new List<TKey>();

        public void Put(TKey key, TValue value)
        {
            if (!places.ContainsKey(key))
            {
                order.Add(key);
            }
            places[key] = value;
        }

        public bool TryTake(TKey key, out TValue value)
        {
            return places.TryGetValue(key, out value);
        }

        public IEnumerable<KeyValuePair<TKey, TValue>> All()
        {
            foreach (TKey key in order)
            {
                yield return new KeyValuePair<TKey, TValue>(key, places[key]);
            }
        }
    }

    namespace Tools
    {
        public static class Pick
        {
            // A generic method.
            public static T Largest<T>(params T[] values) where T : IComparable<T>
            {
                T largest = values[0];
                foreach (T value in values)
                {
                    if (value.CompareTo(largest) > 0)
                    {
                        largest = value;
                    }
                }
                return largest;
            }

            public static void Swap<T>(ref T left, ref T right)
            {
                T kept = left;
                left = right;
                right = kept;
            }
        }
    }

    public class Store
    {
        // Nested types, one of them generic.
        public class Item
        {
            public readonly string Name;
            public readonly Money Price;
            public int Count;

            public Item(string name, Money price, int count)
            {
                Name = name;
                Price = price;
                Count = count;
            }
        }

        private class Journal<TEntry>
        {
            private readonly List<TEntry> entries = new List<TEntry>();

            public int Write(TEntry entry)
            {
                entries.Add(entry);
                return entries.Count;
            }
        }

        private readonly Shelf<string, Item> shelf = new Shelf<string, Item>();
        private readonly Journal<string> names = new Journal<string>();
        private readonly Journal<Money> amounts = new Journal<Money>();

        public event Action<string, Money> Sold;

        public void Stock(string name, long cents, int count)
        {
            shelf.Put(name, new Item(name, new Money(cents), count));
        }

        public Money Sell(string name, int count)
        {
            Item item;
            if (!shelf.TryTake(name, out item) || item.Count < count)
            {
                throw new OutOfStockException(name);
            }
            item.Count -= count;
            Money amount = item.Price * count;
            names.Write(name);
            amounts.Write(amount);
            if (Sold != null)
            {
                Sold(name, amount);
            }
            return amount;
        }

        public IEnumerable<string> Inventory()
        {
            foreach (KeyValuePair<string, Item> place in shelf.All())
            {
                yield return place.Key + " " + place.Value.Count;
            }
        }
    }

    public static class Program
    {
        private delegate int Discount(int cents);

        // Small, and called often: compiled again at a higher tier.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Mix(int seed, int step)
        {
            return unchecked(seed * 31 + (step ^ (seed >> 7)));
        }

        private static int MixAll(int rounds)
        {
            int mixed = 17;
            for (int step = 0; step < rounds; step++)
            {
                mixed = Mix(mixed, step);
            }
            return mixed;
        }

        // A method that exists in no file.
        private static Discount MakeDiscount(int percent)
        {
            DynamicMethod method =
                new DynamicMethod("DiscountBy" + percent, typeof(int), new Type[] { typeof(int) });
            ILGenerator code = method.GetILGenerator();
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldc_I4, 100 - percent);
            code.Emit(OpCodes.Mul);
            code.Emit(OpCodes.Ldc_I4, 100);
            code.Emit(OpCodes.Div);
            code.Emit(OpCodes.Ret);
            return (Discount)method.CreateDelegate(typeof(Discount));
        }

        private static string TrySell(Store store, string name, int count)
        {
            try
            {
                return "sold " + count + " " + name + " for " + store.Sell(name, count);
            }
            catch (OutOfStockException problem)
            {
                return "refused: " + problem.Message;
            }
            finally
            {
                visits++;
            }
        }

        private static int visits;

        public static int Main(string[] arguments)
        {
            int exitCode = 0;
            List<string> others = new List<string>();
            foreach (string argument in arguments)
            {
                if (!argument.StartsWith("exit=", StringComparison.Ordinal)
                    || !int.TryParse(argument.Substring(5), out exitCode))
                {
                    others.Add(argument);
                }
            }

            Console.WriteLine("The shop opens.");
            Store store = new Store();
            store.Stock("apple", 35, 10);
            store.Stock("pear", 50, 4);
            store.Stock("plum", 12, 100);
            Money total = new Money(0);
            store.Sold += (name, amount) => total += amount;

            Console.WriteLine(TrySell(store, "apple", 3));
            Console.WriteLine(TrySell(store, "plum", 40));
            Console.WriteLine(TrySell(store, "pear", 5));
            Console.WriteLine("visits: " + visits + ", total: " + total);
            Console.WriteLine("stock: " + string.Join(", ", store.Inventory()));

            int most = Tools.Pick.Largest(3, 40, 5);
            Money dearest = Tools.Pick.Largest(new Money(35), new Money(12), new Money(50));
            string last = Tools.Pick.Largest("apple", "plum", "pear");
            Console.WriteLine("largest: " + most + ", " + dearest + ", " + last);

            string first = "first";
            string second = "second";
            Tools.Pick.Swap(ref first, ref second);
            int[,] grid = new int[2, 3];
            grid[1, 2] = 7;
            Tools.Pick.Swap(ref grid[1, 2], ref grid[0, 0]);
            Console.WriteLine("swapped: " + first + ", " + second + ", " + grid[0, 0]);

            Console.WriteLine("discount: " + MakeDiscount(20)(1995));

            // The runtime begins to count calls when nothing new was compiled for 100 ms, and
            // compiles methods in the background that were called 30 times from then on.
            int mixed = 0;
            for (int round = 0; round < 3; round++)
            {
                Thread worker = new Thread(() => mixed = unchecked(mixed + MixAll(70000)));
                worker.Start();
                worker.Join();
                Thread.Sleep(130);
            }
            Console.WriteLine("mixed: " + mixed);

            if (others.Count > 0)
            {
                Console.WriteLine("arguments: " + string.Join(" | ", others));
            }
            Console.WriteLine("The shop closes.");
            return exitCode;
        }
    }
}
