using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Language
{
    internal static class Iterators
    {
        internal static void Run()
        {
            Console.WriteLine(string.Join(",", Fibonacci(10).Where(x => x % 2 == 0)));
            Console.WriteLine(string.Join(" ", new Tree<int>(2, new Tree<int>(1), new Tree<int>(3))));
            foreach (string line in Guarded("a", "b"))
            {
                Console.WriteLine(line);
                if (line == "a!")
                {
                    break;
                }
            }
            var grouped = from x in Enumerable.Range(0, 10)
                          group x by x % 3 into g
                          let sum = g.Sum()
                          orderby g.Key descending
                          select new { g.Key, sum };
            Console.WriteLine(string.Join(" ", grouped));
            try
            {
                foreach (int x in Failing(3))
                {
                    Console.WriteLine(x);
                }
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                Fibonacci(-1);
            }
            catch (ArgumentException e)
            {
                Sections.Show(e);
            }
            try
            {
                Console.WriteLine(Enumerable.Range(0, 3).Select(x => 6 / (x - 1)).Sum());
            }
            catch (DivideByZeroException e)
            {
                Sections.Show(e);
            }
        }

        // Checks its argument at once, not when the first item is requested.
        private static IEnumerable<int> Fibonacci(int n)
        {
            if (n < 0)
            {
                throw new ArgumentException("negative", nameof(n));
            }
            return All();

            IEnumerable<int> All()
            {
                int a = 0, b = 1;
                while (n-- > 0)
                {
                    yield return a;
                    (a, b) = (b, a + b);
                }
            }
        }

        private static IEnumerable<string> Guarded(params string[] words)
        {
            try
            {
                foreach (string word in words)
                {
                    yield return word + "!";
                }
            }
            finally
            {
                Console.WriteLine("guarded");
            }
        }

        private static IEnumerable<int> Failing(int n)
        {
            for (int i = 0; ; i++)
            {
                if (i == n)
                    throw new FormatException("failing at " + i);
                yield return i;
            }
        }

        private sealed class Tree<T> : IEnumerable<T>
        {
            private readonly T value;
            private readonly Tree<T> left, right;

            internal Tree(T value, Tree<T> left = null, Tree<T> right = null)
            {
                this.value = value;
                this.left = left;
                this.right = right;
            }

            public IEnumerator<T> GetEnumerator()
            {
                foreach (T item in left ?? Enumerable.Empty<T>())
                    yield return item;
                yield return value;
                foreach (T item in right ?? Enumerable.Empty<T>())
                    yield return item;
            }

            IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
        }
    }
}
