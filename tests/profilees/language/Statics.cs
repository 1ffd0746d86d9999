using System;
using System.Collections.Generic;
using System.Numerics;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Language
{
    internal interface IZero<T> where T : IZero<T>
    {
        static abstract T Zero { get; }

        static abstract T operator +(T a, T b);

        static virtual string Kind => "number of " + typeof(T).Name;
    }

    [AttributeUsage(AttributeTargets.Class)]
    internal sealed class MadeFromAttribute<T> : Attribute
    {
    }

    [MadeFrom<List<int>>]
    internal static class Statics
    {
        private readonly record struct Money(long Cents) : IZero<Money>
        {
            public static Money Zero => new(0);

            public static Money operator +(Money a, Money b) => b.Cents < 0
                ? throw new ArgumentException("debt")
                : new(a.Cents + b.Cents);
        }

        private class Animal
        {
            public virtual Animal Child() => new Animal();

            public virtual string Name => "animal";
        }

        private sealed class Cat : Animal
        {
            public override Cat Child() => new Cat();

            public override string Name => "cat";

            public string Purr() => "purr";
        }

        [InlineArray(4)]
        private struct Four
        {
            private int first;
        }

        private ref struct Holder(ref int value)
        {
            private ref int value = ref value;

            public void Add(int n) => value += n;
        }

        internal static void Run()
        {
            Console.WriteLine(Sum(new Money(5), new Money(7)) + " " + Kind<Money>());
            Console.WriteLine(Average(1.0, 2.5) + " " + Average(1, 2) + " " + Parse<decimal>("1.25"));
            Animal animal = new Cat();
            Console.WriteLine(animal.Child().Name + " " + new Cat().Child().Purr());
            Console.WriteLine(typeof(Statics).GetCustomAttributes(false)[0].GetType().GetGenericArguments()[0]);
            var four = new Four();
            four[2] = 5;
            int[] spread = [1, .. four[1..], 9];
            Console.WriteLine(string.Join(",", spread));
            int held = 1;
            new Holder(ref held).Add(4);
            Console.WriteLine(held);
            try
            {
                Sum(new Money(1), new Money(-1));
            }
            catch (ArgumentException e)
            {
                Sections.Show(e);
            }
            try
            {
                Parse<int>("none");
            }
            catch (FormatException e)
            {
                Sections.Show(e);
            }
            try
            {
                four[held] = 1;
            }
            catch (IndexOutOfRangeException e)
            {
                Sections.Show(e);
            }
        }

        private static T Sum<T>(params T[] values) where T : IZero<T>
        {
            T sum = T.Zero;
            foreach (T value in values)
            {
                sum += value;
            }
            return sum;
        }

        private static string Kind<T>() where T : IZero<T> => T.Kind;

        private static T Average<T>(T a, T b) where T : INumber<T> => (a + b) / (T.One + T.One);

        private static T Parse<T>(string text) where T : ISpanParsable<T>
        {
            return T.Parse(text, null);
        }
    }
}
