using System;

namespace Shapes
{
    // Branches, loops, and the ways out of a method.
    internal static class Flow
    {
        private static int Nothing()
        {
            return 0;
        }

        private static void Empty()
        {
        }

        private static int SeveralReturns(int value)
        {
            if (value < 0)
                return -1;
            if (value == 0)
                return 0;
            if (value > 100)
                return 2;
            return 1;
        }

        private static void SeveralVoidReturns(int value, int[] sink)
        {
            if (value < 0)
                return;
            sink[0] += value;
            if (value > 10)
                return;
            sink[0] += 100;
        }

        private static int Dense(int value)
        {
            switch (value)
            {
                case 0: return 10;
                case 1: return 21;
                case 2: return 32;
                case 3: return 43;
                case 4: goto case 1;
                case 5: return 65;
                default: return -value;
            }
        }

        private static string Sparse(int value)
        {
            switch (value)
            {
                case -1000: return "a";
                case 0: return "b";
                case 7: return "c";
                case 1000000: return "d";
                case int.MaxValue: return "e";
            }
            return "none";
        }

        private static int OfStrings(string text)
        {
            switch (text)
            {
                case null: return -1;
                case "": return 0;
                case "one": return 1;
                case "two": return 2;
                case "three": return 3;
                case "four": return 4;
                case "five": return 5;
                case "six": return 6;
                case "seven": return 7;
                default: return 100;
            }
        }

        private static int SwitchInLoop(string text)
        {
            int result = 0;
            for (int index = 0; ; index++)
            {
                if (index == text.Length)
                    break;
                switch (text[index])
                {
                    case '+': result++; continue;
                    case '-': result--; continue;
                    case '.': return result;
                    case '*': result *= 2; break;
                }
                result += 10;
            }
            return -result;
        }

        private static long Gcd(long a, long b)
        {
            while (b != 0)
            {
                long rest = a % b;
                a = b;
                b = rest;
            }
            return a;
        }

        private static int Collatz(int value)
        {
            int steps = 0;
        again:
            if (value == 1)
                return steps;
            steps++;
            if ((value & 1) == 0)
            {
                value >>= 1;
                goto again;
            }
            value = 3 * value + 1;
            goto again;
        }

        // The first instruction is a target.
        private static int FirstIsTarget(int value)
        {
            do
                value -= 7;
            while (value > 0);
            return value;
        }

        private static int Fibonacci(int number)
        {
            return number < 2 ? number : Fibonacci(number - 1) + Fibonacci(number - 2);
        }

        private static int Ackermann(int m, int n)
        {
            if (m == 0)
                return n + 1;
            return n == 0 ? Ackermann(m - 1, 1) : Ackermann(m - 1, Ackermann(m, n - 1));
        }

        private static bool IsEven(int value)
        {
            return value == 0 || IsOdd(value - 1);
        }

        private static bool IsOdd(int value)
        {
            return value != 0 && IsEven(value - 1);
        }

        private static int Throws(int value)
        {
            throw new ArgumentException("always " + value);
        }

        // It ends in an exception only.
        private static int Endless(int[] values)
        {
            int index = 0;
            while (true)
                values[index++] = index;
        }

        private static int Conditional(int a, int b, int c)
        {
            return a > b ? (b > c ? a + b + c : a - c) : (a == b ? 0 : b ^ c);
        }

        private static bool ShortCircuit(int[] log, bool first, bool second)
        {
            return Note(log, 1, first) && Note(log, 2, second) || Note(log, 4, !first);
        }

        private static bool Note(int[] log, int bit, bool value)
        {
            log[0] |= bit;
            return value;
        }

        private static int Coalesce(string text, int? number)
        {
            return (text ?? "none").Length + (number ?? 40);
        }

        private static int ManyLevels(int size)
        {
            int count = 0;
            for (int a = 0; a < size; a++)
                for (int b = a; b < size; b++)
                    for (int c = b; c < size; c++)
                    {
                        if (a == b && b == c)
                            continue;
                        if (c == size - 1 && a == 1)
                            goto next;
                        count++;
                    }
        next:
            return count;
        }

        private static decimal Money(decimal amount, int years)
        {
            for (int year = 0; year < years; year++)
                amount += amount * 0.1m;
            return amount;
        }

        private static int Optional(int a, int b = 20, params int[] more)
        {
            int sum = a + b;
            foreach (int one in more)
                sum += one;
            return sum;
        }

