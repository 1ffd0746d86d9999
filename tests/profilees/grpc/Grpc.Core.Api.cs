// Looks like Grpc.Core.Api: the members that the rules of the tracer name, and those that they need.
using System;

namespace Grpc.Core
{
    public enum MethodType
    {
        Unary,
        ClientStreaming,
        ServerStreaming,
        DuplexStreaming,
    }

    public enum StatusCode
    {
        OK = 0,
        NotFound = 5,
        Internal = 13,
        Unavailable = 14,
    }

    public struct Status
    {
        public static readonly Status DefaultSuccess = new Status(StatusCode.OK, "");

        public Status(StatusCode statusCode, string detail)
        {
            StatusCode = statusCode;
            Detail = detail;
        }

        public StatusCode StatusCode { get; }
        public string Detail { get; }
    }

    public class RpcException : Exception
    {
        public RpcException(Status status) : base(status.Detail)
        {
            Status = status;
        }

        public Status Status { get; }

        public StatusCode StatusCode
        {
            get { return Status.StatusCode; }
        }
    }

    public interface IMethod
    {
        MethodType Type { get; }
        string ServiceName { get; }
        string Name { get; }
        string FullName { get; }
    }

    public class Method<TRequest, TResponse> : IMethod
    {
        public Method(MethodType type, string serviceName, string name)
        {
            Type = type;
            ServiceName = serviceName;
            Name = name;
            FullName = "/" + serviceName + "/" + name;
        }

        public MethodType Type { get; }
        public string ServiceName { get; }
        public string Name { get; }
        public string FullName { get; }
    }

    public abstract class ServerCallContext
    {
        public Status Status
        {
            get { return StatusCore; }
            set { StatusCore = value; }
        }

        protected abstract Status StatusCore { get; set; }
    }
}
