//! The ids of traces and spans outside of this process, by W3C Trace Context.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use super::sampler::Sampler;
use crate::report::lock;
use crate::spans::Span;

/// The limit for remembered parents outside of this process.
const REMOTE: usize = 65_536;
/// The longest `tracestate` that is passed on, as the specification has it.
const STATE: usize = 512;

/// The id of a trace: 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// The id of a span: 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

impl TraceId {
    fn new(upper: u64, lower: u64) -> Self {
        Self((u128::from(upper) << 64 | u128::from(lower)).to_be_bytes())
    }

    fn lower(self) -> u64 {
        u128::from_be_bytes(self.0) as u64
    }

    /// The bytes, in the order of the protocol.
    #[must_use]
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }
}

impl SpanId {
    /// The bytes, in the order of the protocol.
    #[must_use]
    pub fn bytes(self) -> [u8; 8] {
        self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceId({self})")
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpanId({self})")
    }
}

/// A span of another process, or of the program's own tracing, as the headers `traceparent` and `tracestate` have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteParent {
    trace: TraceId,
    span: SpanId,
    is_sampled: bool,
    state: String,
}

impl RemoteParent {
    /// Reads the headers. `None` for a `traceparent` that the specification has receivers ignore.
    ///
    /// ```
    /// use clr_profiler_tools::otlp::RemoteParent;
    ///
    /// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    /// assert!(RemoteParent::parse(parent, "vendor=1").is_some());
    /// assert!(RemoteParent::parse("00-0-0-0", "").is_none());
    /// ```
    #[must_use]
    pub fn parse(parent: &str, state: &str) -> Option<Self> {
        let bytes = parent.trim_matches([' ', '\t']).as_bytes();
        let (version, rest) = (hex(bytes.get(..2)?)?, bytes.get(55..)?);
        // Later versions may add parts.
        let is_known = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.is_empty() || rest[0] == b'-',
        };
        if !is_known || [2, 35, 52].iter().any(|dash| bytes[*dash] != b'-') {
            return None;
        }
        let (trace, span, flags) = (
            hex(&bytes[3..35])?,
            hex(&bytes[36..52])?,
            hex(&bytes[53..55])?,
        );
        if trace == 0 || span == 0 {
            return None;
        }
        let state = state.trim_matches([' ', '\t']);
        let is_passed_on =
            state.len() <= STATE && state.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        Some(Self {
            trace: TraceId(trace.to_be_bytes()),
            span: SpanId((span as u64).to_be_bytes()),
            is_sampled: flags & 1 != 0,
            state: if is_passed_on { state } else { "" }.to_owned(),
        })
    }
}

/// Hexadecimal digits, which the specification has in lower case.
fn hex(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(digit))
    })
}

/// The place of a span in its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) parent: Option<SpanId>,
    pub(super) state: String,
}

/// The ids that the spans of this process have elsewhere.
///
/// Their own numbers begin at 1 in each process. The span ids of a process are consecutive from a random one. A trace id is a
/// random number of the process, and one that is random in each trace, unless a trace continues one of another process.
#[derive(Debug)]
pub struct TraceContexts {
    process: u64,
    traces: u64,
    spans: u64,
    sampler: Sampler,
    remote: Mutex<Remote>,
}

/// The parents outside of this process, by the numbers of the first spans here.
#[derive(Debug, Default)]
struct Remote {
    parents: HashMap<u64, RemoteParent>,
    /// The numbers, the oldest first.
    order: VecDeque<u64>,
}

impl TraceContexts {
    pub(super) fn new(sampler: Sampler) -> Self {
        let random = RandomState::new();
        let [process, traces, spans] = [1, 2, 3].map(|number| random.hash_one(number));
        Self {
            // Neither id may be zero.
            process: process | 1,
            traces,
            spans: spans >> 1,
            sampler,
            remote: Mutex::default(),
        }
    }

    /// The trace that begins here with this span continues another one.
    ///
    /// The last 65,536 traces are remembered, which is long enough for requests; spans that end later are in a trace of
    /// their own.
    pub fn continue_trace(&self, first: u64, parent: RemoteParent) {
        let mut remote = lock(&self.remote);
        if remote.parents.insert(first, parent).is_none() {
            remote.order.push_back(first);
        }
        if remote.order.len() > REMOTE
            && let Some(oldest) = remote.order.pop_front()
        {
            remote.parents.remove(&oldest);
        }
    }

    /// The headers `traceparent` and `tracestate` of a request that this span makes, which is in the trace that began with
    /// the span `trace`; the second one is empty for most.
    #[must_use]
    pub fn headers(&self, span: u64, trace: u64) -> (String, String) {
        let remote = lock(&self.remote);
        let parent = remote.parents.get(&trace);
        let id = self.trace(trace, parent);
        let is_sampled = self.samples(id, parent);
        let state = parent.map(|parent| parent.state.clone());
        drop(remote);
        let parent = format!("00-{id}-{}-{:02x}", self.span(span), u8::from(is_sampled));
        (parent, state.unwrap_or_default())
    }

    /// The ids of a span that is in the trace that began with the span `trace`.
    #[must_use]
    pub fn ids(&self, span: u64, trace: u64) -> (TraceId, SpanId) {
        let remote = lock(&self.remote);
        let trace = self.trace(trace, remote.parents.get(&trace));
        (trace, self.span(span))
    }

    /// Keeps the spans whose traces are sent.
    pub(super) fn keep_sampled(&self, spans: &mut Vec<Span>) {
        let remote = lock(&self.remote);
        spans.retain(|span| {
            let parent = remote.parents.get(&span.trace);
            self.samples(self.trace(span.trace, parent), parent)
        });
    }

