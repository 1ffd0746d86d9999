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
}
