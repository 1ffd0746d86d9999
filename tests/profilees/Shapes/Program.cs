// A program of methods of every shape, each called and its result compared with an independent
// computation. It prints the mistakes and ends with 1, or the number of correct checks and ends with 0.
//
//   Shapes [rounds [threads]]
using System;
using System.Collections.Generic;
using System.Threading;

namespace Shapes
{
    internal static class Check
    {
        [ThreadStatic] private static int count;
        private static int total;
        private static readonly List<string> Failures = new List<string>();

        // Since the last call on this thread.
        public static int Taken()
        {
            int taken = count;
            count = 0;
            Interlocked.Add(ref total, taken);
            return taken;
        }

        public static int Total
        {
            get { return total; }
        }

        public static int Report()
        {
            lock (Failures)
            {
                foreach (string failure in Failures)
                    Console.WriteLine("FAILED " + failure);
                return Failures.Count;
            }
        }

        public static void Fail(string name, object expected, object actual)
        {
            lock (Failures)
            {
                if (Failures.Count < 20)
                    Failures.Add(name + ": expected " + expected + ", got " + actual);
            }
        }

        public static void Same(string name, long expected, long actual)
        {
            count++;
            if (expected != actual)
                Fail(name, expected, actual);
        }

        public static void Same(string name, bool expected, bool actual)
        {
            count++;
            if (expected != actual)
                Fail(name, expected, actual);
        }

        public static void Same(string name, double expected, double actual)
        {
            count++;
            if (!expected.Equals(actual))
                Fail(name, expected, actual);
        }

        public static void Same(string name, string expected, string actual)
        {
            count++;
            if (!string.Equals(expected, actual))
                Fail(name, expected, actual);
        }

        public static void True(string name, bool holds)
        {
            count++;
            if (!holds)
                Fail(name, true, false);
        }

        // Asserts that the code throws exactly this, and with this message if one is given.
        public static void Throws<E>(string name, Action code, string message = null) where E : Exception
        {
            count++;
            try
            {
                code();
            }
            catch (Exception exception)
            {
                if (exception.GetType() != typeof(E))
                    Fail(name, typeof(E), exception);
                else if (message != null && exception.Message != message)
                    Fail(name, message, exception.Message);
                return;
            }
            Fail(name, typeof(E), "nothing");
        }
    }

    internal static class Program
    {
        private struct Group
        {
            public string Name;
            public Action Run;
        }

        private static readonly List<Group> Groups = new List<Group>();

        private static void Add(string name, Action run)
        {
            Groups.Add(new Group { Name = name, Run = run });
        }

        private static int Main(string[] arguments)
        {
            int rounds = arguments.Length > 0 ? int.Parse(arguments[0]) : 1;
            int threads = arguments.Length > 1 ? int.Parse(arguments[1]) : 16;
            AddAll();
            foreach (Group group in Groups)
            {
                Run(group);
                Console.WriteLine(group.Name + " " + Check.Taken());
            }
            for (int round = 0; round < rounds; round++)
                Together(threads);
            Console.WriteLine("not compiled: " + Rest.Prepared());
            int failures = Check.Report();
            if (failures > 0)
                return 1;
            Console.WriteLine("ok " + Check.Total + " checks");
            return 0;
        }

        private static void AddAll()
        {
            Add("flow", Flow.All);
            Add("handlers", Handlers.All);
            Add("generics", Generics.All);
            Add("members", Members.All);
            Add("values", Values.All);
            Add("pointers", Pointers.All);
            Add("deferred", Deferred.All);
            Add("traces", Traces.All);
            Add("large", Large.All);
            Add("IL flow", ILFlow.All);
            Add("IL handlers", ILHandlers.All);
            Add("IL operands", ILOperands.All);
        }

        private static void Run(Group group)
        {
            try
            {
                group.Run();
            }
            catch (Exception exception)
            {
                Check.Fail(group.Name, "no exception", exception);
            }
        }

        // All groups on all threads at once, each beginning with another one.
        private static void Together(int count)
        {
            Thread[] threads = new Thread[count];
            for (int number = 0; number < count; number++)
            {
                int first = number;
                threads[number] = new Thread(() => RunFrom(first), 1 << 22);
                threads[number].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
        }

        private static void RunFrom(int first)
        {
            for (int number = 0; number < Groups.Count; number++)
                Run(Groups[(first + number) % Groups.Count]);
            Check.Taken();
        }
    }
}
