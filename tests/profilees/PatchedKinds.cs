// Kinds of methods that patches change, in addition to those of `PatchedEdges`: each line is a kind and its result.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

namespace PatchedKinds
{
    internal delegate int Change(int value);

    internal interface IAdder
    {
        int Add(int more);

        // With a body.
        int Twice(int value)
        {
            return value * 2;
        }
    }

    internal interface IMap<T>
    {
        int Map(int value);
    }

    internal enum Color : short
    {
        Red = 1,
        Green = 2,
        Blue = 3,
    }

    internal struct Point : IAdder
    {
        public int X;
        public int Y;

        public Point(int x, int y)
        {
            X = x;
            Y = y;
        }

        public int Add(int more)
        {
            X += more;
            return X + Y;
        }
    }

    internal struct Large
    {
        public long A, B, C, D, E;
    }

    internal ref struct Window
    {
        private readonly ReadOnlySpan<int> numbers;

        public Window(ReadOnlySpan<int> numbers)
        {
            this.numbers = numbers;
        }

        public int Sum(int more)
        {
            foreach (int one in numbers)
                more += one;
            return more;
        }
    }

    internal class Shape : IMap<string>
    {
        private Action changed;

        public int Handlers;

        public event Action Changed
        {
            add { Handlers += 1; changed += value; }
            remove { Handlers -= 1; changed -= value; }
        }

        public virtual int Measure<T>(T value, int number)
        {
            return number + typeof(T).Name.Length;
        }

        public virtual int Grow(int value)
        {
            return value + 1;
        }

        int IMap<string>.Map(int value)
        {
            return value + 7;
        }

        public Large Make(long seed)
        {
            return new Large { A = seed, E = seed * 2 };
        }

        [MethodImpl(MethodImplOptions.Synchronized)]
        public int Guarded(int value)
        {
            return value + 3;
        }

        public static implicit operator int(Shape shape)
        {
            return shape.Handlers;
        }
    }

    internal sealed class Square : Shape
    {
        public override int Measure<T>(T value, int number)
        {
            return base.Measure(value, number) * 2;
        }

        public override int Grow(int value)
        {
            return base.Grow(value) * 2;
        }
    }

    internal sealed class Adder : IAdder
    {
        public int Add(int more)
        {
            return more;
        }
    }

    internal sealed class Outer<T>
    {
        internal sealed class Inner<U>
        {
            public int Join(int value)
            {
                return value + typeof(T).Name.Length + typeof(U).Name.Length;
            }
        }
    }

    internal struct Cell<T>
    {
        public T Held;

        public int Bump(int value)
        {
            return value + Held.ToString().Length;
        }
    }

    internal sealed class Ends
    {
        public static int Ended;

        ~Ends()
        {
            Ended += 1;
        }
    }

    internal sealed class Remote : MarshalByRefObject
    {
        public int Ask(int value)
        {
            return value + 1;
        }
    }

    internal static class Program
    {
        private static int Together(Point point)
        {
            return point.X + point.Y;
        }

        private static int Creates(int value)
        {
            return Together(new Point(value, 2));
        }

        [DllImport("libc", EntryPoint = "abs")]
        private static extern int Absolute(int value);

        private static int Constrained<T>(ref T value, int more) where T : IAdder
        {
            return value.Add(more);
        }

        private static ref int Slot(int[] numbers, int index)
        {
            return ref numbers[index];
        }

        private static int Read(in int value)
        {
            return value + 1;
        }

        private static bool Find(string name, out int value)
        {
            value = name.Length;
            return false;
        }

        private static void Raise(ref int value)
        {
            value += 1;
        }

        private static async ValueTask<int> Soon(int value)
        {
            await Task.Yield();
            return value;
        }

        private static async void Start(TaskCompletionSource<int> done, int value)
        {
            await Task.Yield();
            done.SetResult(value);
        }

        private static (int, string) Pair(int value)
        {
            return (value, "pair");
        }

        private static int Or(int? value, int other)
        {
            return value ?? other;
        }

        private static int Filtered(int value)
        {
            try
            {
                throw new InvalidOperationException(value.ToString());
            }
            catch (InvalidOperationException exception) when (exception.Message == "1")
            {
                return 1;
            }
            catch (InvalidOperationException)
            {
                return 2;
            }
        }

        private static int Invokes(Change change)
        {
            return change(1);
        }

        private static int Closes(int more)
        {
            Func<int, int> add = value => value + more;
            return add(1);
        }

        private static int Inner(int more)
        {
            int Add(int value)
            {
                return value + more;
            }
            return Add(1);
        }

        private static float Half(float value)
        {
            return value / 2;
        }

        private static decimal Price(decimal price, int count)
        {
            return price * count;
        }

        private static Color Mix(Color color)
        {
            return color;
        }

        private static int Total(int[] numbers)
        {
            int sum = 0;
            foreach (int one in numbers)
                sum += one;
            return sum;
        }

        private static int Corner(int[,] numbers)
        {
            return numbers[1, 1];
        }

        private static unsafe int OnStack(int count)
        {
            int* numbers = stackalloc int[count];
            numbers[count - 1] = count;
            return numbers[count - 1];
        }

