using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Language
{
    internal static class Strings
    {
        [InterpolatedStringHandler]
        private readonly struct Upper
        {
            private readonly StringBuilder built;

            public Upper(int literals, int holes, bool isOn, out bool goesOn)
            {
                built = isOn ? new StringBuilder(literals + holes) : null;
                goesOn = isOn;
            }

            public void AppendLiteral(string text) => built.Append(text.ToUpperInvariant());

            public void AppendFormatted<T>(T value, int alignment = 0, string format = null)
            {
                string text = value is IFormattable formattable
                    ? formattable.ToString(format, CultureInfo.InvariantCulture)
                    : value?.ToString() ?? throw new ArgumentNullException(nameof(value));
                built.Append(text.PadLeft(alignment, '.'));
            }

            public override string ToString() => built?.ToString() ?? "off";
        }

        internal static void Run()
        {
            Console.WriteLine(Log(true, $"one {1:d3} two {"x",4} three {1.5:f2}"));
            Console.WriteLine(Log(false, $"never {Fail()}"));
            Console.WriteLine($"{"plain"} {12,5} {255:x} {(true ? "yes" : "no")} {{}}");
            Console.WriteLine("""
                raw "text"
                  of lines
                """.Replace("\r", ""));
            const string constant = $"{nameof(Strings)}.{nameof(Run)}";
            Console.WriteLine(constant + "\u00e9".Length + @"\n");
            switch (constant.Substring(8))
            {
                case "Run":
                case "Ran":
                case "Rin":
                case "Rim":
                case "Rum":
                case "Ram":
                case "Rem":
                    Console.WriteLine("found by a hash");
                    break;
            }
            try
            {
                Log(true, $"null {(string)null}");
            }
            catch (ArgumentNullException e)
            {
                Sections.Show(e);
            }
            try
            {
                Log(true, $@"fails {
                    Fail()}");
            }
            catch (InvalidOperationException e)
            {
                Sections.Show(e);
            }
        }

        private static string Log(bool isOn, [InterpolatedStringHandlerArgument("isOn")] Upper text) => text.ToString();

        private static int Fail() => throw new InvalidOperationException("a hole");
    }
}
