// A shop that calls another one by gRPC, and answers such calls.
using System;
using System.Net;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using Grpc.Net.Client;

namespace Calls
{
    // The network.
    internal sealed class Answers : HttpMessageHandler
    {
        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken token)
        {
            await Task.Delay(5);
            string text = await request.Content.ReadAsStringAsync();
            if (text == "cut")
            {
                throw new HttpRequestException("no connection");
            }
            var response = new HttpResponseMessage(HttpStatusCode.OK) { Content = new StringContent("paid " + text) };
            response.Headers.Add("grpc-status", text == "none" ? "5" : "0");
            response.ReasonPhrase = text == "none" ? "no order" : "OK";
            return response;
        }
    }

    public static class Shop
    {
        private static readonly Method<string, string> Pay = new Method<string, string>(MethodType.Unary, "shop.Orders", "Pay");

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task Ask(string order)
        {
            var channel = GrpcChannel.ForAddress("http://orders.example:8081", new Answers());
            try
            {
                Console.WriteLine(await channel.Call(Pay, order));
            }
            catch (RpcException error)
            {
                Console.WriteLine(error.StatusCode + " " + error.Message);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task Answer(Func<HttpContext, Task> endpoint, string order)
        {
            var context = new HttpContext { Request = order };
            await endpoint(context);
            Console.WriteLine(context.Response + " " + context.Trailer);
        }

        private static async Task<string> Work(string order)
        {
            await Task.Delay(5);
            switch (order)
            {
                case "none":
                    throw new RpcException(new Status(StatusCode.NotFound, "no order"));
                case "fails":
                    throw new InvalidOperationException("out of order");
            }
            return "paid " + order;
        }

        private static async Task Run()
        {
            foreach (string order in new[] { "7", "none", "cut" })
            {
                await Ask(order);
            }
            Func<HttpContext, Task> endpoint = Endpoints.Unary<Answers>(Pay, Work);
            foreach (string order in new[] { "7", "none", "fails" })
            {
                await Answer(endpoint, order);
            }
        }

        private static int Main()
        {
            Run().Wait();
            return 6;
        }
    }
}
