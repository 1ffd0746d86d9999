//! Sends [spans](crate::spans) to an OpenTelemetry collector: OTLP over plain HTTP, as protobuf.
//!
//! [`Options`] are those of the environment, [`Exporter`] has the thread that sends, and [`TraceContexts`] the ids of
//! traces and spans outside of the process.

mod context;
mod message;
mod options;
mod queue;
mod sampler;
mod sent;
mod worker;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

pub use context::{RemoteParent, SpanId, TraceContexts, TraceId};
pub use options::Options;
pub use sent::Sent;

use crate::report::masks;
use crate::spans::{Span, Spans};
use queue::Queue;
use worker::Worker;

/// Sends spans on its own thread.
///
/// A program whose collector is slow or unreachable is not delayed: 32,768 spans wait, with at most 32 MB, and more are lost and
/// counted. A request has at most 512 spans and 1 MiB. It is repeated if there is no answer, or 429, 502, 503 or 504, after
/// pauses that grow from 1 to 30 seconds, or that the collector asks for (`Retry-After`); its spans are lost after a minute.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use clr_profiler_tools::otlp::{Exporter, Options};
/// use clr_profiler_tools::spans::Spans;
///
/// # fn main() -> std::io::Result<()> {
/// let spans = Arc::new(Spans::new());
/// // Where the environment names a collector.
/// if let Some(options) = Options::from_environment(None)? {
///     let exporter = Exporter::start(&spans, options, "my_tracer")?;
///     exporter.add(&spans.take());
///     exporter.finish();
///     println!("{}", exporter.sent());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Exporter {
    queue: Arc<Queue>,
    sent: Arc<Sent>,
    contexts: Arc<TraceContexts>,
}

impl Exporter {
    /// Starts the thread. `tool` is the name of the instrumentation scope.
    ///
    /// # Errors
    ///
    /// The system refuses a thread.
    pub fn start(spans: &Arc<Spans>, options: Options, tool: &'static str) -> io::Result<Self> {
        let exporter = Self {
            queue: Arc::new(Queue::new(options.queue, options.batch, options.delay)),
            sent: Arc::default(),
            contexts: Arc::new(TraceContexts::new(options.sampler)),
        };
        let Self {
            queue,
            sent,
            contexts,
        } = &exporter;
        let worker = Worker::new(spans, contexts, queue, sent, options, tool);
        let run = move || worker.run();
        masks::spawning(|| thread::Builder::new().name("otlp".to_owned()).spawn(run))?;
        Ok(exporter)
    }

    /// Never waits: spans for which there is no room are lost, and counted. Those of traces that are not sampled are left out.
    pub fn add(&self, spans: &[Span]) {
        let mut sampled = spans.to_vec();
        self.contexts.keep_sampled(&mut sampled);
        let unsampled = spans.len() - sampled.len();
        self.sent
            .unsampled
            .fetch_add(unsampled as u64, Ordering::Relaxed);
        self.sent
            .given
            .fetch_add(sampled.len() as u64, Ordering::Relaxed);
        let lost = self.queue.add(sampled);
        if lost > 0 {
            self.sent
                .lose(lost as u64, || "the collector is too slow".to_owned());
        }
    }

    /// Waits until all was sent: up to 3 seconds, half a second of them without an answer, and not at all for a collector
    /// that cannot be reached. Spans that it did not get are one of the [`failures`](crate::report::failures), once.
    pub fn finish(&self) {
        self.queue.flush();
        self.sent.tell();
    }

    /// The numbers so far.
    #[must_use]
    pub fn sent(&self) -> &Sent {
        &self.sent
    }

    /// The ids that spans have outside of the process.
    #[must_use]
    pub fn contexts(&self) -> &Arc<TraceContexts> {
        &self.contexts
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[cfg(test)]
mod tests;
