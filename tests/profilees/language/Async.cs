using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Language
{
    internal static class Async
    {
        internal static async Task Run()
        {
            Console.WriteLine(await Sum(new[] { 1, 2, 3 }, async n =>
            {
                await Task.Yield();
                return n * n;
            }));
            Console.WriteLine(await new Box<string>("boxed").Value(3) + " " + await Completed(7));
            try
            {
                await Outer(5);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                await Sum(new[] { 0 }, async n => { await Task.Yield(); return 10 / n; });
            }
            catch (DivideByZeroException e)
            {
                Sections.Show(e);
            }
            try
            {
                await new Box<int>(4).Value(0);
            }
            catch (ArgumentException e) when (e.ParamName == "times")
            {
                Sections.Show(e);
            }
            try
            {
                await Task.WhenAll(Late(1), Late(2));
            }
            catch (FormatException e)
            {
                Sections.Show(e);
            }
            Sections.Show(await Void());
            Console.WriteLine(await Cancelled());
        }

        private static async Task<int> Sum<T>(IEnumerable<T> items, Func<T, Task<int>> weigh)
        {
            int sum = 0;
            foreach (T item in items)
            {
                sum += await weigh(item);
            }
            return sum;
        }

        private static async Task<int> Outer(int n)
        {
            await Task.Yield();
            try
            {
                return 1 + await Inner(n);
            }
            finally
            {
                await Task.Yield();
                Console.WriteLine("outer is over");
            }
        }

        private static async Task<int> Inner(int n)
        {
            await Task.Delay(1).ConfigureAwait(false);
            Func<int, int> f = x =>
                x / (n - n);
            return f(n);
        }

        private static async Task Late(int n)
        {
            await Task.Yield();
            if (n == 1)
            {
                throw new FormatException("late " + n);
            }
        }

        // Without a single suspension.
#pragma warning disable CS1998
        private static async Task<int> Completed(int n)
        {
            return n + 1;
        }
#pragma warning restore CS1998

        // Exceptions of an `async void` are posted to the context in which it began.
        private static async Task<Exception> Void()
        {
            var context = new Catching();
            SynchronizationContext before = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(context);
            try
            {
                Forgotten();
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(before);
            }
            return await context.Caught.Task.ConfigureAwait(false);
        }

        private static async void Forgotten()
        {
            await Task.Delay(1).ConfigureAwait(false);
            throw new InvalidOperationException("forgotten");
        }

        private static async Task<string> Cancelled()
        {
            using (var source = new CancellationTokenSource())
            {
                Task waiting = Task.Delay(-1, source.Token);
                source.Cancel();
                try
                {
                    await waiting;
                    return "not cancelled";
                }
                catch (OperationCanceledException)
                {
                    await Task.Yield();
                    return "cancelled";
                }
            }
        }

        private sealed class Box<T>
        {
            private readonly T value;

            internal Box(T value) => this.value = value;

            internal async Task<string> Value(int times)
            {
                await Task.Yield();
                if (times == 0)
                {
                    throw new ArgumentException(typeof(T).Name, nameof(times));
                }
                return string.Join("", new List<T>(System.Linq.Enumerable.Repeat(value, times)));
            }
        }

        private sealed class Catching : SynchronizationContext
        {
            internal readonly TaskCompletionSource<Exception> Caught = new TaskCompletionSource<Exception>();

            public override void Post(SendOrPostCallback callback, object state)
            {
                try
                {
                    callback(state);
                }
                catch (Exception e)
                {
                    Caught.SetResult(e);
                }
            }
        }
    }
}
