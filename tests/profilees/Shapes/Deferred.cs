using System;
using System.Collections.Generic;
using System.Linq;
using System.Linq.Expressions;
using System.Threading;
using System.Threading.Tasks;

namespace Shapes
{
    // Methods that the compiler splits: iterators, async methods, lambdas, expressions.
    internal static class Deferred
    {
        private static IEnumerable<int> Count(int from, int to)
        {
            for (int value = from; value < to; value++)
                yield return value;
        }

        private static IEnumerable<string> WithFinally(List<string> log)
        {
            log.Add("begin");
            try
            {
                yield return "a";
                try
                {
                    yield return "b";
                }
                finally
                {
                    log.Add("inner");
                }
                yield return "c";
            }
            finally
            {
                log.Add("outer");
            }
            log.Add("end");
        }

        private static IEnumerable<T> Interleave<T>(IEnumerable<T> a, IEnumerable<T> b)
        {
            using (IEnumerator<T> first = a.GetEnumerator())
            using (IEnumerator<T> second = b.GetEnumerator())
            {
                bool more = true;
                while (more)
                {
                    more = false;
                    if (first.MoveNext())
                    {
                        more = true;
                        yield return first.Current;
                    }
                    if (second.MoveNext())
                    {
                        more = true;
                        yield return second.Current;
                    }
                }
            }
        }

        private static IEnumerator<int> Fails()
        {
            yield return 1;
            throw new Odd(2);
        }

        private static string Taken(int count)
        {
            List<string> log = new List<string>();
            foreach (string value in WithFinally(log).Take(count))
                log.Add(value);
            return string.Join(" ", log);
        }

        private static async Task<int> Added(int a, int b)
        {
            await Task.Yield();
            return a + b;
        }

        private static async Task Nothing(List<int> into)
        {
            into.Add(1);
            await Task.Delay(1);
            into.Add(2);
        }

        private static async Task<string> Synchronous(string text)
        {
            return await Task.FromResult(text) + "!";
        }

        private static async Task<T> Generic<T>(Func<Task<T>> make, T otherwise)
        {
            try
            {
                return await make();
            }
            catch (Odd)
            {
                return otherwise;
            }
        }

        private static async Task<int> Throws(bool late)
        {
            if (late)
                await Task.Yield();
            throw new Odd(late ? 1 : 0);
        }

        private static async Task<string> WithHandlers(int kind)
        {
            string said = "";
            try
            {
                said += await Synchronous("a");
                try
                {
                    if (kind == 1)
                        await Throws(true);
                    said += "b";
                }
                catch (Odd odd)
                {
                    said += "c" + odd.Value;
                    if (kind == 1)
                        await Task.Yield();
                    said += "d";
                }
                if (kind == 2)
                    return said;
            }
            finally
            {
                await Task.Yield();
                said += "f";
            }
            return said + "e";
        }

        private static async Task<long> Loop(int count)
        {
            long sum = 0;
            for (int index = 0; index < count; index++)
            {
                if (index % 2 == 0)
                    continue;
                sum += await Added(index, 1);
            }
            return sum;
        }

        private static async void Forgotten(ManualResetEventSlim done)
        {
            await Task.Yield();
            done.Set();
        }

        private static async ValueTask<int> Value(bool wait)
        {
            if (wait)
                await Task.Yield();
            return wait ? 2 : 1;
        }

        private static Func<int> Captured(int start)
        {
            int value = start;
            Func<int> next = () => value++;
            value += 10;
            return next;
        }

        private static int NestedLambdas(int a)
        {
            Func<int, Func<int, Func<int, int>>> curried = b => c => d => ((a * 10 + b) * 10 + c) * 10 + d;
            return curried(2)(3)(4);
        }

        private static int Recursive(int number)
        {
            Func<int, int> factorial = null;
            factorial = value => value <= 1 ? 1 : value * factorial(value - 1);
            return factorial(number);
        }

