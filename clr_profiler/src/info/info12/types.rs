//! Types of EventPipe: sessions, providers and events.

use super::payload::EventType;
use crate::error::{Error, Result};
use crate::ids::EventPipeProviderId;
use crate::native::{CallContext, List, arguments, results, utf16};
use clr_profiler_sys::COR_PRF_EVENTPIPE_PROVIDER_CONFIG;

/// An EventPipe session that the profiler has started.
#[doc(alias = "EVENTPIPE_SESSION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventPipeSessionId(pub(super) u64);

arguments! {
    EventPipeProviderId<'_> => usize = |provider, _| Ok(provider.raw());
    EventPipeSessionId => u64 = |session, _| Ok(session.0);
    &EventPipeProviderConfig => Config = |config, context| {
        collects_nothing(config, context)?;
        Ok(Config::of(config))
    };
    &[EventPipeProviderConfig] => Configs = |configs, context| {
        let held = configs.iter().map(|config| config.to_native(context));
        let held = held.collect::<Result<Vec<Config>>>()?;
        let native = List::of(context, held.iter().map(|config| Ok(config.native)))?;
        Ok(Configs { native, _held: held })
    };
}

results! {
    /// A provider that the profiler has created is never removed.
    usize => EventPipeProviderId<'static> = |raw, _| Ok(Self::from_runtime(raw));
    u64 => EventPipeSessionId = |raw, _| Ok(Self(raw));
}

impl EventPipeSessionId {
    /// Creates an id from the native number of a session.
    ///
    /// # Safety
    ///
    /// The runtime of this process returned the number for a session.
    #[must_use]
    pub const unsafe fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// The native number of the session.
    #[must_use]
    pub const fn raw(self) -> u64 {
        self.0
    }
}

/// The severity of an event; a session of some level also receives the more severe events.
#[doc(alias = "COR_PRF_EVENTPIPE_LEVEL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[non_exhaustive]
pub enum EventLevel {
    /// Always delivered.
    LogAlways = 0,
    /// The program cannot continue.
    Critical = 1,
    /// Something failed.
    Error = 2,
    /// Something may be wrong.
    Warning = 3,
    /// Normal operation.
    Informational = 4,
    /// Details, for debugging.
    Verbose = 5,
}

/// A provider of a session, and which of its events the session receives.
#[doc(alias = "COR_PRF_EVENTPIPE_PROVIDER_CONFIG")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventPipeProviderConfig {
    /// The name of the provider, such as `Microsoft-Windows-DotNETRuntime`.
    pub name: String,
    /// Selects events that have one of these keywords; 0 selects events without keywords.
    pub keywords: u64,
    /// Selects events of at least this severity.
    pub level: EventLevel,
    /// The filter data for the provider: `name=value` pairs, separated by `;`.
    pub filter: Option<String>,
}

impl EventPipeProviderConfig {
    /// All events of a provider.
    ///
    /// For the runtime's own provider, the events about each object of the heap are excluded, and with them
    /// the collection at the start of the session that produces them.
    #[must_use]
    pub fn all(name: impl Into<String>) -> Self {
        let name = name.into();
        let keywords = if is_runtime(&name) {
            !WHOLE_HEAP
        } else {
            u64::MAX
        };
        Self {
            name,
            keywords,
            level: EventLevel::Verbose,
            filter: None,
        }
    }
}

/// The keywords of the runtime's provider that request a collection and events about each object of the
/// heap (`GCHeapCollectKeyword` and `GCHeapDumpKeyword`).
const WHOLE_HEAP: u64 = 0x90_0000;

fn is_runtime(provider: &str) -> bool {
    provider.eq_ignore_ascii_case("Microsoft-Windows-DotNETRuntime")
}

/// Refuses keywords that make .NET 8 walk its heap, possibly long after the session was started: the heap
/// can have objects whose types are gone.
fn collects_nothing(config: &EventPipeProviderConfig, context: &CallContext<'_>) -> Result<()> {
    let is_asked_for = is_runtime(&config.name) && config.keywords & WHOLE_HEAP != 0;
    match context.info {
        Some(info) if is_asked_for && info.reads_lost_types()? => Err(Error::rule(
            context.call,
            "the keywords 0x100000 and 0x800000 make .NET 8 walk the heap, which crashes after modules were \
             unloaded: `HeapRecorder` walks it safely",
        )),
        _ => Ok(()),
    }
}

