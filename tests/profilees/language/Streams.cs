using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Language
{
    internal static class Streams
    {
        internal static async Task Run()
        {
            await foreach (int n in Count(4))
            {
                Console.Write(n + " ");
            }
            Console.WriteLine();
            await using (new Scope("outer"))
            {
                await using var inner = new Scope("inner");
                Console.WriteLine("within");
            }
            try
            {
                await foreach (int n in Failing(2).ConfigureAwait(false))
                {
                    Console.WriteLine(n);
                }
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            using var stop = new CancellationTokenSource();
            try
            {
                await foreach (int n in Count(100).WithCancellation(stop.Token))
                {
                    if (n == 2)
                    {
                        stop.Cancel();
                    }
                }
            }
            catch (OperationCanceledException e)
            {
                Console.WriteLine(e.GetType().Name);
            }
            Console.WriteLine(await Value(20) + await Value(0));
            try
            {
                await Value(-1);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                await Nothing(-1);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                await From(new Source());
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
        }

        private static async IAsyncEnumerable<int> Count(
            int n, [EnumeratorCancellation] CancellationToken token = default)
        {
            try
            {
                for (int i = 0; i < n; i++)
                {
                    await Task.Delay(1, token);
                    yield return i;
                }
            }
            finally
            {
                Console.WriteLine("counted");
            }
        }

        private static async IAsyncEnumerable<int> Failing(int n)
        {
            yield return n;
            await Task.Yield();
            throw new FormatException("failing " + n);
        }

        private static async ValueTask<int> Value(int n)
        {
            if (n == 0)
            {
                return 1;
            }
            await Task.Delay(1);
            if (n < 0)
            {
                throw new ArgumentOutOfRangeException(nameof(n));
            }
            return n;
        }

        private static async ValueTask Nothing(int n)
        {
            await Value(1);
            await Value(n);
        }

        // A value task with no task in it.
        private static ValueTask<int> From(Source source)
        {
            source.Start();
            return new ValueTask<int>(source, 7);
        }

        private sealed class Source : IValueTaskSource<int>
        {
            private ManualResetValueTaskSourceCore<int> core;

            internal void Start()
            {
                ThreadPool.QueueUserWorkItem(_ => core.SetException(new TimeoutException("source")));
            }

            public ValueTaskSourceStatus GetStatus(short token) => core.GetStatus(core.Version);

            public void OnCompleted(
                Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
            {
                core.OnCompleted(continuation, state, core.Version, flags);
            }

            public int GetResult(short token)
            {
                if (token != 7)
                {
                    throw new InvalidOperationException("another token");
                }
                return core.GetResult(core.Version);
            }
        }

        private sealed class Scope : IAsyncDisposable
        {
            private readonly string name;

            internal Scope(string name) => this.name = name;

            public async ValueTask DisposeAsync()
            {
                await Task.Yield();
                Console.WriteLine(name + " is disposed of");
            }
        }
    }
}
