using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
using static System.Math;
using Collections = System.Collections;
using Pairs = System.Collections.Generic.Dictionary<string, int>;

// Sources of all kinds for PDBs. The program prints the source of each frame of its exceptions, as the runtime reads it
// from the PDB:
//
//   TOKEN OFFSET FILE:LINE:COLUMN METHOD
namespace Sources
{
    internal enum Shade : byte
    {
        Dark = 3,
        Light = 200,
    }

    // No method: a compiler names the document of the type.
    internal interface IEmpty
    {
    }

    internal static class Numbers
    {
        public const int Seven = 7;
    }

    internal static class Program
    {
        private static void Main()
        {
            Report(() => Constants(1));
            Report(() => new Spread(0));
            Report(() => Others(3));
            Report(() => Tuples((1, 2)));
            Report(() => Captures(4)());
            Report(() => Items(-1).Sum());
            Report(() => Later(-1).GetAwaiter().GetResult());
            Report(() => Streams().GetAwaiter().GetResult());
            Report(() => Nested.Inner.Generic<string>.Run(null));
            Report(() => Blocks(new[] { 1, 0 }));
            Report(() => Dynamics("text"));
            Report(() => new Pairs { { "a", 1 } }["b"].ToString());
        }

        private static void Report(Action action)
        {
            try
            {
                action();
                Console.WriteLine("nothing is thrown");
            }
            catch (Exception exception)
            {
                foreach (StackFrame frame in new StackTrace(exception, true).GetFrames())
                {
                    MethodBase method = frame.GetMethod();
                    if (method.Module == typeof(Program).Module)
                    {
                        Console.WriteLine($"{method.MetadataToken:x8} {frame.GetILOffset()} {frame.GetFileName()}:"
                            + $"{frame.GetFileLineNumber()}:{frame.GetFileColumnNumber()} {method.Name}");
                    }
                }
            }
        }

        private static int Fail(object value)
        {
            throw new InvalidOperationException(Convert.ToString(value));
        }

        private static void Constants(int input)
        {
            const bool True = true;
            const char Letter = '\u00e9';
            const sbyte Small = -1;
            const byte Byte = 255;
            const short Short = -2;
            const ushort Unsigned = 65534;
            const int Int = -3;
            const uint Wide = 4000000000;
            const long Long = -4;
            const ulong Longest = 18446744073709551615;
            const float Single = 1.5f;
            const double Double = -0.0;
            const string Text = "a \"text\"\0 with \ud83d\ude00";
            const string NoText = null;
            const object Nothing = null;
            const Shade Dark = Shade.Dark;
            const DayOfWeek Day = DayOfWeek.Friday;
            const decimal Money = -12345678901234567890.12m;
            const int[] NoNumbers = null;
            const List<string> NoList = null;
            const dynamic NoDynamic = null;
            const string Empty = "";
            if (input == Int)
            {
                const int Inner = 12;
                const string Second = "second";
                Fail(Inner + Second);
            }
            Fail(True.ToString() + Letter + Small + Byte + Short + Unsigned + Wide + Long + Longest + Single + Double + Text
                + NoText + Nothing + Dark + Day + Money + NoNumbers + NoList + NoDynamic + Empty);
        }

        private static void Others(int input)
        {
            int first = Abs(-input);
#line 100 "/_/other/First.cs"
            int second = first + 1; int third = second * 2;
#line hidden
            third += first;
            third -= 1;
#line 7 "/_/other/Second file é.cs"
            if (third > 0)
                Fail(third);
#line (20, 5) - (24, 30) 9 "/_/other/Template.html"
            Fail(third + second);
#line default
            Fail(first);
        }

        private static void Tuples((int Left, int) pair)
        {
            (int Count, string Name) one = (pair.Left, "x");
            (int, (string Deep, object)) two = (1, ("y", null));
            var list = new List<(int A, int B)> { (1, 2) };
            foreach ((int A, int B) each in list)
            {
                Fail(one.Name + two.Item2.Deep + each.A);
            }
        }

        private static Func<int> Captures(int input)
        {
            int outer = input + 1;
            int Local(int more)
            {
                return Fail(more + outer);
            }
            Func<int> result = () =>
            {
                int inner = outer * 2;
                Func<int, int> deeper = value => value + inner + Local(value);
                return deeper(inner);
            };
            return result;
        }

        private static IEnumerable<int> Items(int count)
        {
            yield return count;
            int total = 0;
            for (int index = count; index < 2; index++)
            {
                string name = index.ToString();
                try
                {
                    total += name.Length;
                    yield return total;
                    if (index == 1)
                    {
                        Fail(name);
                    }
                }
                finally
                {
                    total++;
                }
            }
        }

        private static async Task<int> Later(int input)
        {
            int before = input;
            await Task.Yield();
            string between = before.ToString();
            for (int index = 0; index < 2; index++)
            {
                await Task.Delay(index).ConfigureAwait(false);
                try
                {
                    await Deeper(between, index);
                }
                catch (ArgumentException exception) when (exception.Message == between)
                {
                    Console.WriteLine("caught");
                }
            }
            return before;
        }

        private static async Task Deeper(string text, int index)
        {
            await Task.CompletedTask;
            if (index == 0)
            {
                throw new ArgumentException(text);
            }
            Fail(index);
        }

        private static async void Forgotten()
        {
            await Task.Yield();
        }

        private static async IAsyncEnumerable<int> Numbered()
        {
            for (int number = 0; ; number++)
            {
                await Task.Yield();
                yield return number;
                if (number == 2)
                {
                    Fail(number);
                }
            }
        }

        private static async Task Streams()
        {
            Forgotten();
            await foreach (int number in Numbered())
            {
                GC.KeepAlive(number);
            }
        }

        private static int Blocks(int[] values)
        {
            lock (values)
            {
                using (IEnumerator<int> each = ((IEnumerable<int>)values).GetEnumerator())
                {
                    while (each.MoveNext())
                    {
                        switch (each.Current)
                        {
                            case 0:
                                return Fail("zero");
                            case int number when number > 5:
                                return number;
                            default:
                                continue;
                        }
                    }
                }
            }
            return values switch { { Length: 0 } => 0, _ => Numbers.Seven };
        }

        private static void Dynamics(string text)
        {
            dynamic one = text;
            List<dynamic> several = new List<dynamic> { one };
            Dictionary<string, dynamic[]> deep = null;
            Fail(several.Count + (deep == null ? 1 : 0));
        }
    }

    // Its constructor has initialisers of two documents.
    internal sealed partial class Spread
    {
        private readonly int first = 1;
#line 3 "/_/other/Spread.cs"
        private readonly int second = Second(0);
#line default
        private int Sum => first + second;

        public Spread(int input)
        {
            GC.KeepAlive(Sum + input);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Second(int input)
        {
            return 1 / input;
        }
    }

    namespace Nested
    {
        using System.Text;
        using Builder = System.Text.StringBuilder;

        internal static class Inner
        {
            internal static class Generic<T>
                where T : class
            {
                [MethodImpl(MethodImplOptions.NoInlining)]
                public static int Run(T value)
                {
                    var builder = new Builder();
                    Encoding encoding = Encoding.UTF8;
                    builder.Append(encoding.GetByteCount(value.ToString()));
                    return builder.Length;
                }
            }
        }
    }
}
