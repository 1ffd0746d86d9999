// Objects and arrays that patches read and write, while another thread has the heap compacted.
using System;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace PatchedObjects
{
    internal enum Kind : short
    {
        Small = 1,
        Large = -2,
    }

    internal class Person
    {
        private int secret = 5;

        public int Secret()
        {
            return secret;
        }
    }

    internal struct Corner
    {
        public int X;
        public string Name;
    }

    internal struct Area
    {
        public Corner From;
        public long Size;
        public Customer Owner;
    }

    internal sealed class Map
    {
        private readonly Area area;
        public Customer Owner;
        public object Any;
        public Customer[] Owners = new Customer[2];
        public Corner[] Corners = { new Corner { X = 1, Name = "one" }, new Corner { X = 2, Name = "two" } };

        public Map()
        {
            area.From.X = 3;
            area.From.Name = "from";
            area.Size = 4;
            Owner = new Customer { Name = "owner", Age = 1 };
        }

        public Area Area { get { return area; } }

        public Area Other { get; set; }
    }

    internal sealed class Customer : Person
    {
        public string Name;
        public Customer Next;

        public int Age { get; set; }
    }

    internal sealed class Order
    {
        private readonly int total;
        public Customer Customer;
        public string[] Items;
        public int[] Counts;
        public Kind Kind;
        public char Letter;
        public double Weight;
        public bool Flag;
        public byte Small;
        public ulong Big;
        public IntPtr Native;
        public DateTime When;

        public Order(int total)
        {
            this.total = total;
        }

        public int Total()
        {
            return total;
        }

        // Of the class that declares the patched method.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Sum(long[] more)
        {
            long sum = total;
            foreach (long one in more)
                sum += one;
            return (int)sum;
        }
    }

    internal static class Program
    {
        private static volatile bool isOver;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Handle(Order order, object any, string[] nothing)
        {
            StringBuilder text = new StringBuilder();
            Customer customer = order.Customer;
            text.Append(order.Total()).Append(' ').Append(customer.Name).Append(' ').Append(customer.Age);
            text.Append(' ').Append(customer.Secret()).Append(' ').Append(customer.Next.Next.Name);
            text.Append(' ').Append(string.Join(",", order.Items)).Append(' ').Append(string.Join(",", order.Counts));
            text.Append(' ').Append(order.Kind).Append(' ').Append(order.Letter).Append(' ').Append(order.Weight == 2.5);
            text.Append(' ').Append(order.Flag).Append(' ').Append(order.Small).Append(' ').Append(order.Big);
            text.Append(' ').Append(order.Native.ToInt64());
            return text.ToString();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Draw(Map map, Customer customer, string text)
        {
            Area area = map.Area, other = map.Other;
            StringBuilder all = new StringBuilder();
            all.Append(area.From.X).Append(area.From.Name).Append(area.Size).Append(' ');
            all.Append(area.Owner == null ? "none" : area.Owner.Name).Append(' ').Append(ReferenceEquals(area.Owner, customer));
            all.Append(' ').Append(map.Owner.Name).Append(map.Owner.Age).Append(ReferenceEquals(map.Owner, customer));
            all.Append(' ').Append(other.From.X).Append(other.From.Name).Append(' ').Append(map.Any);
            foreach (Customer one in map.Owners)
                all.Append(' ').Append(one == null ? "none" : one.Name);
            foreach (Corner one in map.Corners)
                all.Append(' ').Append(one.X).Append(one.Name);
            return all.ToString();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Order Make(int total)
        {
            return new Order(total);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Wrong(Order order)
        {
            return 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Counted(int number, ref short by, Kind kind, DateTime when)
        {
            return number * 2L;
        }

        private static Order Example()
        {
            Customer last = new Customer { Name = "last" };
            return new Order(7)
            {
                Customer = new Customer
                {
                    Name = "first",
                    Age = 40,
                    Next = new Customer { Name = "second", Next = last },
                },
                Items = new[] { "pen", "ink", "pad" },
                Counts = new[] { 1, 2, 3 },
                Kind = Kind.Small,
                Letter = 'a',
                Weight = 1.25,
                Small = 200,
                Big = ulong.MaxValue - 1,
                Native = (IntPtr)(-3),
                When = new DateTime(2001, 2, 3),
            };
        }

        private static int Main()
        {
            Thread collector = new Thread(() =>
            {
                object[] kept = new object[1000];
                for (int i = 0; !isOver; i++)
                {
                    for (int j = 0; j < 200; j++)
                        kept[(i * 7 + j * 13) % kept.Length] = new byte[j % 100];
                    GC.Collect(i % 3, GCCollectionMode.Forced, true, true);
                }
            });
            collector.Start();
            string first = Handle(Example(), "text", null);
            Console.WriteLine(first);
            Console.WriteLine(Make(3).Total());
            Console.WriteLine(Example().Sum(new long[] { 1, 2, 3 }));
            string drawn = Draw(new Map(), new Customer { Name = "new" }, "text");
            Console.WriteLine(drawn);
            int wrong = 0;
            for (int i = 0; i < 300; i++)
            {
                if (Draw(new Map(), new Customer { Name = "new" }, "text") != drawn)
                    wrong++;
                if (Handle(Example(), "text", null) != first)
                    wrong++;
                if (Make(i).Total() == Make(i + 1).Total())
                    wrong++;
            }
            Console.WriteLine("wrong " + wrong);
            Console.WriteLine(Wrong(Example()));
            // Several threads count at the same time.
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
            {
                int number = i;
                threads[i] = new Thread(() =>
                {
                    short by = (short)(-number);
                    for (int j = 0; j < 50000; j++)
                        Counted(number * 10 - 5, ref by, Kind.Large, new DateTime(number + 1));
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            isOver = true;
            collector.Join();
            return 6;
        }
    }
}
