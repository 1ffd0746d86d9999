// All features of C#, in sections. Each prints its results and the exceptions that it catches,
// with the lines of their stack traces. An argument is the number of repetitions; the output is that of the
// last one.
using System;
using System.IO;
using System.Threading.Tasks;
using Language;

int rounds = args.Length > 0 ? int.Parse(args[0]) : 1;
TextWriter output = Console.Out;
for (int round = 1; round <= rounds; round++)
{
    Console.SetOut(round == rounds ? output : TextWriter.Null);
    foreach (var (name, run) in Sections.All)
    {
        Console.WriteLine($"== {name}");
        await run();
    }
}
return Sections.Started + 41;

namespace Language
{
    internal static class Sections
    {
        // Set before Main, by a module initialiser.
        internal static int Started;

        internal static readonly (string Name, Func<Task> Run)[] All =
        {
            ("async", Async.Run),
            ("iterators", Now(Iterators.Run)),
            ("functions", Now(Functions.Run)),
            ("patterns", Now(Patterns.Run)),
            ("records", Now(Records.Run)),
            ("exceptions", Now(Exceptions.Run)),
            ("pointers", Now(Pointers.Run)),
            ("strings", Now(Strings.Run)),
#if !FRAMEWORK
            ("streams", Streams.Run),
            ("spans", Now(Spans.Run)),
            ("interfaces", Now(Interfaces.Run)),
            ("library", Now(Language.Library.Calls.Run)),
#endif
#if NET8
            ("statics", Now(Statics.Run)),
            ("pooled", Pooled.Run),
            ("native", Now(Native.Run)),
#endif
        };

        [System.Runtime.CompilerServices.ModuleInitializer]
        internal static void Start()
        {
            Started++;
        }

        internal static void Show(Exception exception)
        {
            Console.WriteLine(exception);
        }

        private static Func<Task> Now(Action run)
        {
            return () =>
            {
                run();
                return Task.CompletedTask;
            };
        }
    }
}
