using System;
using System.Collections.Generic;
using System.Linq;
using System.Linq.Expressions;

namespace Language
{
    internal static class Functions
    {
        private static event Action<string> Said;

        internal static void Run()
        {
            int captured = 3;
            Func<int, Func<int, int>> add = x => y => x + y + captured;
            captured = 4;
            Console.WriteLine(add(1)(2));
            Console.WriteLine(Twice(x => x * captured, 5) + " " + Factorial(6));
            var natural = (int x = 4) => x + 1;
            Console.WriteLine(natural() + natural(1));
            Func<int, int> quiet = static x => -x;
            Console.WriteLine(new[] { 3, 1, 2 }.OrderBy(quiet).First());
            Expression<Func<int, bool>> tree = x => x > captured && x < 10;
            Console.WriteLine(tree.Body.NodeType + " " + tree.Compile()(7));
            Action<string> loud = text => Console.WriteLine(text.ToUpperInvariant());
            Said += loud;
            Said += Console.WriteLine;
            Said("said");
            Said -= loud;
            Said -= Console.WriteLine;
            Console.WriteLine(Said == null);
            try
            {
                Deep(2);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                new Dictionary<string, Action>
                {
                    ["fails"] = () =>
                    {
                        captured++;
                        throw new NotSupportedException("captured " + captured);
                    },
                }["fails"]();
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                Twice<string>(text => text.Substring(1), "a");
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
        }

        private static T Twice<T>(Func<T, T> f, T value) => f(f(value));

        private static long Factorial(int n)
        {
            return Product(n, 1);

            static long Product(int n, long product) => n <= 1 ? product : Product(n - 1, n * product);
        }

        private static int Deep(int n)
        {
            int calls = 0;
            int Local<T>(int m, T more)
            {
                calls++;
                if (m == 0)
                    throw new InvalidOperationException("deep " + more);
                return Deep(m - 1);
            }
            try
            {
                return Local(n, "down");
            }
            finally
            {
                Console.WriteLine(calls);
            }
        }
    }
}
