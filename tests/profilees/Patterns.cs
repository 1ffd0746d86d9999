using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

[assembly: Patterned.Marked]

namespace Patterned
{
    [AttributeUsage(AttributeTargets.All)]
    public sealed class MarkedAttribute : Attribute
    {
    }

    public interface IPlace
    {
        void Open();
    }

    public interface IShelf<T> : IPlace
    {
        T First();
    }

    public abstract class Building<T>
    {
        public virtual T Size(T by) => by;
    }

    public class House : Building<int>, IShelf<string>, IDisposable
    {
        public int Rooms { get; set; } = 3;

        public event Action Sold;

        static readonly int Least = Program.One();

        public House()
        {
        }

        internal House(string name, ref int number)
        {
            number += name.Length + Least;
        }

        public void Open() => Sold?.Invoke();

        string IShelf<string>.First() => "first";

        void IDisposable.Dispose() => Open();

        [Marked]
        public int Sell(string name, params int[] prices) => name.Length + prices.Length;

        public int Sell(int? price) => price ?? 0;

        protected internal virtual void Guarded() => Hidden();

        private protected void Hidden() => Secret();

        private void Secret()
        {
        }

        protected void Kept()
        {
        }

        public void Keep() => Kept();

        public class Room
        {
            public class Corner
            {
                public int Turn(List<Dictionary<string, int[]>> all) => all.Count;
            }

            public int Turn() => 1;
        }
    }

    // Its base type is in another assembly, and has a base type there.
    public class Strict : ArgumentNullException
    {
        public int Check() => 2;
    }

    [Marked]
    public class Villa : House
    {
        public int Pool() => 5;

        public override int Size(int by) => by * 2;
    }

    public class Cart<T>
    {
        public T Add(T item) => item;

        public U Map<U>(T item, Func<T, U> by) => by(item);

        public struct Line
        {
            public T Item;

            public T Get() => Item;
        }
    }

    public static class Program
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int One() => 1;

        public static unsafe int Point(int* at, char** text) => at == null ? 1 : 0;

        static unsafe int Nowhere() => Point(null, null);

        public static IEnumerable<int> Numbers()
        {
            yield return 1;
            yield return 2;
        }

        public static async Task<int> Later(int number)
        {
            await Task.Yield();
            return number;
        }

        public static int Main()
        {
            int number = 4;
            var house = new House("long", ref number);
            var other = new House();
            house.Sold += () => number++;
            house.Rooms += 1;
            house.Open();
            ((IDisposable)house).Dispose();
            string first = ((IShelf<string>)house).First();
            int sold = house.Sell(first, 1, 2) + other.Sell(7);
            house.Guarded();
            house.Keep();
            var villa = new Villa();
            sold += villa.Pool() + villa.Size(2) + house.Size(3) + new Strict().Check();
            sold += new House.Room().Turn() + new House.Room.Corner().Turn(new List<Dictionary<string, int[]>>());
            sold += new Cart<int>().Add(1) + new Cart<long>().Add(2).GetHashCode();
            sold += new Cart<string>().Add("text").Length + new Cart<int>().Map(3, i => i.ToString()).Length;
            sold += new Cart<int>.Line().Get() + Nowhere();
            foreach (int each in Numbers())
            {
                sold += each;
            }
            int Local(int of) => of + number;
            sold += Local(1) + Later(6).Result;
            Console.WriteLine($"sold {sold} {number}");
            return 9;
        }
    }
}
