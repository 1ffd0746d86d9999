using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Linq;
using System.Threading.Tasks;

namespace System.Runtime.CompilerServices
{
    class IsExternalInit { }
}

namespace Constructs
{
    // The parameters of a record are a line of its constructor.
    record Point(int X, int Y) //+
    {
        public int Sum => X + Y; //+

        public int Unused => X - Y; //-
    }

    record struct Size(int Width, int Height); //+

    class Counter
    {
        int count = 1; //+
        readonly Func<int> never = () => 1; //+

        public int Automatic { get; set; } //+

        public int Never { get; } //-

        public int Full
        {
            get { return count; } //+
            set { count = value; } //-
        }

        [ExcludeFromCodeCoverage]
        public int Excluded()
        {
            return 1;
        }

        [ExcludeFromCodeCoverage]
        public int ExcludedProperty
        {
            get { return 1; }
        }
    }

    [ExcludeFromCodeCoverage]
    class ExcludedType
    {
        public static Func<int> Run()
        {
            return () => 7;
        }
    }

    static class Asynchronous
    {
        public static async Task<int> Complete()
        { //+
            await Task.CompletedTask; //+
            return 1; //+
        } //+

        public static async Task<int> Yields(bool fails)
        { //+
            await Task.Yield(); //+
            if (fails) //+ 2/2
                throw new InvalidOperationException(); //+

            try
            { //+
                await Task.Delay(1); //+
                return 2; //+
            }
            finally
            { //+
                Console.WriteLine("finally"); //+
            } //+
        } //+

        public static async Task Never()
        { //-
            await Task.Yield(); //-
        } //-
    }

    static class Program
    {
        static IEnumerable<int> Iterate(int count)
        { //+
            for (int i = 0; i < count; i++) //+ 1/2
            { //+
                yield return i; //+
            } //+

            Console.WriteLine("the end is never reached"); //-
        } //-

        static string Describe(object value) =>
            value switch //+ 6/10
            { //+
                null => "nothing", //-
                int and > 5 => "large", //-
                int => "number", //+
                string { Length: 0 } => "empty", //-
                string text => text, //+
                _ => "something", //-
            }; //+

        static int Filtered(Exception thrown, bool accepted)
        { //+
            try
            { //+
                throw thrown; //+
            }
            catch (InvalidOperationException error) when (accepted && error.Message == "x") //+ 1/2
            { //+
                return 1; //+
            }
            catch (Exception) //+
            { //+
                return 2; //+
            }
        } //+

        static int Middle(string text)
        { //+
            int before = 1; //+
            int length = before + text.Length; //+
            before = 2; //-
            return length + before; //-
        } //-

        static T Generic<T>(T first, T second, bool takesFirst)
        { //+
            if (takesFirst) //+ 2/2
            { //+
                return first; //+
            }

            return second; //+
        } //+

        static int Lambdas(int[] numbers)
        { //+
            Func<int, int> never = number => //+
            { //-
                return number * 2; //-
            }; //-

            int Local(int number)
            { //+
                return number + 1; //+
            } //+

            static int NeverLocal()
            { //-
                return 3; //-
            } //-

            return numbers //+
                .Where(number => number > 1) //+
                .Select(number => //+
                    Local(number)) //+
                .Sum(); //+
        } //+

        static int Finally()
        { //+
            try
            { //+
                return 1; //+
            }
            finally
            { //+
                Console.WriteLine("in the end"); //+
            } //+
        } //+

        static int? Conditional(string text)
        { //+
            var length = text?.Length; //+ 1/2
            return length ?? 1; //+ 1/2
        } //+

        static void Resources(IDisposable given)
        { //+
            using (given) //+
            { //+
                lock (given) //+
                { //+
                    foreach (var one in new List<int> { 1 }) //+ 2/2
                    { //+
                        Console.WriteLine(one); //+
                    } //+
                } //+
            } //+
        } //+

        static string Text(string day)
        { //+
            switch (day) //+ 1/4
            {
                case "monday":
                    return "first"; //+
                case "tuesday":
                    return "second"; //-
                default:
                    return "other"; //-
            }
        } //+

        static async Task<int> Main()
        { //+
            var point = new Point(1, 2); //+
            Console.WriteLine(point.Sum); //+
            Console.WriteLine(new Size(3, 4).Width); //+
            var counter = new Counter { Automatic = 5 }; //+
            Console.WriteLine(counter.Full + counter.Automatic + counter.Excluded()); //+
            Console.WriteLine(counter.ExcludedProperty + ExcludedType.Run()()); //+
            Console.WriteLine(await Asynchronous.Complete()); //+
            Console.WriteLine(await Asynchronous.Yields(false)); //+
            try
            { //+
                await Asynchronous.Yields(true); //+
            } //-
            catch (InvalidOperationException) //+
            { //+
                Console.WriteLine("failed"); //+
            } //+

            foreach (var number in Iterate(9)) //+ 1/2
            { //+
                if (number == 2) //+ 2/2
                    break; //+
            } //+

            Console.WriteLine(Describe(3) + Describe("text")); //+
            Console.WriteLine(Filtered(new InvalidOperationException("x"), true)); //+
            Console.WriteLine(Filtered(new InvalidOperationException("y"), true)); //+
            Console.WriteLine(Filtered(new ArgumentException(), true)); //+
            try
            { //+
                Middle(null); //+
            } //-
            catch (NullReferenceException) //+
            { //+
                Console.WriteLine("null"); //+
            } //+

            Console.WriteLine(Generic(1, 2, true) + Generic("a", "b", false)); //+
            Console.WriteLine(Lambdas(new[] { 1, 2, 3 })); //+
            Console.WriteLine(Finally()); //+
            Console.WriteLine(Conditional("four")); //+
            Resources(new System.IO.MemoryStream()); //+
            Console.WriteLine(Text("monday")); //+
            return 3; //+
        } //+
    }
}
