// Looks like Microsoft.Extensions.Logging: a logger passes messages to the providers that want the level.
using System;
using System.Collections.Generic;

namespace Microsoft.Extensions.Logging
{
    public class LoggerFilterOptions
    {
        public LogLevel MinLevel { get; set; }
    }

    public class LoggerFactory
    {
        private readonly List<MessageLogger> loggers = new List<MessageLogger>();

        public LoggerFactory(IEnumerable<ILoggerProvider> providers, LoggerFilterOptions filterOptions)
        {
            foreach (ILoggerProvider provider in providers)
            {
                loggers.Add(new MessageLogger(provider.CreateLogger("all"), filterOptions.MinLevel));
            }
        }

        public ILogger CreateLogger(string categoryName)
        {
            return new Logger { MessageLoggers = loggers.ToArray() };
        }
    }

    internal readonly struct MessageLogger
    {
        private readonly LogLevel least;

        internal MessageLogger(ILogger logger, LogLevel least)
        {
            Logger = logger;
            this.least = least;
        }

        internal ILogger Logger { get; }

        internal bool IsEnabled(LogLevel level)
        {
            return level >= least;
        }
    }

    internal sealed class Logger : ILogger
    {
        internal MessageLogger[] MessageLoggers { get; set; }

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception exception, Func<TState, Exception, string> formatter)
        {
            List<Exception> exceptions = null;
            foreach (MessageLogger known in MessageLoggers)
            {
                if (known.IsEnabled(logLevel))
                {
                    LoggerLog(logLevel, eventId, known.Logger, exception, formatter, ref exceptions, state);
                }
            }
            if (exceptions != null)
            {
                throw new AggregateException(exceptions);
            }

            static void LoggerLog(
                LogLevel logLevel, EventId eventId, ILogger logger, Exception exception, Func<TState, Exception, string> formatter,
                ref List<Exception> exceptions, in TState state)
            {
                try
                {
                    logger.Log(logLevel, eventId, state, exception, formatter);
                }
                catch (Exception error)
                {
                    exceptions = exceptions ?? new List<Exception>();
                    exceptions.Add(error);
                }
            }
        }

        public bool IsEnabled(LogLevel logLevel)
        {
            return true;
        }

        public IDisposable BeginScope<TState>(TState state)
        {
            return null;
        }
    }
}
