using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

// What the watching tools are tried on: `Watched.dll WORK ENDING`. What each work does is known.
namespace Watched
{
    public static class Program
    {
        public static int Main(string[] args)
        {
            switch (args[0])
            {
                case "collect": Collections.Run(); break;
                case "fail": Failures.Run(); break;
                default: Console.WriteLine("no such work"); return 2;
            }
            Console.WriteLine("worked");
            return End(args.Length > 1 ? args[1] : "return");
        }

        private static int End(string ending)
        {
            switch (ending)
            {
                case "return":
                    return 0;
                case "exit":
                    Environment.Exit(3);
                    return 4;
                case "unhandled":
                    throw new InvalidOperationException("nobody catches this");
                case "failfast":
                    Environment.FailFast("given up");
                    return 4;
                case "wait":
                    Console.WriteLine("waiting");
                    Console.ReadLine();
                    return 0;
                default:
                    Console.WriteLine("no such ending");
                    return 2;
            }
        }
    }

    // 20 MB that live, and collections: generation 0 three times, 1 twice, 2 once.
    public static class Collections
    {
        private static readonly List<byte[]> Kept = new List<byte[]>();

        public static void Run()
        {
            for (int i = 0; i < 20000; i++)
            {
                Kept.Add(new byte[1000]);
            }
            foreach (int generation in new[] { 0, 0, 0, 1, 1, 2 })
            {
                GC.Collect(generation);
            }
            GC.KeepAlive(Kept);
        }
    }

    public class Failure<T> : Exception
    {
        public Failure(string message) : base(message) { }
    }

    // Exceptions in this order: each is caught as its message says.
    public static class Failures
    {
        private class Silent : Exception { }

        private class Broken
        {
            public static readonly int Value = Fail();

            private static int Fail()
            {
                throw new ArgumentException("in a static constructor");
            }
        }

        public static void Run()
        {
            try { throw new InvalidOperationException("at once"); }
            catch (InvalidOperationException) { }

            try { Through(3); }
            catch (Failure<int>) { }

            try
            {
                try { throw new Silent(); }
                catch (Exception) { throw; }
            }
            catch (Silent) { }

            try { throw new FormatException("by a filter\nof two lines"); }
            catch (FormatException e) when (Throws(e)) { Console.WriteLine("never"); }
            catch (FormatException) { }

            try
            {
                try { throw new TimeoutException("given up for the next"); }
                finally { Replace(); }
            }
            catch (NotSupportedException) { }
            catch (TimeoutException) { Console.WriteLine("never"); }

            try { Console.WriteLine(Broken.Value); }
            catch (TypeInitializationException) { }

            var threads = new Thread[4];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(Often);
                threads[i].Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Through(int frames)
        {
            if (frames == 0)
            {
                throw new Failure<int>("through frames");
            }
            Through(frames - 1);
            GC.KeepAlive(null);
        }

        private static bool Throws(Exception e)
        {
            throw new ApplicationException("in a filter");
        }

        private static void Replace()
        {
            throw new NotSupportedException("the next");
        }

        private static void Often()
        {
            for (int i = 0; i < 250; i++)
            {
                try { throw new Failure<string>("often"); }
                catch (Failure<string>) { }
            }
        }
    }
}
