using System;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Language
{
    internal static class Pooled
    {
        internal static async Task Run()
        {
            int sum = 0;
            for (int i = 0; i < 3; i++)
            {
                sum += await Value(i);
            }
            Console.WriteLine(sum);
            await Nothing("nothing");
            try
            {
                await Value(-1);
            }
            catch (ArgumentException e)
            {
                Sections.Show(e);
            }
            try
            {
                await Nothing(null);
            }
            catch (NullReferenceException e)
            {
                Sections.Show(e);
            }
        }

        [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        private static async ValueTask<int> Value(int n)
        {
            await Task.Delay(1);
            if (n < 0)
            {
                throw new ArgumentException("negative");
            }
            return n * n;
        }

        [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
        private static async ValueTask Nothing(string text)
        {
            await Task.Yield();
            Console.WriteLine(
                text.Length);
        }
    }
}