    pub(super) fn place(&self, span: &Span) -> Place {
        let remote = lock(&self.remote);
        let continued = remote.parents.get(&span.trace);
        let trace = self.trace(span.trace, continued);
        let parent = match span.parent {
            0 => continued.map(|parent| parent.span),
            parent => Some(self.span(parent)),
        };
        Place {
            trace,
            span: self.span(span.id),
            parent,
            state: continued.map_or_else(String::new, |parent| parent.state.clone()),
        }
    }

    fn samples(&self, trace: TraceId, parent: Option<&RemoteParent>) -> bool {
        self.sampler
            .samples(trace.lower(), parent.map(|parent| parent.is_sampled))
    }

    fn trace(&self, first: u64, parent: Option<&RemoteParent>) -> TraceId {
        match parent {
            Some(parent) => parent.trace,
            None => TraceId::new(self.process, mix(self.traces.wrapping_add(first))),
        }
    }

    fn span(&self, number: u64) -> SpanId {
        SpanId(self.spans.wrapping_add(number).max(1).to_be_bytes())
    }
}

/// Another number for each number, without a visible order (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::{Outcome, Spans};

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn headers_are_read_as_the_specification_has_it() {
        let read = RemoteParent::parse(PARENT, " a=1,b=2 ").unwrap();
        assert_eq!(read.trace.to_string(), TRACE);
        assert_eq!(read.span.to_string(), "b7ad6b7169203331");
        assert_eq!((read.is_sampled, &*read.state), (true, "a=1,b=2"));
        let later = format!("cc{}-more", &PARENT[2..]);
        assert_eq!(RemoteParent::parse(&later, "").unwrap().trace, read.trace);
        let unsampled = PARENT.replace("-01", "-02");
        assert!(!RemoteParent::parse(&unsampled, "").unwrap().is_sampled);
        // A state that is too long, or is no header, is dropped alone.
        for state in [
            "x".repeat(513),
            "a=\u{e9}".to_owned(),
            "a\r\nb: c".to_owned(),
        ] {
            assert_eq!(RemoteParent::parse(PARENT, &state).unwrap().state, "");
        }
        for wrong in [
            "",
            "00",
            &PARENT[..54],
            &PARENT.to_uppercase(),
            &PARENT.replace("00-0a", "ff-0a"),
            &PARENT.replace(TRACE, &"0".repeat(32)),
            &PARENT.replace("b7ad6b7169203331", &"0".repeat(16)),
            &PARENT.replace("-01", "_01"),
            &format!("{PARENT}-more"),
            &PARENT.replace("-01", "-0g"),
            &PARENT.replace("0af7", "0a\u{e9}7"),
        ] {
            assert_eq!(RemoteParent::parse(wrong, ""), None, "{wrong}");
        }
    }

    fn two_spans() -> Vec<Span> {
        let spans = Spans::new();
        let method = spans.number("A.B()").unwrap();
        let outer = spans.begin(method, 0, 0, String::new());
        let inner = spans.begin(method, outer, outer, String::new());
        spans.end(inner, Outcome::Returned, false);
        spans.end(outer, Outcome::Returned, false);
        spans.take()
    }

    #[test]
    fn a_trace_that_continues_another_one_has_its_id_and_decision() {
        let spans = two_spans();
        let sampler = Sampler::parse("parentbased_always_off", None).unwrap();
        let contexts = TraceContexts::new(sampler);
        let mut sent = spans.clone();
        contexts.keep_sampled(&mut sent);
        assert_eq!(sent.len(), 0);
        let own = contexts.place(&spans[0]);
        assert_eq!(own.parent, None);
        contexts.continue_trace(spans[0].id, RemoteParent::parse(PARENT, "a=1").unwrap());
        contexts.keep_sampled(&mut sent);
        let mut sent = spans.clone();
        contexts.keep_sampled(&mut sent);
        assert_eq!(sent.len(), 2);
        let [outer, inner] = [0, 1].map(|number| contexts.place(&spans[number]));
        assert_eq!(outer.trace.to_string(), TRACE);
        let ids = contexts.ids(spans[1].id, spans[1].trace);
        assert_eq!(ids, (inner.trace, inner.span));
        assert_eq!(inner.trace, outer.trace);
        assert_eq!(outer.parent.unwrap().to_string(), "b7ad6b7169203331");
        assert_eq!(inner.parent, Some(outer.span));
        assert_eq!((&*outer.state, outer.span), ("a=1", own.span));
        let expected = format!("00-{TRACE}-{}-01", inner.span);
        assert_eq!(
            contexts.headers(spans[1].id, spans[0].id),
            (expected, "a=1".to_owned())
        );
    }

    #[test]
    fn ids_of_processes_differ_and_memory_is_bounded() {
        let spans = two_spans();
        let [one, other] = [(); 2].map(|()| TraceContexts::new(Sampler::default()));
        assert_ne!(one.place(&spans[0]).trace, other.place(&spans[0]).trace);
        assert_ne!(one.place(&spans[0]).span, other.place(&spans[0]).span);
        assert_ne!(one.headers(1, 1), one.headers(1, 2));
        let (parent, state) = one.headers(5, 3);
        assert!(RemoteParent::parse(&parent, &state).unwrap().is_sampled);
        for first in 1..=REMOTE as u64 + 10 {
            one.continue_trace(first, RemoteParent::parse(PARENT, "").unwrap());
        }
        assert_eq!(lock(&one.remote).parents.len(), REMOTE);
        assert!(!one.headers(1, 1).0.contains(TRACE) && one.headers(1, 11).0.contains(TRACE));
    }
}
