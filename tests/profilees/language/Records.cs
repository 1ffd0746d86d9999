using System;
using System.Collections.Generic;

namespace Language
{
    internal static class Records
    {
        private record Person(string Name, int Age)
        {
            public string Town { get; init; } = "nowhere";

            public int Double => checked(Age * 2);
        }

        private sealed record Student(string Name, int Age, string School) : Person(Name, Age)
        {
            public override string ToString() => $"{Name} of {School}";
        }

        private readonly record struct Point(int X, int Y)
        {
            public int this[int axis] => axis switch
            {
                0 => X,
                1 => Y,
                _ => throw new IndexOutOfRangeException("axis " + axis),
            };
        }

        private sealed class Primary(string name, int count)
        {
            private readonly int twice = count * 2;

            public override string ToString() => name + ":" + count + ":" + twice;
        }

        internal static void Run()
        {
            var ann = new Person("Ann", 20);
            Console.WriteLine(ann with { Age = 21, Town = "here" });
            Console.WriteLine(new Student("Bo", 19, "MIT") + " " + (ann == new Person("Ann", 20)) + " "
                + ann.Equals(new Student("Ann", 20, "x")));
            var (name, age) = ann;
            Console.WriteLine(name + age + " " + new Point(3, 4) + new Point(3, 4)[1] + " " + new Primary("p", 4));
            var named = (Count: 2, Words: new List<string> { "a", "b" });
            (string first, (int, int) pair) = Split(named.Words);
            Console.WriteLine(first + pair + named.Count + (pair == (1, 2)));
            var big = (1, 2, 3, 4, 5, 6, 7, 8, Nine: 9);
            Console.WriteLine(big.Nine + " " + big);
            try
            {
                Console.WriteLine((ann with { Age = int.MaxValue }).Double);
            }
            catch (OverflowException e)
            {
                Sections.Show(e);
            }
            try
            {
                Console.WriteLine(new Point(1, 2)[2]);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
        }

        private static (string, (int A, int B)) Split(IReadOnlyList<string> words) => (words[0] + words[1], (1, words.Count));
    }
}
