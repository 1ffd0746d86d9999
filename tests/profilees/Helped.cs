// Does a little, so that the calls of a helper assembly can be seen in between.
using System;
using System.Runtime.CompilerServices;

namespace Helped
{
    internal class Item
    {
        private readonly int number;

        public Item(int number)
        {
            this.number = number;
        }

        public override string ToString()
        {
            if (number == 13)
                throw new InvalidOperationException("not this one");
            return "item " + number;
        }
    }

    internal static class Program
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Inner(int value)
        {
            if (value < 0)
                throw new ArgumentException("negative");
            return value + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Outer(int value)
        {
            return Inner(value) * 2;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Take(Item item)
        {
        }

        private static void Offer(int number)
        {
            try
            {
                Take(new Item(number));
                Console.WriteLine("took " + number);
            }
            catch (InvalidOperationException exception)
            {
                Console.WriteLine(exception.Message);
            }
        }

        private static int Main()
        {
            Console.WriteLine("outer " + Outer(20));
            try
            {
                Outer(-1);
            }
            catch (ArgumentException)
            {
                Console.WriteLine("caught");
            }
            Offer(1);
            Offer(13);
            Offer(2);
            Console.WriteLine(new Item(3).ToString());
            return 5;
        }
    }
}