        private static int Locked(object gate, int value)
        {
            lock (gate)
            {
                return value;
            }
        }

        private static int Switched(string text)
        {
            switch (text)
            {
                case "one": return 1;
                case "two": return 2;
                case "three": return 3;
                case "four": return 4;
                case "five": return 5;
                case "six": return 6;
                case "seven": return 7;
                default: return 0;
            }
        }

        private static IEnumerable<T> Repeated<T>(T value, int count)
        {
            for (int i = 0; i < count; i++)
                yield return value;
        }

        private static int OfEnumeration<T>(T value, int number) where T : struct, Enum
        {
            return number + value.ToString().Length;
        }

        // Many calls, so that the JIT compiles it again, by its profile.
        private static int Hot(int value)
        {
            return value & 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static long Often()
        {
            long sum = 0;
            for (int i = 0; i < 300_000; i++)
                sum += Hot(i);
            return sum;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Drop()
        {
            new Ends();
        }

        private static int Main()
        {
            // The C library of Windows.
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows))
                NativeLibrary.SetDllImportResolver(typeof(Program).Assembly, (name, assembly, path) => NativeLibrary.Load("msvcrt"));
            bool isPatched = Environment.GetEnvironmentVariable("PATCHED") != null;
            Shape square = new Square();
            Console.WriteLine("generic virtual " + square.Measure("a", 1) + " " + square.Measure(1, 1) + " " + new Shape().Measure(square, 1));
            Console.WriteLine("constructor of a struct " + new Point(1, 2).X);
            Point point = new Point(1, 2);
            Console.WriteLine("constrained call " + Constrained(ref point, 3) + " " + point.X);
            IAdder boxed = point;
            Console.WriteLine("boxed struct " + boxed.Add(1));
            IAdder adder = new Adder();
            Console.WriteLine("default interface method " + adder.Twice(3));
            Console.WriteLine("explicit implementation of a generic interface " + ((IMap<string>)square).Map(1));
            int[] numbers = { 1, 2, 3 };
            Slot(numbers, 0) = 9;
            Console.WriteLine("ref return " + string.Join(",", numbers));
            int five = 5;
            Console.WriteLine("in " + Read(in five) + " " + five);
            bool isFound = Find("name", out int found);
            Console.WriteLine("out " + isFound + " " + found);
            Raise(ref five);
            Console.WriteLine("ref " + five);
            Console.WriteLine("value task " + Soon(1).AsTask().Result);
            TaskCompletionSource<int> done = new TaskCompletionSource<int>();
            Start(done, 1);
            Console.WriteLine("async void " + done.Task.Result);
            Console.WriteLine("tuple " + Pair(1).Item1);
            Console.WriteLine("nullable " + Or(null, 1) + " " + Or(2, 1));
            Console.WriteLine("exception filter " + Filtered(1) + " " + Filtered(2));
            Console.WriteLine("delegate " + Invokes(value => value));
            Console.WriteLine("closure " + Closes(1));
            Console.WriteLine("local function with a closure " + Inner(1));
            Console.WriteLine("float " + Half(3));
            Console.WriteLine("decimal " + Price(1.5m, 2));
            Console.WriteLine("enumeration " + Mix(Color.Red));
            Console.WriteLine("array " + Total(new int[] { 1, 2 }));
            Console.WriteLine("array of two dimensions " + Corner(new int[,] { { 1, 2 }, { 3, 4 } }));
            Console.WriteLine("memory of the stack " + OnStack(3));
            Console.WriteLine("creation " + Creates(1));
            Console.WriteLine("marshalled by reference " + new Remote().Ask(1));
            Console.WriteLine("lock " + Locked(square, 1));
            Console.WriteLine("synchronized " + square.Guarded(1));
            Console.WriteLine("switch over strings " + Switched("six") + " " + Switched("ten"));
            Console.WriteLine("large struct as result " + square.Make(1).A + " " + square.Make(1).E);
            Console.WriteLine("nested generics " + new Outer<string>.Inner<int>().Join(1) + " " + new Outer<int>.Inner<Shape>().Join(1));
            Console.WriteLine("generic struct " + new Cell<int> { Held = 5 }.Bump(1) + " " + new Cell<string> { Held = "ab" }.Bump(1));
            Console.WriteLine("generic constraint " + OfEnumeration(Color.Blue, 1));
            Console.WriteLine("ref struct " + new Window(numbers.AsSpan(1)).Sum(1));
            Action handler = () => { };
            square.Changed += handler;
            Console.WriteLine("event accessors " + square.Handlers);
            square.Handlers = 2;
            int converted = square;
            Console.WriteLine("implicit conversion " + converted);
            Change grow = square.Grow;
            Console.WriteLine("delegate of a virtual method " + grow(1));
            Console.WriteLine("generic iterator " + string.Join(",", Repeated("x", 2)));
            Console.WriteLine("extern " + Absolute(-3));
            Drop();
            for (int i = 0; i < 50 && Ends.Ended == 0 && !isPatched; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Console.WriteLine("finalizer " + Ends.Ended);
            Console.WriteLine("hot " + Often());
            return 6;
        }
    }
}
