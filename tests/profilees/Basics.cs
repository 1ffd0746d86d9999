// A little of everything that causes callbacks; the output is always the same.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Basics
{
    internal static class Program
    {
        private static int Main(string[] arguments)
        {
            Console.WriteLine("answer " + Answer());
            Console.WriteLine("boxes " + new Box<int>(3).Convert(n => "v" + n) + " " + new Box<string>("s").Convert(s => s.Length));
            Console.WriteLine("nested " + new Outer<int>.Inner<string>().Join(1, "x", new[] { 1.5, 2.5 }));
            Console.WriteLine("exceptions " + Catch(0) + " " + Catch(1) + " " + Catch(2));
            Console.WriteLine("threads " + Threads());
            Console.WriteLine("garbage " + Garbage());
            Console.WriteLine("dynamic " + Dynamic());
            Console.WriteLine("linq " + string.Join(",", Numbers(10).Where(n => n % 3 == 0).Select(n => n * n)));
            Console.WriteLine("hot " + Hot());
            foreach (string argument in arguments)
                Console.WriteLine("argument <" + argument + ">");
            Console.Error.WriteLine("to stderr");
            return 7;
        }

        // Profilers of the tests make it 42; inlined, it would not be compiled on its own.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Answer()
        {
            return 41;
        }

        private static string Catch(int kind)
        {
            string trace = "";
            try
            {
                try
                {
                    Throw(kind);
                    trace += "none ";
                }
                catch (InvalidOperationException caught) when (caught.Message == "1")
                {
                    trace += "filtered ";
                }
                finally
                {
                    trace += "finally ";
                }
            }
            catch (ArgumentException caught)
            {
                trace += caught.GetType().Name;
            }
            return "[" + trace.Trim() + "]";
        }

        private static void Throw(int kind)
        {
            if (kind == 1)
                throw new InvalidOperationException("1");
            if (kind == 2)
                throw new ArgumentException("2");
        }

        private static int Threads()
        {
            int sum = 0;
            var threads = new List<Thread>();
            for (int i = 1; i <= 8; i++)
            {
                int own = i;
                var thread = new Thread(() =>
                {
                    for (int n = 0; n < 1000; n++)
                        Interlocked.Add(ref sum, new Box<int>(own).Convert(v => v));
                });
                thread.Name = "worker " + i;
                threads.Add(thread);
                thread.Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            return sum;
        }

        private static int Garbage()
        {
            var kept = new List<byte[]>();
            for (int i = 0; i < 200; i++)
            {
                byte[] array = new byte[20000 + i];
                if (i % 50 == 0)
                    kept.Add(array);
            }
            var large = new byte[300000];
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            GC.KeepAlive(large);
            return kept.Sum(array => array.Length);
        }

        private static int Dynamic()
        {
            var method = new DynamicMethod("TwiceAdded", typeof(int), new[] { typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Dup);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            return ((Func<int, int>)method.CreateDelegate(typeof(Func<int, int>)))(21);
        }

        private static IEnumerable<int> Numbers(int count)
        {
            for (int n = 0; n < count; n++)
                yield return n;
        }

        // Hot enough to be compiled again at a higher tier.
        private static long Hot()
        {
            long sum = 0;
            for (int round = 0; round < 40; round++)
            {
                for (int n = 0; n < 20000; n++)
                    sum += Mix(n, round);
                Thread.Sleep(10);
            }
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Mix(int left, int right)
        {
            return (left ^ right) & 0xff;
        }
    }

    internal class Box<T>
    {
        private readonly T value;

        public Box(T value)
        {
            this.value = value;
        }

        public U Convert<U>(Func<T, U> convert)
        {
            return convert(value);
        }
    }

    internal class Outer<T>
    {
        internal class Inner<U>
        {
            public string Join(T first, U second, double[] rest)
            {
                int count;
                Count(rest, out count);
                return first + "-" + second + "-" + count;
            }

            private static void Count(double[] values, out int count)
            {
                count = values.Length;
            }
        }
    }
}
