// Requests between processes. `serve LOGS` is an ASP.NET Core server, which needs a program that brings it; `serve LOGS PRICES DATABASE`
// has orders, too; `call URL` is a client, and `codes URL COUNT` one that has four connections ask for codes of status.
using System;
using System.Collections.Generic;
using System.Data.Common;
using System.Diagnostics;
using System.IO;
using System.Net.Http;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Requests
{
    public static class Shop
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Pay(string customer)
        {
            return Price(customer) + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Price(string customer)
        {
            return customer.Length;
        }

        // Asks another service for the price, and a database for the total.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<string> Order(HttpClient client, string prices, DbConnection database)
        {
            string price = await client.GetStringAsync(prices);
            await database.OpenAsync();
            using (DbCommand command = database.CreateCommand())
            {
                command.CommandText = "select total from orders";
                return price + " of " + await command.ExecuteScalarAsync();
            }
        }
    }

    public static class Server
    {
        // ASP.NET Core by reflection: the references of the tests do not have it.
        internal static void Run(string logs, string pricesUrl, string connection)
        {
            prices = pricesUrl;
            database = connection;
            Type type = Assembly.Load("Microsoft.AspNetCore").GetType("Microsoft.AspNetCore.Builder.WebApplication", true);
            // With logs of any level, ASP.NET Core makes an activity for each request.
            string[] words = { "--urls", "http://127.0.0.1:0", "--Logging:LogLevel:Default", logs };
            object app = type.GetMethod("Create").Invoke(null, new object[] { words });
            Assembly abstractions = Assembly.Load("Microsoft.AspNetCore.Http.Abstractions");
            Type handler = abstractions.GetType("Microsoft.AspNetCore.Http.RequestDelegate", true);
            MethodInfo run = abstractions.GetType("Microsoft.AspNetCore.Builder.RunExtensions", true).GetMethod("Run");
            Delegate handle = Delegate.CreateDelegate(handler, typeof(Server).GetMethod("Handle", new[] { typeof(object) }));
            Type routes = Assembly.Load("Microsoft.AspNetCore.Routing").GetType("Microsoft.AspNetCore.Builder.EndpointRouteBuilderExtensions", true);
            foreach (MethodInfo map in routes.GetMethods())
            {
                if (map.Name == "MapGet" && map.GetParameters()[2].ParameterType == handler)
                    map.Invoke(null, new[] { app, "/code/{code}", handle });
            }
            run.Invoke(null, new[] { app, handle });
            ((Task)type.GetMethod("StartAsync").Invoke(app, new object[] { CancellationToken.None })).Wait();
            foreach (string url in (ICollection<string>)app.GetType().GetProperty("Urls").GetValue(app))
                Console.WriteLine(url);
            Console.ReadLine();
            ((Task)app.GetType().GetMethod("StopAsync").Invoke(app, new object[] { CancellationToken.None })).Wait();
            Console.WriteLine("stopped");
        }

        private static readonly HttpClient client = new HttpClient();
        private static string prices;
        private static string database;
        private static int spins;

        // The task completes at a moment that differs, before or after the server looks at it.
        private static Task Answer(object context, int code)
        {
            object response = context.GetType().GetProperty("Response").GetValue(context);
            var setter = response.GetType().GetProperty("StatusCode").GetSetMethod();
            var set = (Action<int>)Delegate.CreateDelegate(typeof(Action<int>), response, setter);
            int turns = Interlocked.Increment(ref spins) % 64 * 8;
            return Task.Run(() =>
            {
                Thread.SpinWait(turns);
                set(code);
            });
        }

        // Answers with a number, and on /echo with the length of the header; on /code/N the status is N.
        public static Task Handle(object context)
        {
            object request = context.GetType().GetProperty("Request").GetValue(context);
            string path = request.GetType().GetProperty("Path").GetValue(request).ToString();
            return path.StartsWith("/code/")
                ? Answer(context, int.Parse(path.Substring("/code/".Length)))
                : Handle(context, request, path);
        }

        private static async Task Handle(object context, object request, string path)
        {
            await Task.Yield();
            string answer;
            if (path == "/order")
            {
                object factory = Assembly.Load("Npgsql").GetType("Npgsql.NpgsqlFactory", true).GetField("Instance").GetValue(null);
                using (DbConnection connection = ((DbProviderFactory)factory).CreateConnection())
                {
                    connection.ConnectionString = database;
                    answer = await Shop.Order(client, prices, connection);
                }
            }
            else
                answer = Shop.Pay(path).ToString();
            if (path == "/echo")
            {
                object headers = request.GetType().GetProperty("Headers").GetValue(request);
                Type type = Assembly.Load("Microsoft.AspNetCore.Http.Features").GetType("Microsoft.AspNetCore.Http.IHeaderDictionary", true);
                PropertyInfo item = type.GetProperty("Item", new[] { typeof(string) });
                answer = item.GetValue(headers, new object[] { "traceparent" }).ToString();
            }
            object response = context.GetType().GetProperty("Response").GetValue(context);
            var body = (Stream)response.GetType().GetProperty("Body").GetValue(response);
            byte[] bytes = Encoding.UTF8.GetBytes(answer);
            await body.WriteAsync(bytes, 0, bytes.Length);
        }
    }

    public static class Client
    {
        // The program's own context, which nothing may replace.
        private const string Own = "00-11111111111111111111111111111111-2222222222222222-01";

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<string> Buy(HttpClient client, string url)
        {
            using (HttpResponseMessage answer = await client.GetAsync(url))
            {
                return await answer.Content.ReadAsStringAsync();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<string> BuyWithHeader(HttpClient client, string url)
        {
            using (var request = new HttpRequestMessage(HttpMethod.Get, url))
            {
                request.Headers.Add("traceparent", Own);
                using (HttpResponseMessage answer = await client.SendAsync(request))
                {
                    return await answer.Content.ReadAsStringAsync();
                }
            }
        }

        // Also to a port that nobody listens at.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<string> Fail(HttpClient client)
        {
            try
            {
                return await client.GetStringAsync("http://127.0.0.1:9/");
            }
            catch (HttpRequestException)
            {
                return "refused";
            }
        }

        // The sum of the codes that one connection gets.
        internal static async Task<int> Codes(string url, int count)
        {
            int sum = 0;
            using (var client = new HttpClient())
            {
                for (int i = 0; i < count; i++)
                {
                    using (HttpResponseMessage answer = await client.GetAsync(url + "/code/" + (400 + i % 50)))
                        sum += (int)answer.StatusCode;
                }
            }
            return sum;
        }

        internal static async Task Run(string url)
        {
            Activity.DefaultIdFormat = ActivityIdFormat.W3C;
            using (var client = new HttpClient())
            {
                for (int i = 0; i < 10; i++)
                    Console.WriteLine(await Buy(client, url + "/pay"));
                Console.WriteLine((await Buy(client, url + "/echo")).Length > 0 ? "with a header" : "without a header");
                Console.WriteLine(await BuyWithHeader(client, url + "/echo") == Own ? "its own header" : "another header");
                Console.WriteLine(await Fail(client));
                Activity activity = new Activity("own").Start();
                Console.Error.WriteLine(activity.Id);
                await Task.Run(() => Buy(client, url + "/activity"));
                activity.Stop();
                Console.WriteLine(Activity.Current == null ? "no activity" : "an activity");
            }
        }
    }

    public static class Program
    {
        private static int Main(string[] args)
        {
            if (args[0] == "serve")
                Server.Run(args[1], args.Length > 2 ? args[2] : null, args.Length > 3 ? args[3] : null);
            else if (args[0] == "codes")
            {
                int count = int.Parse(args[2]);
                var all = new Task<int>[16];
                for (int i = 0; i < all.Length; i++)
                    all[i] = Client.Codes(args[1], count);
                int sum = 0;
                foreach (Task<int> one in all)
                    sum += one.Result;
                Console.WriteLine(sum);
            }
            else
                // Without a span around all of it.
                Client.Run(args[1]).Wait();
            return 7;
        }
    }
}
