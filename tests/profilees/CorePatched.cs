// Methods of the core library that patches change: called by the program, and by .NET itself. Prints the results, and whether they
// stay the same in all tiers and collections. With the argument `waits`, prints one of them for each line that it reads.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Threading;

namespace CorePatched
{
    internal static class Program
    {
        private static readonly List<Func<string>> Cases = new List<Func<string>>();

        private static string Caught(Func<object> run)
        {
            try
            {
                return run().ToString();
            }
            catch (TargetInvocationException exception)
            {
                return exception.InnerException.GetType().Name;
            }
            catch (Exception exception)
            {
                return exception.GetType().Name;
            }
        }

        private static string Year(DateTime time)
        {
            return time.Year > 2020 ? "now" : time.Year.ToString();
        }

        // By the program; by other methods of .NET; by a delegate and by reflection.
        private static string Times()
        {
            MethodInfo getter = typeof(DateTime).GetProperty("UtcNow").GetGetMethod();
            var byDelegate = (Func<DateTime>)getter.CreateDelegate(typeof(Func<DateTime>));
            return Year(DateTime.UtcNow) + " " + Year(DateTime.Now) + " " + Year(DateTime.Today) + " "
                + Year(byDelegate()) + " " + Year((DateTime)getter.Invoke(null, null));
        }

        private static string Files()
        {
            const string Path = "/nowhere/a";
            MethodInfo read = typeof(File).GetMethod("ReadAllText", new[] { typeof(string) });
            Func<string, string> byDelegate = File.ReadAllText;
            return Caught(() => File.ReadAllText(Path)) + ", " + Caught(() => byDelegate(Path)) + ", "
                + Caught(() => new[] { Path }.Select(File.ReadAllText).First()) + ", "
                + Caught(() => read.Invoke(null, new object[] { Path }));
        }

        private static string Variables()
        {
            return Environment.GetEnvironmentVariable("CORE_PATCHED") + " "
                + Environment.ExpandEnvironmentVariables("%CORE_PATCHED%");
        }

        private static string Parsed()
        {
            return Caught(() => int.Parse("x")) + " " + Caught(() => Convert.ToInt32("x")) + " " + Convert.ToInt32("7");
        }

        private static string Days()
        {
            var day = new DateTime(2001, 1, 1);
            var offset = new DateTimeOffset(day, TimeSpan.Zero);
            return day.AddDays(12345).ToString("yyyy-MM-dd") + " " + offset.AddDays(12345).ToString("yyyy-MM-dd");
        }

        private static string Appended()
        {
            var builder = new StringBuilder("abc");
            builder.Append("marker").AppendLine("marker");
            return builder.ToString().Trim();
        }

        private static string Resized()
        {
            var numbers = new[] { 1 };
            var texts = new[] { "one" };
            Array.Resize(ref numbers, 77);
            Array.Resize(ref texts, 77);
            return numbers.Length + " " + texts.Length;
        }

        private static int Wait()
        {
            Console.WriteLine("ready");
            for (string line; (line = Console.ReadLine()) != null && line != "end";)
            {
                Console.WriteLine(line == "times" ? Times() : Parsed());
            }
            Console.WriteLine("ending");
            return 5;
        }

        private static int Main(string[] args)
        {
            if (args.Length > 0)
            {
                return Wait();
            }
            string file = Path.Combine(Path.GetTempPath(), "core_patched_" + Guid.NewGuid());
            File.WriteAllText(file, "text");
            Cases.Add(() => "times " + Times());
            Cases.Add(() => "files " + Files());
            Cases.Add(() => "read " + File.ReadAllText(file));
            Cases.Add(() => "variables " + Variables());
            Cases.Add(() => "parsed " + Parsed());
            Cases.Add(() => "days " + Days());
            Cases.Add(() => "appended " + Appended());
            Cases.Add(() => "resized " + Resized());
            Cases.Add(() => "capacity " + new StringBuilder("abc", 1234).Capacity);
            var first = new List<string>();
            foreach (var one in Cases)
            {
                first.Add(one());
                Console.WriteLine(first[first.Count - 1]);
            }
            int wrong = 0;
            for (int round = 0; round < 150; round++)
            {
                for (int index = 0; index < Cases.Count; index++)
                {
                    string now = Cases[index]();
                    if (now != first[index] && wrong++ < 5)
                    {
                        Console.WriteLine("round " + round + ": " + now);
                    }
                }
                if (round % 50 == 0)
                {
                    GC.Collect();
                    Thread.Sleep(20);
                }
            }
            File.Delete(file);
            Console.WriteLine("wrong " + wrong);
            return 6;
        }
    }
}
