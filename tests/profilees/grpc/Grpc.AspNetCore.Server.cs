// Looks like Grpc.AspNetCore.Server: a handler calls a method of a service, and its context gets the status.
using System;
using System.Threading.Tasks;
using Grpc.AspNetCore.Server.Internal.CallHandlers;
using Grpc.Core;
using Grpc.Shared.Server;

namespace Grpc.Shared.Server
{
    internal abstract class ServerMethodInvokerBase<TService, TRequest, TResponse>
    {
        protected ServerMethodInvokerBase(Method<TRequest, TResponse> method)
        {
            Method = method;
        }

        public Method<TRequest, TResponse> Method { get; }
    }

    internal sealed class UnaryServerMethodInvoker<TService, TRequest, TResponse>
        : ServerMethodInvokerBase<TService, TRequest, TResponse>
    {
        internal readonly Func<TRequest, Task<TResponse>> Invoke;

        internal UnaryServerMethodInvoker(Method<TRequest, TResponse> method, Func<TRequest, Task<TResponse>> invoke)
            : base(method)
        {
            Invoke = invoke;
        }
    }
}

namespace Grpc.AspNetCore.Server
{
    // Stands for that of ASP.NET Core.
    public sealed class HttpContext
    {
        public string Request;
        public string Response;
        public string Trailer;
    }

    // Stands for the mapping of services to endpoints.
    public static class Endpoints
    {
        public static Func<HttpContext, Task> Unary<TService>(
            Method<string, string> method, Func<string, Task<string>> invoke)
        {
            var invoker = new UnaryServerMethodInvoker<TService, string, string>(method, invoke);
            return new UnaryServerCallHandler<TService, string, string>(invoker).HandleCallAsync;
        }
    }
}

namespace Grpc.AspNetCore.Server.Internal
{
    internal sealed class HttpContextServerCallContext : ServerCallContext
    {
        private Status _status;

        internal HttpContextServerCallContext(HttpContext httpContext)
        {
            HttpContext = httpContext;
        }

        internal HttpContext HttpContext { get; }

        protected override Status StatusCore
        {
            get { return _status; }
            set { _status = value; }
        }

        internal Task EndCallAsync()
        {
            LogCallEnd();
            return Task.CompletedTask;
        }

        internal Task ProcessHandlerErrorAsync(Exception error, string method)
        {
            _status = error is RpcException rpc ? rpc.Status : new Status(StatusCode.Internal, error.Message);
            LogCallEnd();
            return Task.CompletedTask;
        }

        private void LogCallEnd()
        {
            HttpContext.Trailer = "grpc-status: " + (int)_status.StatusCode;
        }
    }
}

namespace Grpc.AspNetCore.Server.Internal.CallHandlers
{
    internal abstract class ServerCallHandlerBase<TService, TRequest, TResponse>
        where TRequest : class
        where TResponse : class
    {
        protected ServerCallHandlerBase(ServerMethodInvokerBase<TService, TRequest, TResponse> methodInvoker)
        {
            MethodInvoker = methodInvoker;
        }

        protected ServerMethodInvokerBase<TService, TRequest, TResponse> MethodInvoker { get; }

        public Task HandleCallAsync(HttpContext httpContext)
        {
            var context = new HttpContextServerCallContext(httpContext);
            return Handle(context, HandleCallAsyncCore(httpContext, context));
        }

        protected abstract Task HandleCallAsyncCore(HttpContext httpContext, HttpContextServerCallContext serverCallContext);

        private async Task Handle(HttpContextServerCallContext context, Task call)
        {
            try
            {
                await call;
                await context.EndCallAsync();
            }
            catch (Exception error)
            {
                await context.ProcessHandlerErrorAsync(error, MethodInvoker.Method.FullName);
            }
        }
    }

    internal sealed class UnaryServerCallHandler<TService, TRequest, TResponse> : ServerCallHandlerBase<TService, TRequest, TResponse>
        where TRequest : class
        where TResponse : class
    {
        private readonly UnaryServerMethodInvoker<TService, TRequest, TResponse> invoker;

        public UnaryServerCallHandler(UnaryServerMethodInvoker<TService, TRequest, TResponse> invoker) : base(invoker)
        {
            this.invoker = invoker;
        }

        protected override async Task HandleCallAsyncCore(HttpContext httpContext, HttpContextServerCallContext serverCallContext)
        {
            httpContext.Response = (string)(object)await invoker.Invoke((TRequest)(object)httpContext.Request);
        }
    }
}
