// A shop that logs by Microsoft.Extensions.Logging: the library itself where the runtime brings it, and otherwise one that looks alike.
using System;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
using Microsoft.Extensions.Logging;

namespace Logs
{
    internal sealed class Lines : ILoggerProvider, ILogger
    {
        private readonly string name;

        internal Lines(string name)
        {
            this.name = name;
        }

        public ILogger CreateLogger(string categoryName)
        {
            return this;
        }

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            Console.WriteLine(name + " " + logLevel + " " + eventId.Id + " " + formatter(state, exception));
        }

        public bool IsEnabled(LogLevel logLevel)
        {
            return true;
        }

        public IDisposable BeginScope<TState>(TState state)
        {
            return null;
        }

        public void Dispose()
        {
        }
    }

    public static class Shop
    {
        private static ILogger logger;

        private static void Write(LogLevel level, int id, string text)
        {
            logger.Log(level, new EventId(id, "event"), text, null, (state, error) => state);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task Work(string order)
        {
            Write(LogLevel.Information, 7, "begins " + order);
            Write(LogLevel.Debug, 8, "not written");
            await Task.Delay(5);
            Pay();
            Write(LogLevel.Information, 7, "continues");
            Write(LogLevel.Warning, 0, "ends");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Pay()
        {
            Write(LogLevel.Error, 9, "cannot pay");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Count()
        {
            for (int number = 1; number <= 20; number++)
            {
                Write(LogLevel.Information, number, "counts");
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Rest()
        {
            Write(LogLevel.Debug, 10, "not written");
        }

        private static int Main()
        {
            var options = new LoggerFilterOptions { MinLevel = LogLevel.Information };
            var providers = new ILoggerProvider[] { new Lines("one"), new Lines("other") };
            logger = new LoggerFactory(providers, options).CreateLogger("shop");
            Console.WriteLine(typeof(LoggerFactory).Assembly.GetName().Version.Major);
            Write(LogLevel.Critical, 11, "in no span");
            Work("7").Wait();
            Count();
            Rest();
            return 8;
        }
    }
}
