// Methods of all shapes that files of OpenTelemetry .NET name, and of some that they cannot name there.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace NoCode
{
    public enum State
    {
        Open,
        Sent,
    }

    public class Person
    {
        public string Name { get; set; }
        public string Mail { get; set; }
        public int Age { get; set; }
    }

    public class Parcel
    {
        public int Id { get; set; }
        public double Weight { get; set; }
        public string Path { get; set; }
        public Person To { get; set; }
        public List<string> Labels { get; set; } = new List<string>();

        public class Tag
        {
            public string Text { get; set; }
        }
    }

    public class Result
    {
        public bool Success { get; set; }
        public int Code { get; set; }
        public State Status { get; set; }
        public string Message { get; set; }
    }

    public class Office
    {
        public string City { get; set; } = "Basel";

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Open()
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Close()
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Close(string reason)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Close(int reason)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Close(string[] reasons, int[,] times)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Result Send(Parcel parcel, string service)
        {
            switch (service)
            {
                case "none":
                    return null;
                case "slow":
                    return new Result { Code = 503, Message = "error: too slow" };
                case "lost":
                    return new Result { Code = 404, Message = "lost" };
            }
            return new Result { Success = true, Code = 200, Status = State.Sent, Message = "sent" };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async Task<int> Weigh(Parcel parcel)
        {
            await Task.Delay(1);
            return (int)parcel.Weight;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async Task Wait()
        {
            await Task.Delay(1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async ValueTask<int> Price(int grams)
        {
            await Task.Yield();
            return grams * 2;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async ValueTask Rest()
        {
            await Task.Yield();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Find<T>()
        {
            return default(T);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Sort(Dictionary<string, List<int[]>> boxes, Parcel.Tag tag, ref int count)
        {
            count += boxes.Count;
            return count;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Route(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, string last)
        {
            return a + b + c + d + e + f + g + h + i + j + last.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Read(ReadOnlySpan<char> line, string name)
        {
            return line.Length + name.Length;
        }
    }

    public class Shelf<TKey, TItem>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public TOther Put<TOther, TMore>(TOther other, TMore more, TKey key, TItem item)
        {
            return other;
        }

        public class Slot<TLabel>
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public int Fill(List<TKey> keys, TLabel label)
            {
                return keys.Count;
            }
        }
    }

    public struct Stamp
    {
        public int Cents { get; set; }
        public string Country;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Stick(Stamp other)
        {
            Cents += other.Cents;
            return Cents;
        }
    }

    public static class Program
    {
        private static async Task Run()
        {
            var office = new Office();
            var parcel = new Parcel { Id = 12, Weight = 1200.5, Path = "/api/parcels.json", To = new Person { Name = "Ada", Age = 36 } };
            parcel.Labels.Add("red");
            parcel.Labels.Add("blue");
            Office.Open();
            office.Close();
            office.Close("holiday");
            office.Close(4);
            office.Close(new[] { "one" }, new int[1, 1]);
            foreach (string service in new[] { "post", "none", "slow", "lost" })
            {
                office.Send(parcel, service);
            }
            office.Send(new Parcel { Id = 13, Weight = 3, To = new Person { Mail = "bo@shop.example", Age = 7 } }, "post");
            Console.WriteLine(await office.Weigh(parcel));
            await office.Wait();
            Console.WriteLine(await office.Price(21));
            await office.Rest();
            Console.WriteLine(office.Find<int>());
            Console.WriteLine(office.Find<string>() == null);
            var boxes = new Dictionary<string, List<int[]>> { { "one", new List<int[]>() } };
            int count = 2;
            Console.WriteLine(office.Sort(boxes, new Parcel.Tag { Text = "fragile" }, ref count));
            Console.WriteLine(Office.Route(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "last"));
            Console.WriteLine(Office.Read("abc".AsSpan(), "name"));
            Console.WriteLine(new Shelf<string, int>().Put(1.5, 'x', "key", 4));
            Console.WriteLine(new Shelf<string, int>.Slot<long>().Fill(new List<string> { "a" }, 5));
            var stamp = new Stamp { Cents = 80, Country = "CH" };
            Console.WriteLine(stamp.Stick(new Stamp { Cents = 5, Country = "DE" }));
            Console.WriteLine(stamp.Cents);
        }

        private static int Main()
        {
            Run().Wait();
            return 9;
        }
    }
}
