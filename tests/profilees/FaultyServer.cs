// An ASP.NET Core server whose methods get faults, and its clients, which count the answers. It needs a program that brings ASP.NET Core.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Net.Http;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace FaultyServer
{
    public static class Shop
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Pay(string customer)
        {
            return customer.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Count(string item)
        {
            return item.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Place(string item)
        {
            return item.Length;
        }
    }

    public static class Program
    {
        private const int Clients = 4;
        private const int Each = 100;

        // The delay of a fault of the file; other requests may take as long.
        private const int Slow = 300;

        // ASP.NET Core by reflection: the references of the tests do not have it.
        private static object Start()
        {
            Type type = Assembly.Load("Microsoft.AspNetCore").GetType("Microsoft.AspNetCore.Builder.WebApplication", true);
            string[] words = { "--urls", "http://127.0.0.1:0", "--Logging:LogLevel:Default", "None" };
            object app = type.GetMethod("Create").Invoke(null, new object[] { words });
            Assembly abstractions = Assembly.Load("Microsoft.AspNetCore.Http.Abstractions");
            Type handler = abstractions.GetType("Microsoft.AspNetCore.Http.RequestDelegate", true);
            MethodInfo run = abstractions.GetType("Microsoft.AspNetCore.Builder.RunExtensions", true).GetMethod("Run");
            run.Invoke(null, new[] { app, Delegate.CreateDelegate(handler, typeof(Program).GetMethod("Handle")) });
            ((Task)type.GetMethod("StartAsync").Invoke(app, new object[] { CancellationToken.None })).Wait();
            return app;
        }

        public static async Task Handle(object context)
        {
            object request = context.GetType().GetProperty("Request").GetValue(context);
            string path = request.GetType().GetProperty("Path").GetValue(request).ToString();
            int number = path == "/pay" ? Shop.Pay("someone") : path == "/count" ? Shop.Count("pear") : Shop.Place("apple");
            object response = context.GetType().GetProperty("Response").GetValue(context);
            var body = (Stream)response.GetType().GetProperty("Body").GetValue(response);
            byte[] bytes = Encoding.UTF8.GetBytes(number.ToString());
            await body.WriteAsync(bytes, 0, bytes.Length);
        }

        private static async Task<string> Ask(string url, string path, int clients)
        {
            int good = 0, failed = 0, other = 0, slow = 0;
            async Task Client(HttpClient client)
            {
                for (int i = 0; i < Clients * Each / clients; i++)
                {
                    Stopwatch watch = Stopwatch.StartNew();
                    using (HttpResponseMessage answer = await client.GetAsync(url + path))
                    {
                        string text = await answer.Content.ReadAsStringAsync();
                        if (watch.ElapsedMilliseconds >= Slow)
                            Interlocked.Increment(ref slow);
                        if ((int)answer.StatusCode == 500)
                            Interlocked.Increment(ref failed);
                        else if (text == "-1")
                            Interlocked.Increment(ref other);
                        else
                            Interlocked.Increment(ref good);
                    }
                }
            }
            using (var client = new HttpClient())
            {
                var all = new Task[clients];
                for (int i = 0; i < clients; i++)
                    all[i] = Task.Run(() => Client(client));
                await Task.WhenAll(all);
            }
            return path + " good " + good + " failed " + failed + " other " + other + " slow " + slow;
        }

        private static int Main(string[] args)
        {
            int clients = int.Parse(args[0]);
            object app = Start();
            string url = null;
            foreach (string one in (ICollection<string>)app.GetType().GetProperty("Urls").GetValue(app))
                url = one;
            foreach (string path in new[] { "/pay", "/count", "/place" })
                Console.WriteLine(Ask(url, path, clients).Result);
            // The server continues.
            ((Task)app.GetType().GetMethod("StopAsync").Invoke(app, new object[] { CancellationToken.None })).Wait();
            Console.WriteLine("stopped");
            return 6;
        }
    }
}