/// The native configuration of a provider, with the texts that it points to.
pub(crate) struct Config {
    _texts: [Vec<u16>; 2],
    pub(super) native: COR_PRF_EVENTPIPE_PROVIDER_CONFIG,
}

impl Config {
    fn of(config: &EventPipeProviderConfig) -> Self {
        let name = utf16(&config.name);
        let filter = config.filter.as_deref().map(utf16);
        let native = COR_PRF_EVENTPIPE_PROVIDER_CONFIG {
            providerName: name.as_ptr(),
            keywords: config.keywords,
            loggingLevel: config.level as u32,
            filterData: filter
                .as_ref()
                .map_or(std::ptr::null(), |filter| filter.as_ptr()),
        };
        Self {
            _texts: [name, filter.unwrap_or_default()],
            native,
        }
    }
}

/// Native configurations of several providers.
pub(crate) struct Configs {
    native: List<COR_PRF_EVENTPIPE_PROVIDER_CONFIG>,
    _held: Vec<Config>,
}

impl Configs {
    pub(super) fn len(&self) -> u32 {
        self.native.len()
    }

    pub(super) fn as_ptr(&self) -> *const COR_PRF_EVENTPIPE_PROVIDER_CONFIG {
        self.native.as_ptr()
    }
}

/// A parameter of an event.
#[doc(alias = "COR_PRF_EVENTPIPE_PARAM_DESC")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventParameter {
    /// Its name.
    pub name: String,
    /// Its type, or that of its elements for an array.
    pub r#type: EventType,
    /// Whether it is an array.
    pub is_array: bool,
}

impl EventParameter {
    /// A parameter with a single value.
    #[must_use]
    pub fn new(name: impl Into<String>, r#type: EventType) -> Self {
        Self {
            name: name.into(),
            r#type,
            is_array: false,
        }
    }

    /// A parameter that is an array.
    #[must_use]
    pub fn array(name: impl Into<String>, elements: EventType) -> Self {
        Self {
            name: name.into(),
            r#type: elements,
            is_array: true,
        }
    }
}

/// The definition of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventDefinition {
    /// Its name.
    pub name: String,
    /// Its id within the provider.
    pub id: u32,
    /// Its keywords, by which sessions select it.
    pub keywords: u64,
    /// The version of its parameters.
    pub version: u32,
    /// Its severity.
    pub level: EventLevel,
    /// The opcode: 0 for informational events, 1 for a start, 2 for a stop...
    pub opcode: u8,
    /// Whether the stack is recorded with it.
    pub with_stack: bool,
    /// Its parameters.
    pub parameters: Vec<EventParameter>,
}

impl EventDefinition {
    /// An event without keywords, parameters and stack, of the level `Informational`.
    #[must_use]
    pub fn new(name: impl Into<String>, id: u32) -> Self {
        Self {
            name: name.into(),
            id,
            keywords: 0,
            version: 1,
            level: EventLevel::Informational,
            opcode: 0,
            with_stack: false,
            parameters: Vec::new(),
        }
    }
}

/// A defined event of a provider.
///
/// From [`event_pipe_define_event`](crate::info::CorProfilerInfo12::event_pipe_define_event). It lives as
/// long as its provider, which is as long as the process.
#[doc(alias = "EVENTPIPE_EVENT")]
#[derive(Clone, Debug)]
pub struct DefinedEvent {
    pub(super) raw: usize,
    pub(super) provider: EventPipeProviderId<'static>,
    pub(super) parameters: Vec<EventParameter>,
}

impl DefinedEvent {
    /// The native number of the event.
    #[must_use]
    pub fn raw(&self) -> usize {
        self.raw
    }

    /// Its provider.
    #[must_use]
    pub fn provider(&self) -> EventPipeProviderId<'static> {
        self.provider
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> &[EventParameter] {
        &self.parameters
    }
}
