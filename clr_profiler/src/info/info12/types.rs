//! Sessions, providers and events of EventPipe.

use super::payload::EventType;
use crate::error::{Error, Result};
use crate::ids::EventPipeProviderId;
use crate::native::{Asked, List, answers, arguments, utf16};
use clr_profiler_sys::COR_PRF_EVENTPIPE_PROVIDER_CONFIG;

/// A session of EventPipe that the profiler has started.
#[doc(alias = "EVENTPIPE_SESSION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventPipeSessionId(pub(super) u64);

arguments! {
    EventPipeProviderId<'_> => usize = |provider, _| Ok(provider.raw());
    EventPipeSessionId => u64 = |session, _| Ok(session.0);
    &EventPipeProviderConfig => Config = |config, asked| {
        collects_nothing(config, asked)?;
        Ok(Config::of(config))
    };
    &[EventPipeProviderConfig] => Configs = |configs, asked| {
        let held = configs.iter().map(|config| config.to_native(asked));
        let held = held.collect::<Result<Vec<Config>>>()?;
        let native = List::of(asked, held.iter().map(|config| Ok(config.native)))?;
        Ok(Configs { native, _held: held })
    };
}

answers! {
    /// One that the profiler has made: nothing takes it away.
    usize => EventPipeProviderId<'static> = |raw, _| Ok(Self::from_runtime(raw));
    u64 => EventPipeSessionId = |raw, _| Ok(Self(raw));
}

impl EventPipeSessionId {
    /// The session that native code knows by this number.
    ///
    /// # Safety
    ///
    /// The runtime of this process gave the number for a session.
    #[must_use]
    pub const unsafe fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// The number by which native code knows it.
    #[must_use]
    pub const fn raw(self) -> u64 {
        self.0
    }
}

/// How severe an event is; sessions ask for a level and get the more severe ones too.
#[doc(alias = "COR_PRF_EVENTPIPE_LEVEL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[non_exhaustive]
pub enum EventLevel {
    /// Always delivered.
    LogAlways = 0,
    /// The program cannot go on.
    Critical = 1,
    /// Something failed.
    Error = 2,
    /// Something may be wrong.
    Warning = 3,
    /// Worth knowing.
    Informational = 4,
    /// Everything.
    Verbose = 5,
}

/// Which events of a provider a session gets.
#[doc(alias = "COR_PRF_EVENTPIPE_PROVIDER_CONFIG")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventPipeProviderConfig {
    /// The name of the provider, such as `Microsoft-Windows-DotNETRuntime`.
    pub name: String,
    /// Those that have one of these keywords; 0 for those that have none.
    pub keywords: u64,
    /// Those of at least this severity.
    pub level: EventLevel,
    /// What the provider is told besides: `name=value` pairs with `;` between them.
    pub filter: Option<String>,
}

impl EventPipeProviderConfig {
    /// All events of a provider.
    ///
    /// Of the runtime's own provider those are left out that tell of each object of the heap, and the
    /// collection at the session's start that brings them.
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

/// The keywords of the runtime's provider by which a collection is asked for and each object of the heap
/// told of (`GCHeapCollectKeyword` and `GCHeapDumpKeyword`).
const WHOLE_HEAP: u64 = 0x90_0000;

fn is_runtime(provider: &str) -> bool {
    provider.eq_ignore_ascii_case("Microsoft-Windows-DotNETRuntime")
}

/// Refuses what has .NET 8 go through its heap, in which there can be objects whose types are gone. That can
/// be long after the session was started.
fn collects_nothing(config: &EventPipeProviderConfig, asked: &Asked<'_>) -> Result<()> {
    let is_asked_for = is_runtime(&config.name) && config.keywords & WHOLE_HEAP != 0;
    match asked.info {
        Some(info) if is_asked_for && info.reads_lost_types()? => Err(Error::rule(
            asked.call,
            "the keywords 0x100000 and 0x800000 have .NET 8 go through the heap, where it crashes when modules were \
             unloaded: `HeapRecorder` goes through it safely",
        )),
        _ => Ok(()),
    }
}

/// The texts of a provider's configuration as native code has them, and the rest.
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

/// Several of them.
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
    /// Its type, or that of its elements.
    pub r#type: EventType,
    /// Whether it is an array.
    pub is_array: bool,
}

impl EventParameter {
    /// A parameter that is one value.
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

/// An event that a provider can raise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventDefinition {
    /// Its name.
    pub name: String,
    /// Its number within the provider.
    pub id: u32,
    /// Its keywords, by which sessions ask for it.
    pub keywords: u64,
    /// The version of its parameters.
    pub version: u32,
    /// How severe it is.
    pub level: EventLevel,
    /// What it stands for: 0 for an event of its own, 1 for a start, 2 for a stop...
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

/// An event that a provider has.
///
/// From [`event_pipe_define_event`](crate::info::CorProfilerInfo12::event_pipe_define_event). It lives as
/// long as its provider: as the process.
#[doc(alias = "EVENTPIPE_EVENT")]
#[derive(Clone, Debug)]
pub struct DefinedEvent {
    pub(super) raw: usize,
    pub(super) provider: EventPipeProviderId<'static>,
    pub(super) parameters: Vec<EventParameter>,
}

impl DefinedEvent {
    /// The number by which native code knows it.
    #[must_use]
    pub fn raw(&self) -> usize {
        self.raw
    }

    /// The provider that has it.
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
