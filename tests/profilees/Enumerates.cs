// Enumerations of iterators and async iterators: to their ends, left early, with exceptions, twice, nested, on several threads.
// `Enumerates N`: 200 of N values.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Enumerates
{
    public static class Calls
    {
        internal static void Leaf(string at) { }
    }

    public sealed class Shelf<T>
    {
        private readonly T[] all;

        public Shelf(params T[] all) { this.all = all; }

        public IEnumerator<T> GetEnumerator()
        {
            foreach (T one in all)
            {
                Calls.Leaf("shelf");
                yield return one;
            }
        }
    }

    public static class Iterators
    {
        internal static IEnumerable<int> Numbers(int end)
        {
            for (int i = 0; i < end; i++)
            {
                Calls.Leaf("inside");
                yield return i;
            }
            Calls.Leaf("at the end");
        }

        internal static IEnumerable<int> Many(int end)
        {
            for (int i = 0; i < end; i++)
            {
                yield return 1;
            }
        }

        internal static IEnumerable<int> Cleans()
        {
            try
            {
                yield return 1;
                yield return 2;
            }
            finally
            {
                Calls.Leaf("finally");
            }
        }

        internal static IEnumerable<int> Throws()
        {
            yield return 1;
            Calls.Leaf("before the exception");
            throw new InvalidOperationException("an iterator");
        }

        internal static IEnumerable<int> Outer()
        {
            foreach (int number in Numbers(1))
            {
                Calls.Leaf("between");
                yield return number;
            }
        }

        internal static IEnumerable<int> Tasks()
        {
            Task.Run(() => Calls.Leaf("in a task")).Wait();
            yield return 1;
        }

        internal static async IAsyncEnumerable<int> Stream(int end)
        {
            for (int i = 0; i < end; i++)
            {
                Calls.Leaf("inside");
                await Task.Yield();
                Calls.Leaf("inside, later");
                yield return i;
            }
        }

        internal static async IAsyncEnumerable<int> Completed()
        {
            await Task.CompletedTask;
            yield return 1;
            Calls.Leaf("at the end");
        }

        internal static async IAsyncEnumerable<int> StreamCleans()
        {
            try
            {
                await Task.Yield();
                yield return 1;
                yield return 2;
            }
            finally
            {
                await Task.Yield();
                Calls.Leaf("finally");
            }
        }

        internal static async IAsyncEnumerable<int> StreamThrows(bool waits)
        {
            yield return 1;
            if (waits)
            {
                await Task.Yield();
            }
            throw new InvalidOperationException("an async iterator");
        }

        internal static async IAsyncEnumerable<int> Cancelled([EnumeratorCancellation] CancellationToken cancelled)
        {
            yield return 1;
            await Task.Delay(-1, cancelled);
        }
    }

    public static class Cases
    {
        internal static void ToTheEnd()
        {
            foreach (int number in Iterators.Numbers(2))
            {
                Calls.Leaf("outside");
            }
            Calls.Leaf("after");
        }

        internal static void LeftEarly()
        {
            foreach (int number in Iterators.Cleans())
            {
                break;
            }
            Calls.Leaf("after");
        }

        internal static void WithException()
        {
            try
            {
                foreach (int number in Iterators.Throws())
                {
                }
            }
            catch (InvalidOperationException)
            {
            }
            Calls.Leaf("after");
        }

        internal static void Twice()
        {
            IEnumerable<int> numbers = Iterators.Numbers(1);
            foreach (int number in numbers)
            {
            }
            foreach (int number in numbers)
            {
            }
        }

        internal static void Never()
        {
            Iterators.Numbers(1);
            Iterators.Numbers(1).GetEnumerator().Dispose();
        }

        internal static void Nested()
        {
            foreach (int number in Iterators.Outer())
            {
            }
        }

        internal static void NotDisposed()
        {
            Iterators.Numbers(1).GetEnumerator().MoveNext();
        }

        // It is at its end: a call more is no other enumeration.
        internal static void OnceMore()
        {
            IEnumerator<int> numbers = Iterators.Numbers(0).GetEnumerator();
            numbers.MoveNext();
            numbers.MoveNext();
            numbers.Dispose();
        }

        internal static void ByLinq()
        {
            Iterators.Numbers(2).Where(number => number > 0).ToArray();
        }

        internal static void OnThreads()
        {
            IEnumerator<int> numbers = Iterators.Numbers(1).GetEnumerator();
            numbers.MoveNext();
            var thread = new Thread(() => numbers.MoveNext());
            thread.Start();
            thread.Join();
        }

        internal static void Generic()
        {
            foreach (string one in new Shelf<string>("a"))
            {
            }
            foreach (int one in new Shelf<int>(1))
            {
            }
        }

        internal static void WithTask()
        {
            foreach (int number in Iterators.Tasks())
            {
            }
        }

        internal static async Task StreamToTheEnd()
        {
            await foreach (int number in Iterators.Stream(2))
            {
                Calls.Leaf("outside");
            }
            Calls.Leaf("after");
        }

        internal static async Task StreamCompleted()
        {
            await foreach (int number in Iterators.Completed())
            {
            }
            Calls.Leaf("after");
        }

        internal static async Task StreamLeftEarly()
        {
            await foreach (int number in Iterators.StreamCleans())
            {
                break;
            }
            Calls.Leaf("after");
        }

        internal static async Task StreamWithException(bool waits)
        {
            try
            {
                await foreach (int number in Iterators.StreamThrows(waits))
                {
                }
            }
            catch (InvalidOperationException)
            {
            }
            Calls.Leaf("after");
        }

        internal static async Task StreamCancelled()
        {
            var source = new CancellationTokenSource();
            try
            {
                await foreach (int number in Iterators.Cancelled(source.Token))
                {
                    source.Cancel();
                }
            }
            catch (OperationCanceledException)
            {
            }
            Calls.Leaf("after");
        }

        internal static async Task StreamTwice()
        {
            IAsyncEnumerable<int> numbers = Iterators.Stream(1);
            await foreach (int number in numbers)
            {
            }
            await foreach (int number in numbers)
            {
            }
        }
    }

    internal static class Program
    {
        private static void Main(string[] arguments)
        {
            if (arguments.Length > 0)
            {
                long sum = 0;
                for (int i = 0; i < 200; i++)
                {
                    foreach (int number in Iterators.Many(int.Parse(arguments[0])))
                    {
                        sum += number;
                    }
                }
                Console.WriteLine("enumerated " + sum);
                return;
            }
            Cases.ToTheEnd();
            Cases.LeftEarly();
            Cases.WithException();
            Cases.Twice();
            Cases.Never();
            Cases.Nested();
            Cases.NotDisposed();
            Cases.OnceMore();
            Cases.ByLinq();
            Cases.OnThreads();
            Cases.Generic();
            Cases.WithTask();
            Cases.StreamToTheEnd().Wait();
            Cases.StreamCompleted().Wait();
            Cases.StreamLeftEarly().Wait();
            Cases.StreamWithException(false).Wait();
            Cases.StreamWithException(true).Wait();
            Cases.StreamCancelled().Wait();
            Cases.StreamTwice().Wait();
            Console.WriteLine("enumerated");
        }
    }
}
