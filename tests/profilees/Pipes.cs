// Raises events of its own, before, while and after a session listens.
using System;
using System.Diagnostics.Tracing;
using System.Threading;

namespace Pipes
{
    [EventSource(Name = "Scenario-Managed")]
    internal sealed class Source : EventSource
    {
        // Keywords without a name are refused.
        public static class Keywords
        {
            public const EventKeywords Asked = (EventKeywords)2;
            public const EventKeywords Unasked = (EventKeywords)4;
        }

        [Event(5, Keywords = Keywords.Asked, Level = EventLevel.Warning, Version = 3)]
        public void Happened(int number, string text, double ratio)
        {
            WriteEvent(5, number, text, ratio);
        }

        [Event(6, Keywords = Keywords.Unasked, Level = EventLevel.Warning)]
        public void Unasked(int number)
        {
            WriteEvent(6, number);
        }

        [Event(7, Keywords = Keywords.Asked, Level = EventLevel.Verbose)]
        public void TooFine(int number)
        {
            WriteEvent(7, number);
        }
    }

    [EventSource(Name = "Scenario-Late")]
    internal sealed class Late : EventSource
    {
        [Event(1, Level = EventLevel.Informational)]
        public void Came(long number)
        {
            WriteEvent(1, number);
        }
    }

    internal static class Program
    {
        private static int Main()
        {
            using (var source = new Source())
            {
                source.Happened(1, "too early", 0.5);
                Step("start");
                Console.WriteLine("enabled " + source.IsEnabled());
                source.Happened(2, "in tïme", 1.5);
                source.Unasked(3);
                source.TooFine(4);
                using (var first = new Late())
                {
                    // A profiler that enabled it now gets it when it is created once more.
                    Console.WriteLine("late " + first.IsEnabled());
                    first.Came(1);
                }
                using (var late = new Late())
                {
                    Console.WriteLine("late " + late.IsEnabled());
                    late.Came(1L << 40);
                    GC.Collect();
                    Step("stop");
                    late.Came(2);
                }
                source.Happened(5, "too late", 2.5);
                Console.WriteLine("enabled " + source.IsEnabled());
            }
            return 11;
        }

        private static void Step(string name)
        {
            // A profiler reacts to the name.
            var thread = new Thread(() => { }) { Name = name };
            thread.Start();
            thread.Join();
        }
    }
}
