using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Language.Library
{
    // For .NET Standard.
    public static class Calls
    {
        public static void Run()
        {
            Console.WriteLine(Join(new[] { 1, 2, 3 }, n => n * 2));
            try
            {
                Join(new[] { "a", null }, text => text.Length);
            }
            catch (NullReferenceException e)
            {
                Console.WriteLine(e);
            }
            try
            {
                Later(5).GetAwaiter().GetResult();
            }
            catch (InvalidOperationException e)
            {
                Console.WriteLine(e);
            }
        }

        public static string Join<T, TResult>(IEnumerable<T> items, Func<T, TResult> select)
        {
            return string.Join("-", items
                .Select(select));
        }

        private static async Task<int> Later(int n)
        {
            await Task.Yield();
            if (n > 0)
            {
                throw new InvalidOperationException("later");
            }
            return n;
        }
    }
}