        private static int LoopCaptures()
        {
            List<Func<int>> all = new List<Func<int>>();
            foreach (int value in new[] { 1, 2, 3 })
                all.Add(() => value);
            for (int index = 0; index < 3; index++)
                all.Add(() => index);
            return all.Aggregate(0, (sum, one) => sum * 10 + one());
        }

        private static string Query()
        {
            var words = from word in "one two three four five".Split(' ')
                        where word.Length > 3
                        orderby word descending
                        select new { word, Size = word.Length };
            return string.Join(" ", words.Select(one => one.word + one.Size));
        }

        private static int Expression(int value)
        {
            Expression<Func<int, int>> expression = number => number * number + 1;
            BinaryExpression body = (BinaryExpression)expression.Body;
            return (int)((ConstantExpression)body.Right).Value + value;
        }

        private static Tuple<int, string> Anonymous(Func<int, string> make)
        {
            Func<int, string> added = delegate(int number) { return make(number) + number; };
            return Tuple.Create(5, added(6));
        }

        private static int Parallel(int count)
        {
            int sum = 0;
            Task[] tasks = new Task[count];
            for (int index = 0; index < count; index++)
            {
                int own = index;
                tasks[index] = Task.Run(() => Interlocked.Add(ref sum, own));
            }
            Task.WaitAll(tasks);
            return sum;
        }

        public static void All()
        {
            Check.Same("Count", 45, Count(0, 10).Sum());
            Check.Same("WithFinally", "begin a outer", Taken(1));
            Check.Same("WithFinally", "begin a b inner outer", Taken(2));
            Check.Same("WithFinally", "begin a b inner c outer end", Taken(4));
            Check.Same("Interleave", "0 10 1 11 2 3", string.Join(" ", Interleave(Count(0, 4), Count(10, 12))));
            IEnumerator<int> fails = Fails();
            Check.True("Fails", fails.MoveNext() && fails.Current == 1);
            Check.Throws<Odd>("Fails", () => fails.MoveNext(), "odd 2");
            Check.Same("Added", 5, Added(2, 3).Result);
            List<int> into = new List<int>();
            Nothing(into).Wait();
            Check.Same("Nothing", 2, into.Count);
            Check.Same("Synchronous", "s!", Synchronous("s").Result);
            Check.Same("Generic", 3, Generic(() => Added(1, 2), 9).Result);
            Check.Same("Generic", 9, Generic(() => Throws(true), 9).Result);
            Check.Same("Generic", "g!", Generic(() => Synchronous("g"), "no").Result);
            Check.Throws<AggregateException>("Throws", () => Throws(false).Wait());
            Check.Throws<Odd>("Throws", () => Throws(true).GetAwaiter().GetResult(), "odd 1");
            Check.Same("WithHandlers", "a!bfe", WithHandlers(0).Result);
            Check.Same("WithHandlers", "a!c1dfe", WithHandlers(1).Result);
            Check.Same("WithHandlers", "a!b", WithHandlers(2).Result);
            Check.Same("Loop", 30, Loop(10).Result);
            using (ManualResetEventSlim done = new ManualResetEventSlim())
            {
                Forgotten(done);
                done.Wait();
            }
            Check.Same("Value", 12, Value(false).Result * 10 + Value(true).AsTask().Result);
            Func<int> captured = Captured(1);
            Check.Same("Captured", 1112, captured() * 100 + captured());
            Check.Same("NestedLambdas", 1234, NestedLambdas(1));
            Check.Same("Recursive", 5040, Recursive(7));
            Check.Same("LoopCaptures", 123333, LoopCaptures());
            Check.Same("Query", "three5 four4 five4", Query());
            Check.Same("Expression", 8, Expression(7));
            Check.Same("Anonymous", "x6", Anonymous(number => "x").Item2);
            Check.Same("Parallel", 28, Parallel(8));
        }
    }
}
