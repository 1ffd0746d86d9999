// Kinds of methods that patches change: each line is a kind and its result.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace PatchedEdges
{
    internal interface IShape
    {
        int Sides();
    }

    internal abstract class Base : IShape
    {
        public readonly int Start;

        protected Base(int start)
        {
            Start = start;
        }

        public virtual int Virtual(int value)
        {
            return value + 1;
        }

        public int Inherited(int value)
        {
            return value + 2;
        }

        int IShape.Sides()
        {
            return 4;
        }
    }

    internal sealed class Derived : Base
    {
        private int stored = 3;

        public event Func<int, int> Changed;

        public Derived(int start) : base(start)
        {
        }

        public int Property
        {
            get { return stored; }
            set { stored = value; }
        }

        public int this[int index]
        {
            get { return index * 2; }
        }

        public override int Virtual(int value)
        {
            return base.Virtual(value) * 10;
        }

        public int Raise(int value)
        {
            return Changed(value);
        }

        public static int operator +(Derived left, int right)
        {
            return left.Start + right;
        }

        public static explicit operator int(Derived value)
        {
            return value.Start;
        }

        internal sealed class Nested
        {
            public int Inside(int value)
            {
                return value - 1;
            }
        }
    }

    internal struct Value
    {
        public int Number;

        public int Add(int more)
        {
            Number += more;
            return Number;
        }

        public override string ToString()
        {
            return "value " + Number;
        }
    }

    internal sealed class Box<T>
    {
        public T Held;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Count(int number)
        {
            return number + typeof(T).Name.Length;
        }
    }

    internal static class Early
    {
        public static readonly int Ready = Prepare();

        static Early()
        {
            Program.Order += " initialised";
        }

        private static int Prepare()
        {
            return 8;
        }

        // Its patch must not run the initialiser earlier than the original does.
        public static int Late(int value)
        {
            Program.Order += " called";
            return value + Ready;
        }
    }

    internal static class Extensions
    {
        public static int Doubled(this int value)
        {
            return value * 2;
        }
    }

    internal static class Program
    {
        public static string Order = "";

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static int Tiny(int value)
        {
            return value + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallsTiny(int value)
        {
            return Tiny(value);
        }

        private static int Throws(int value)
        {
            throw new NotSupportedException();
        }

        private static int Spins(int value)
        {
            while (true)
            {
            }
        }

        private static int Generic<T>(T value, int number)
        {
            return number + value.ToString().Length;
        }

        private static int Optional(int value, int more = 5)
        {
            return value + more;
        }

        private static int Many(params int[] values)
        {
            return values.Length;
        }

        private static int Recursive(int value)
        {
            return value == 0 ? 0 : Recursive(value - 1) + 1;
        }

        private static int Handles(int value)
        {
            try
            {
                return 10 / value;
            }
            catch (DivideByZeroException)
            {
                return -1;
            }
            finally
            {
                Order += " finally";
            }
        }

        private static unsafe int Pointer(int* value)
        {
            return *value;
        }

        private static int Span(ReadOnlySpan<char> text)
        {
            return text.Length;
        }

        private static IEnumerable<int> Numbers(int count)
        {
            for (int i = 0; i < count; i++)
                yield return i;
        }

        private static async Task<int> Later(int value)
        {
            await Task.Yield();
            return value;
        }

        private static int Dispatch(IShape shape)
        {
            return shape.Sides();
        }

        private static int Big(long a, long b, long c, long d, double e, double f, string g, object h, int value)
        {
            return value + (int)(a + b + c + d + e + f) + g.Length;
        }

        private static string Attempt(Func<int> call)
        {
            try
            {
                return call().ToString();
            }
            catch (Exception exception)
            {
                return exception.GetType().Name;
            }
        }

        private static unsafe int Main()
        {
            Derived derived = new Derived(7);
            Console.WriteLine("constructor " + derived.Start);
            Console.WriteLine("virtual " + derived.Virtual(1));
            Console.WriteLine("by the base " + ((Base)derived).Virtual(1));
            Console.WriteLine("inherited " + derived.Inherited(1));
            Console.WriteLine("interface " + Dispatch(derived));
            Console.WriteLine("getter " + derived.Property);
            derived.Property = 20;
            Console.WriteLine("setter " + derived.Property);
            Console.WriteLine("indexer " + derived[4]);
            Console.WriteLine("operator " + (derived + 1));
            Console.WriteLine("conversion " + (int)derived);
            derived.Changed += value => value * 3;
            Console.WriteLine("event and lambda " + derived.Raise(2));
            Console.WriteLine("nested " + new Derived.Nested().Inside(5));
            Value number = new Value { Number = 1 };
            Console.WriteLine("struct " + number.Add(2) + " " + number.Number + " " + number);
            Console.WriteLine("shared generics " + new Box<string>().Count(1) + " " + new Box<object>().Count(1) + " " + new Box<Version>().Count(1));
            Console.WriteLine("generics over structs " + new Box<int>().Count(1) + " " + new Box<DateTime>().Count(1));
            Console.WriteLine("generic methods " + Generic("ab", 1) + " " + Generic(7, 1) + " " + Generic(new Version(1, 2), 1));
            Console.WriteLine("inlined " + CallsTiny(1) + " " + Tiny(2));
            Console.WriteLine("throws " + Attempt(() => Throws(1)));
            Console.WriteLine("optional " + Optional(1) + " " + Optional(1, 1));
            Console.WriteLine("params " + Many(1, 2, 3) + " " + Many());
            Console.WriteLine("recursive " + Recursive(3));
            Order = "";
            Console.WriteLine("handlers " + Handles(5) + " " + Handles(0) + Order);
            int pointed = 6;
            Console.WriteLine("pointer " + Pointer(&pointed));
            Console.WriteLine("span " + Span("abc".AsSpan()));
            int sum = 0;
            foreach (int one in Numbers(4))
                sum += one;
            Console.WriteLine("iterator " + sum);
            Console.WriteLine("async " + Later(9).Result);
            Console.WriteLine("many parameters " + Big(1, 2, 3, 4, 5, 6, "seven", null, 9));
            Func<int, int> called = Tiny;
            Console.WriteLine("delegate " + called(1));
            MethodInfo method = typeof(Program).GetMethod("Optional", BindingFlags.NonPublic | BindingFlags.Static);
            Console.WriteLine("reflection " + method.Invoke(null, new object[] { 1, 2 }));
            Console.WriteLine("extension " + 4.Doubled());
            int Local(int value)
            {
                return value + pointedBy;
            }
            Console.WriteLine("local function " + Local(1));
            Order = "";
            int late = Early.Late(1);
            Console.WriteLine("static constructor " + late + Order);
            Console.WriteLine("precompiled caller " + (DateTime.Now.Year < 2010 ? "past" : "now"));
            Console.WriteLine("never returns " + (Environment.GetEnvironmentVariable("PATCHED") == null ? "" : Attempt(() => Spins(1))));
            return 6;
        }

        private const int pointedBy = 6;
    }
}
