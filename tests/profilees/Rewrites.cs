// Code of many shapes that profilers of the tests rewrite; its output is always the same.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Rewrites
{
    internal struct Point
    {
        public int X;
        public long Y;

        public Point(int x, long y)
        {
            X = x;
            Y = y;
        }

        public Point Moved(int by)
        {
            return new Point(X + by, Y - by);
        }
    }

    internal class Base
    {
        protected readonly string Name;

        protected Base(string name)
        {
            Name = name;
        }

        public virtual string Say()
        {
            return "base " + Name;
        }
    }

    internal sealed class Derived : Base
    {
        private readonly int number = 5;

        public Derived(string name) : base(name.Length > 2 ? name : name + name)
        {
            number += Name.Length;
        }

        public Derived() : this("made")
        {
        }

        public override string Say()
        {
            return "derived " + number + " " + base.Say();
        }
    }

    internal sealed class Box<T>
    {
        private readonly T value;

        public Box(T value)
        {
            this.value = value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Show<U>(U with)
        {
            return value + "/" + with;
        }
    }

    internal static class Program
    {
        // These have no IL.
        [DllImport("no such library")]
        private static extern int Native();

        [MethodImpl(MethodImplOptions.InternalCall)]
        private static extern int Internal();

        private abstract class Abstract
        {
            public abstract int None();
        }

        private sealed class Concrete : Abstract
        {
            public override int None()
            {
                return 0;
            }
        }

        private delegate int Made();

        // Profilers write here.
        public static int Calls;
        public static string Note = "none";

        private static int Main(string[] arguments)
        {
            // Otherwise the characters are those of a code page.
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
                Console.SetOut(new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true });
            if (arguments.Length > 0)
                return Rejit();
            Console.WriteLine("answer " + Answer());
            Console.WriteLine("answer again " + Answer());
            Console.WriteLine("note " + Note + " " + Calls);
            Console.WriteLine("boxes " + new Box<string>("a").Show("b") + " " + new Box<object>("c").Show(new Uri("http://d/e"))
                + " " + new Box<int>(1).Show(2.5) + " " + new Box<int>(2).Show('x'));
            Console.WriteLine("point " + new Point(1, 2).Moved(3).X + " " + new Point(1, 2).Moved(3).Y);
            Console.WriteLine(new Derived("x").Say());
            Console.WriteLine(new Derived().Say());
            for (int kind = 0; kind < 5; kind++)
                Console.WriteLine("caught " + Catch(kind));
            int[] numbers = { 3, 1, 2 };
            Largest(numbers) = 9;
            Console.WriteLine("by reference " + string.Join(",", numbers));
            int sum;
            Console.WriteLine("out " + Add(2, 3, out sum) + " " + sum);
            Console.WriteLine("iterator " + string.Join(",", Odd(9)));
            Console.WriteLine("switch " + string.Join(",", Enumerable.Range(0, 6).Select(Switch)));
            Console.WriteLine("threads " + Threads());
            Made made = new Concrete().None;
            Console.WriteLine("without IL " + new Concrete().None() + " " + made());
            Console.WriteLine("pointer " + Pointer());
            return 7;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Answer()
        {
            return 41;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Remember(string note)
        {
            Note = note;
            Calls++;
        }

        // Each first compilation of a method here makes a profiler continue.
        private static int Rejit()
        {
            Console.WriteLine("at first " + Answer());
            Console.WriteLine("changed " + Until(42));
            Remember("changed");
            Console.WriteLine("reverted " + Until(41));
            Add(1, 2, out int sum);
            Console.WriteLine("changed again " + Until(43) + " " + sum);
            return 8;
        }

        private static bool Until(int expected)
        {
            for (int i = 0; i < 2000; i++)
            {
                if (Answer() == expected)
                    return true;
                Thread.Sleep(10);
            }
            return false;
        }

        private static string Catch(int kind)
        {
            string trace = "";
            try
            {
                try
                {
                    Throw(kind);
                    return "nothing";
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
            catch (Exception caught)
            {
                // The frames of the program: each of its methods once.
                int frames = caught.StackTrace.Split('\n').Count(line => line.Contains("Program.Throw"));
                trace += caught.GetType().Name + " " + frames;
            }
            return trace;
        }

        private static void Throw(int kind)
        {
            switch (kind)
            {
                case 1: throw new InvalidOperationException("1");
                case 2: throw new ArgumentException("2");
                case 3: throw new NotSupportedException("3");
                case 4: throw new InvalidOperationException("4");
            }
        }

        private static ref int Largest(int[] numbers)
        {
            int at = 0;
            for (int i = 1; i < numbers.Length; i++)
                if (numbers[i] > numbers[at])
                    at = i;
            return ref numbers[at];
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool Add(int a, int b, out int sum)
        {
            sum = a + b;
            return sum > 0;
        }

        private static IEnumerable<int> Odd(int below)
        {
            for (int i = 1; i < below; i += 2)
                yield return i;
        }

        private static string Switch(int value)
        {
            switch (value)
            {
                case 0: return "zero";
                case 1: return "one";
                case 2:
                case 3: return "few";
                default: return value > 4 ? "many" : "some";
            }
        }

        private static int Threads()
        {
            int sum = 0;
            var ready = new ManualResetEvent(false);
            var threads = Enumerable.Range(1, 8).Select(own => new Thread(() =>
            {
                ready.WaitOne();
                Interlocked.Add(ref sum, Shared(own));
            })).ToList();
            threads.ForEach(thread => thread.Start());
            ready.Set();
            threads.ForEach(thread => thread.Join());
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Shared(int own)
        {
            return own * own;
        }

        private static unsafe int Pointer()
        {
            int* numbers = stackalloc int[4];
            for (int i = 0; i < 4; i++)
                numbers[i] = i;
            fixed (char* text = "abc")
                return numbers[3] + text[1];
        }
    }
}