        private static int Reassigned(int value, string text)
        {
            value += text.Length;
            text = text + value;
            value *= text.Length;
            return value;
        }

        private static ulong Wide(ulong a, uint b, ushort c, byte d, sbyte e, short f, char g, bool h)
        {
            unchecked
            {
                return a * 3 + b + c + d + (ulong)e + (ulong)f + g + (h ? 1UL : 0UL);
            }
        }

        private static int Checked(int a, int b)
        {
            checked
            {
                return a * b + (short)(a + b);
            }
        }

        public static void All()
        {
            Empty();
            Check.Same("Nothing", 0, Nothing());
            foreach (int[] pair in new[] { new[] { -5, -1 }, new[] { 0, 0 }, new[] { 7, 1 }, new[] { 101, 2 } })
                Check.Same("SeveralReturns", pair[1], SeveralReturns(pair[0]));
            int[] sink = { 0 };
            SeveralVoidReturns(-1, sink);
            SeveralVoidReturns(5, sink);
            SeveralVoidReturns(11, sink);
            Check.Same("SeveralVoidReturns", 116, sink[0]);
            int[] dense = { 10, 21, 32, 43, 21, 65, -6, -7 };
            for (int value = 0; value < dense.Length; value++)
                Check.Same("Dense", dense[value], Dense(value));
            Check.Same("Dense", 1, Dense(-1));
            Check.Same("Sparse", "abcde", Sparse(-1000) + Sparse(0) + Sparse(7) + Sparse(1000000) + Sparse(int.MaxValue));
            Check.Same("Sparse", "none", Sparse(8));
            string[] words = { "", "one", "two", "three", "four", "five", "six", "seven" };
            for (int value = 0; value < words.Length; value++)
                Check.Same("OfStrings", value, OfStrings(words[value]));
            Check.Same("OfStrings", -1, OfStrings(null));
            Check.Same("OfStrings", 100, OfStrings("eight"));
            Check.Same("SwitchInLoop", 3, SwitchInLoop("++-++."));
            Check.Same("SwitchInLoop", -22, SwitchInLoop("+*-x+"));
            Check.Same("Gcd", 21, Gcd(1071, 462));
            Check.Same("Collatz", 111, Collatz(27));
            Check.Same("FirstIsTarget", -6, FirstIsTarget(1));
            Check.Same("FirstIsTarget", -5, FirstIsTarget(100));
            Check.Same("Fibonacci", 610, Fibonacci(15));
            Check.Same("Ackermann", 9, Ackermann(2, 3));
            Check.Same("IsEven", true, IsEven(100));
            Check.Same("IsOdd", false, IsOdd(100));
            Check.Throws<ArgumentException>("Throws", () => Throws(3), "always 3");
            int[] filled = new int[5];
            Check.Throws<IndexOutOfRangeException>("Endless", () => Endless(filled));
            Check.Same("Endless", 15, filled[0] + filled[1] + filled[2] + filled[3] + filled[4]);
            Check.Same("Conditional", 6, Conditional(3, 2, 1));
            Check.Same("Conditional", -6, Conditional(3, 1, 9));
            Check.Same("Conditional", 0, Conditional(2, 2, 9));
            Check.Same("Conditional", 6, Conditional(1, 5, 3));
            int[] log = { 0 };
            Check.Same("ShortCircuit", true, ShortCircuit(log, true, true));
            Check.Same("ShortCircuit", 3, log[0]);
            log[0] = 0;
            Check.Same("ShortCircuit", true, ShortCircuit(log, false, true));
            Check.Same("ShortCircuit", 5, log[0]);
            Check.Same("Coalesce", 44, Coalesce(null, null));
            Check.Same("Coalesce", 3, Coalesce("ab", 1));
            Check.Same("ManyLevels", 10, ManyLevels(4));
            Check.Same("Money", "146.410000", Money(100.00m, 4).ToString(System.Globalization.CultureInfo.InvariantCulture));
            Check.Same("Optional", 21, Optional(1));
            Check.Same("Optional", 15, Optional(1, 2, 3, 4, 5));
            Check.Same("Reassigned", 20, Reassigned(2, "abc"));
            Check.Same("Wide", 3 + 2 + 3 + 4 - 5 - 6 + 7 + 1, (long)Wide(1, 2, 3, 4, -5, -6, '\x7', true));
            Check.Same("Checked", 11, Checked(2, 3));
            Check.Throws<OverflowException>("Checked", () => Checked(1 << 20, 1 << 20));
        }
    }
}
