using System;
using System.Linq;

namespace Language
{
    internal static class Patterns
    {
        internal static void Run()
        {
            var objects = new object[]
            {
                null, -5, 0, 1, 12, 1.5, "abc", "abcd", (0, 2), (1, 2), DayOfWeek.Sunday, new[] { 1, 2 }, 'x',
            };
            Console.WriteLine(string.Join("; ", objects.Select(Name)));
            Console.WriteLine(string.Join(",", new[] { -1, 0, 5, 40 }.Select(Size)));
            Console.WriteLine(Fall(3) + Fall(1) + Fall(9));
            if (objects[6] is string { Length: var length } text && length is > 2 and < 4 or 9)
            {
                Console.WriteLine(text + length);
            }
            foreach (object o in new object[] { 'q', 200L })
            {
                try
                {
                    Console.WriteLine(Strict(o));
                }
                catch (Exception e) when (e is InvalidOperationException or ArgumentException { ParamName: "o" })
                {
                    Sections.Show(e);
                }
            }
        }

        private static string Name(object o) => o switch
        {
            null => "null",
            int n when n < 0 => "negative",
            0 or 1 => "bit",
            int n => "int " + n,
            string { Length: 3 } => "three",
            string s => "string of " + s.Length,
            (int x, _) when x == 0 => "tuple at 0",
            ValueTuple<int, int>(_, var y) => "tuple to " + y,
            DayOfWeek day and not DayOfWeek.Monday => day.ToString(),
            int[] => "array",
            _ => o.GetType().Name,
        };

        private static string Size(int n) => n switch { < 0 => "none", 0 => "nil", > 0 and < 10 => "small", _ => "large" };

        private static string Fall(int n)
        {
            switch (n)
            {
                case 1:
                    goto case 3;
                case 2:
                case 3:
                    return "three ";
                default:
                    return "other ";
            }
        }

        private static int Strict(object o)
        {
            var c = (o as char?) ?? throw
                new ArgumentException("no character", nameof(o));
            return c switch
            {
                'a' => 1,
                'b' => 2,
            };
        }
    }
}
