// A client that asks at each URL for the first answer of the Model Context Protocol. It waits for one second at those that end
// with `/slow`.
using System;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Asks
{
    public static class Client
    {
        private const string Question =
            @"{""jsonrpc"":""2.0"",""id"":1,""method"":""initialize"",""params"":{""protocolVersion"":""2025-03-26"",""capabilities"":{},""clientInfo"":{""name"":""test"",""version"":""1""}}}";

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task<string> Ask(HttpClient client, string url)
        {
            try
            {
                using (var patience = new CancellationTokenSource(url.EndsWith("/slow") ? 1000 : 120000))
                using (var request = new HttpRequestMessage(HttpMethod.Post, url))
                {
                    request.Content = new StringContent(Question, Encoding.UTF8, "application/json");
                    request.Headers.Add("Accept", "application/json, text/event-stream");
                    using (HttpResponseMessage answer = await client.SendAsync(request, patience.Token))
                    {
                        string text = await answer.Content.ReadAsStringAsync();
                        return (int)answer.StatusCode + ", " + text.Length + " characters";
                    }
                }
            }
            catch (HttpRequestException)
            {
                return "failed";
            }
            catch (OperationCanceledException)
            {
                return "cancelled";
            }
        }
    }

    public static class Program
    {
        private static int Main(string[] args)
        {
            using (var client = new HttpClient())
            {
                client.Timeout = Timeout.InfiniteTimeSpan;
                foreach (string url in args)
                    Console.WriteLine(Client.Ask(client, url).Result);
            }
            return 7;
        }
    }
}
