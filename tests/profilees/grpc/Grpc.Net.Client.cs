// Looks like Grpc.Net.Client: a call sends a request in the background and ends with a status; only the result throws.
using System;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Grpc.Core;
using Grpc.Net.Client.Internal;

namespace Grpc.Net.Client
{
    public sealed class GrpcChannel
    {
        internal GrpcChannel(Uri address, HttpMessageInvoker invoker)
        {
            Address = address;
            HttpInvoker = invoker;
        }

        internal Uri Address { get; }
        internal HttpMessageInvoker HttpInvoker { get; }

        public static GrpcChannel ForAddress(string address, HttpMessageHandler handler)
        {
            return new GrpcChannel(new Uri(address), new HttpMessageInvoker(handler));
        }

        // Stands for the invokers and the generated clients.
        public Task<TResponse> Call<TRequest, TResponse>(Method<TRequest, TResponse> method, TRequest request)
            where TRequest : class
            where TResponse : class
        {
            var call = new GrpcCall<TRequest, TResponse>(method, this);
            call.StartUnary(request);
            return call.GetResponseAsync();
        }
    }
}

namespace Grpc.Net.Client.Internal
{
    internal abstract class GrpcCall
    {
        protected GrpcCall(GrpcChannel channel)
        {
            Channel = channel;
        }

        public GrpcChannel Channel { get; }
    }

    internal sealed class GrpcCall<TRequest, TResponse> : GrpcCall
        where TRequest : class
        where TResponse : class
    {
        private readonly TaskCompletionSource<TResponse> response =
            new TaskCompletionSource<TResponse>(TaskCreationOptions.RunContinuationsAsynchronously);

        public GrpcCall(Method<TRequest, TResponse> method, GrpcChannel channel) : base(channel)
        {
            Method = method;
        }

        public Method<TRequest, TResponse> Method { get; }

        public void StartUnary(TRequest request)
        {
            var message = new HttpRequestMessage(HttpMethod.Post, new Uri(Channel.Address, Method.FullName));
            message.Content = new StringContent(request.ToString());
            _ = RunCall(message, null);
        }

        public Task<TResponse> GetResponseAsync()
        {
            return response.Task;
        }

        private async Task RunCall(HttpRequestMessage request, TimeSpan? timeout)
        {
            try
            {
                HttpResponseMessage answer = await Channel.HttpInvoker.SendAsync(request, CancellationToken.None).ConfigureAwait(false);
                var code = (StatusCode)int.Parse(answer.Headers.GetValues("grpc-status").Single());
                var status = new Status(code, answer.ReasonPhrase);
                FinishCall(request, false, null, status);
                if (code == StatusCode.OK)
                {
                    response.TrySetResult((TResponse)(object)await answer.Content.ReadAsStringAsync());
                }
                else
                {
                    response.TrySetException(new RpcException(status));
                }
            }
            catch (HttpRequestException error)
            {
                var status = new Status(StatusCode.Unavailable, error.Message);
                FinishCall(request, false, null, status);
                response.TrySetException(new RpcException(status));
            }
        }

        private bool FinishCall(HttpRequestMessage request, bool diagnosticSourceEnabled, Activity activity, Status status)
        {
            request.Dispose();
            return status.StatusCode == StatusCode.OK;
        }
    }
}
