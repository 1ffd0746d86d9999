// Does one thing for a long time: `Endures.dll WHAT NUMBER`.
//
//   calls             calls a method until the end of the input
//   contexts NUMBER   loads itself into so many collectible contexts, one after the other, and unloads them
//   serve SECONDS [PAUSE]
//                     an ASP.NET Core server with clients that ask without pause, or pause for so many milliseconds after
//                     each answer; only in a program that brings ASP.NET Core
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Endures
{
    public static class Program
    {
        private static int Main(string[] args)
        {
            Console.WriteLine("ready");
            switch (args[0])
            {
                case "calls": Calls(); break;
                case "contexts": Contexts(int.Parse(args[1])); break;
                case "serve": Server.Run(int.Parse(args[1]), args.Length > 2 ? int.Parse(args[2]) : 0); break;
                default: return 2;
            }
            Console.WriteLine("ending");
            return 4;
        }

        private static void Calls()
        {
            bool isOver = false;
            var input = new Thread(() =>
            {
                while (Console.ReadLine() != null) { }
                Volatile.Write(ref isOver, true);
            });
            input.Start();
            long sum = 0;
            while (!Volatile.Read(ref isOver))
            {
                for (int i = 0; i < 100; i++)
                    sum += Changed(i);
                Thread.Sleep(0);
            }
            GC.KeepAlive(sum);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Changed(int value) { return value + 1; }

        private static void Contexts(int number)
        {
            int alive = 0;
            for (int i = 0; i < number; i++)
            {
                WeakReference context = Use();
                for (int n = 0; context.IsAlive && n < 200; n++)
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                }
                alive += context.IsAlive ? 1 : 0;
                if ((i + 1) % Math.Max(number / 10, 1) == 0)
                    Console.WriteLine("unloaded " + (i + 1));
            }
            Console.WriteLine("alive " + alive);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Use()
        {
            var context = new AssemblyLoadContext("endures", true);
            Assembly again = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
            again.GetType("Endures.Copied").GetMethod("Run").Invoke(null, null);
            context.Unload();
            return new WeakReference(context);
        }
    }

    public sealed class Thrown : Exception { }

    // The work in each context: calls, objects, generic types, an exception.
    public static class Copied
    {
        public static int Run()
        {
            var list = new List<Thrown>();
            for (int i = 0; i < 20; i++)
            {
                try { Throw(i); }
                catch (Thrown thrown) { list.Add(thrown); }
            }
            return list.Count;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw(int number)
        {
            if (number % 10 == 0)
                throw new Thrown();
        }
    }

    // ASP.NET Core by reflection: the references of the tests do not have it.
    public static class Server
    {
        private const int Clients = 4;
        private static long served;

        public static void Run(int seconds, int pause)
        {
            object app = Start();
            var urls = (ICollection<string>)app.GetType().GetProperty("Urls").GetValue(app);
            string url = null;
            foreach (string one in urls)
                url = one;
            DateTime end = DateTime.UtcNow.AddSeconds(seconds);
            var clients = new Task[Clients];
            for (int i = 0; i < Clients; i++)
                clients[i] = Task.Run(() => Ask(url, end, pause));
            Task.WaitAll(clients);
            Console.WriteLine(served > 0 ? "served" : "nothing was served");
            Console.Error.WriteLine(served + " requests");
        }

        private static object Start()
        {
            Type type = Assembly.Load("Microsoft.AspNetCore").GetType("Microsoft.AspNetCore.Builder.WebApplication", true);
            MethodInfo create = type.GetMethod("Create");
            string[] words = { "--urls", "http://127.0.0.1:0", "--Logging:LogLevel:Default", "None" };
            object app = create.Invoke(null, new object[] { words });
            Assembly abstractions = Assembly.Load("Microsoft.AspNetCore.Http.Abstractions");
            Type handler = abstractions.GetType("Microsoft.AspNetCore.Http.RequestDelegate", true);
            MethodInfo run = abstractions.GetType("Microsoft.AspNetCore.Builder.RunExtensions", true).GetMethod("Run");
            run.Invoke(null, new[] { app, Delegate.CreateDelegate(handler, typeof(Server).GetMethod("Handle")) });
            var started = (Task)type.GetMethod("StartAsync").Invoke(app, new object[] { CancellationToken.None });
            started.Wait();
            return app;
        }

        // Objects, text, an exception now and then, and something to wait for.
        public static async Task Handle(object context)
        {
            long number = Interlocked.Increment(ref served);
            object response = context.GetType().GetProperty("Response").GetValue(context);
            var body = (Stream)response.GetType().GetProperty("Body").GetValue(response);
            var text = new StringBuilder("{\"items\": [");
            for (int i = 0; i < 50; i++)
                text.Append(i == 0 ? "" : ", ").Append("{\"number\": ").Append(i).Append('}');
            if (number % 50 == 0)
            {
                try { throw new InvalidOperationException("one of fifty"); }
                catch (InvalidOperationException thrown) { text.Append(", \"").Append(thrown.Message).Append('"'); }
            }
            if (number % 20 == 0)
                await Task.Delay(1);
            byte[] bytes = Encoding.UTF8.GetBytes(text.Append("]}").ToString());
            await body.WriteAsync(bytes, 0, bytes.Length);
        }

        private static async Task Ask(string url, DateTime end, int pause)
        {
            using (var client = new HttpClient())
            {
                while (DateTime.UtcNow < end)
                {
                    string answer = await client.GetStringAsync(url);
                    if (!answer.StartsWith("{\"items\": ["))
                        throw new InvalidOperationException(answer);
                    if (pause > 0)
                        await Task.Delay(pause);
                }
            }
        }
    }
}
