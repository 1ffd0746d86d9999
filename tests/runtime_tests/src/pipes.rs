//! Events of EventPipe: written by the profiler, and read from the program.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use clr_profiler::events::{
    EventDefinition, EventLevel, EventParameter, EventPayloadReader, EventPipeProviderConfig,
    EventPipeSessionId, EventType, EventValue,
};
use clr_profiler::prelude::*;

use crate::common::{
    Count, answer_calls, check, clsid, locked, log, on_own_thread, report_failures,
};

const WRITTEN: &str = "RuntimeTests-Written";
const READ: &str = "RuntimeTests-Source";

/// The parameters and values of the event that has one of each type.
const ALL: [(EventType, EventValue<'_>); 15] = [
    (EventType::Boolean, EventValue::Boolean(true)),
    (EventType::Char, EventValue::Char(b'A' as u16)),
    (EventType::SByte, EventValue::SByte(-124)),
    (EventType::Byte, EventValue::Byte(125)),
    (EventType::Int16, EventValue::Int16(-35)),
    (EventType::UInt16, EventValue::UInt16(98)),
    (EventType::Int32, EventValue::Int32(-560)),
    (EventType::UInt32, EventValue::UInt32(561)),
    (EventType::Int64, EventValue::Int64(2_147_483_648)),
    (EventType::UInt64, EventValue::UInt64(2_147_483_649)),
    (EventType::Single, EventValue::Single(3.0)),
    (EventType::Double, EventValue::Double(3.023)),
    (
        EventType::Guid,
        EventValue::Guid(Uuid::from_u128(0x176f_bed1)),
    ),
    (EventType::String, EventValue::String("a text")),
    (
        EventType::DateTime,
        EventValue::DateTime(132_243_707_160_000_000),
    ),
];

/// Defines four events, writes them, and reads them back in a session of its own.
#[derive(Default)]
pub(crate) struct WritesEvents {
    delivered: [Count; 4],
}

/// The number that the next of the many events must have.
static NEXT: AtomicI32 = AtomicI32::new(0);

fn event(name: &str, id: u32, level: EventLevel, stack: bool) -> EventDefinition {
    let mut event = EventDefinition::new(name, id);
    event.level = level;
    event.with_stack = stack;
    event
}

fn write(info: &ProfilerInfo) -> Result<()> {
    let provider = info.event_pipe_create_provider2(WRITTEN, |state| {
        log::line(format_args!(
            "enabled {}, any {:#x}, all {:#x}, level {}",
            state.is_enabled, state.match_any_keywords, state.match_all_keywords, state.level
        ));
    })?;
    let mut all = event("AllTypes", 1, EventLevel::LogAlways, true);
    for (number, (kind, _)) in ALL.iter().enumerate() {
        let parameter = EventParameter::new(format!("parameter {number}"), *kind);
        all.parameters.push(parameter);
    }
    let mut array = event("Array", 3, EventLevel::LogAlways, true);
    let numbers = EventParameter::array("numbers", EventType::Int32);
    array.parameters.push(numbers);
    let empty = event("Empty", 2032, EventLevel::Informational, false);
    let mut simple = event("Simple", 2, EventLevel::Verbose, true);
    let number = EventParameter::new("number", EventType::Int32);
    simple.parameters.push(number);
    let all = info.event_pipe_define_event(provider, all)?;
    let array = info.event_pipe_define_event(provider, array)?;
    let empty = info.event_pipe_define_event(provider, empty)?;
    let simple = info.event_pipe_define_event(provider, simple)?;

    let mut config = EventPipeProviderConfig::all(WRITTEN);
    config.keywords = 0xf000_0000_0000;
    let session = info.event_pipe_start_session(&[config], false)?;
    let values = ALL.map(|(_, value)| value);
    info.event_pipe_write_event(&all, &values, None, None)?;
    let numbers: Vec<EventValue<'_>> = (0..100).rev().map(EventValue::Int32).collect();
    info.event_pipe_write_event(&array, &[EventValue::Array(&numbers)], None, None)?;
    for _ in 0..10 {
        info.event_pipe_write_event(&empty, &[], None, None)?;
    }
    for number in 0..10_000 {
        info.event_pipe_write_event(&simple, &[EventValue::Int32(number)], None, None)?;
    }
    info.event_pipe_stop_session(session)
}

fn answer_write(info: &ProfilerInfo, _: i32) -> Result<i32> {
    if let Err(error) = on_own_thread(info, write) {
        log::line(format_args!("refused: {error}"));
    }
    Ok(0)
}

/// Whether the payload has the values of [`ALL`], and nothing else.
fn has_all(payload: &mut EventPayloadReader<'_>) -> bool {
    let values = ALL.iter().all(|(_, value)| match *value {
        EventValue::Boolean(value) => payload.bool() == Some(value),
        EventValue::Char(value) | EventValue::UInt16(value) => payload.u16() == Some(value),
        EventValue::SByte(value) => payload.i8() == Some(value),
        EventValue::Byte(value) => payload.u8() == Some(value),
        EventValue::Int16(value) => payload.i16() == Some(value),
        EventValue::Int32(value) => payload.i32() == Some(value),
        EventValue::UInt32(value) => payload.u32() == Some(value),
        EventValue::Int64(value) | EventValue::DateTime(value) => payload.i64() == Some(value),
        EventValue::UInt64(value) => payload.u64() == Some(value),
        EventValue::Single(value) => payload.f32() == Some(value),
        EventValue::Double(value) => payload.f64() == Some(value),
        EventValue::Guid(value) => payload.guid() == Some(value),
        EventValue::String(value) => payload.string().as_deref() == Some(value),
        _ => false,
    });
    values && payload.rest().is_empty()
}

#[profiler(clsid = clsid("WritesEvents"))]
impl Profiler for WritesEvents {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        answer_calls(info, f, answer_write)
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        if info.event_pipe_provider_info(event.provider)? != WRITTEN {
            return Ok(());
        }
        let description = Description::read(event.metadata)
            .ok_or_else(|| Error::other(format!("event {} is not described", event.id)))?;
        check(
            description.id == event.id && !description.name.is_empty(),
            format_args!("{description:?}"),
        );
        let mut payload = EventPayloadReader::new(event.payload);
        let which = match event.id {
            1 => {
                check(has_all(&mut payload), format_args!("{:?}", event.payload));
                log::line(format_args!("described {description}"));
                0
            }
            3 => {
                let length = payload.u16();
                let numbers: Vec<_> = (0..100).map_while(|_| payload.i32()).collect();
                check(
                    length == Some(100) && numbers.iter().copied().eq((0..100).rev()),
                    format_args!("{length:?} {numbers:?}"),
                );
                check(payload.rest().is_empty(), "more than the array");
                log::line(format_args!("described {description}"));
                1
            }
            2032 => {
                check(event.payload.is_empty(), "an event that is not empty");
                2
            }
            2 => {
                let expected = NEXT.fetch_add(1, Ordering::SeqCst);
                let number = payload.i32();
                check(
                    number == Some(expected),
                    format_args!("{number:?} instead of {expected}"),
                );
                3
            }
            other => return Err(Error::other(format!("an event {other}"))),
        };
        self.delivered[which].one();
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        let delivered = self.delivered.each_ref().map(Count::get);
        log::line(format_args!("delivered {delivered:?}"));
        Ok(())
    }
}

/// The description that EventPipe delivers with an event.
#[derive(Debug)]
struct Description {
    id: u32,
    name: String,
    parameters: Vec<Parameter>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Simple(u32),
    Array(Box<Kind>),
    Object(Vec<Parameter>),
}

const OBJECT: u32 = 1;
const ARRAY: u32 = 19;
/// The tag of the second form of parameters, which knows arrays.
const NEWER_PARAMETERS: u8 = 2;

impl Description {
    fn read(metadata: &[u8]) -> Option<Self> {
        let mut reader = EventPayloadReader::new(metadata);
        let (id, name) = (reader.u32()?, reader.string()?);
        let (_keywords, _version, _level) = (reader.i64()?, reader.u32()?, reader.u32()?);
        let mut parameters = parameters(&mut reader, false)?;
        while !reader.rest().is_empty() {
            let length = reader.u32()? as usize;
            if reader.u8()? == NEWER_PARAMETERS {
                parameters = self::parameters(&mut reader, true)?;
            } else {
                reader = EventPayloadReader::new(reader.rest().get(length..)?);
            }
        }
        Some(Self {
            id,
            name,
            parameters,
        })
    }
}

fn parameters(reader: &mut EventPayloadReader<'_>, newer: bool) -> Option<Vec<Parameter>> {
    (0..reader.u32()?)
        .map(|_| {
            if newer {
                let _length = reader.u32()?;
                let name = reader.string()?;
                let kind = kind(reader, newer)?;
                return Some(Parameter { name, kind });
            }
            let kind = kind(reader, newer)?;
            let name = reader.string()?;
            Some(Parameter { name, kind })
        })
        .collect()
}

fn kind(reader: &mut EventPayloadReader<'_>, newer: bool) -> Option<Kind> {
    Some(match reader.u32()? {
        ARRAY => Kind::Array(Box::new(kind(reader, newer)?)),
        OBJECT => Kind::Object(parameters(reader, newer)?),
        simple => Kind::Simple(simple),
    })
}

impl std::fmt::Display for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        self.parameters.iter().try_for_each(|p| write!(f, " {p}"))
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.kind)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Simple(kind) => write!(f, "{kind}"),
            Self::Array(element) => write!(f, "[{element}]"),
            Self::Object(fields) => {
                write!(f, "{{")?;
                fields.iter().try_for_each(|field| write!(f, " {field}"))?;
                write!(f, " }}")
            }
        }
    }
}

/// Reads the events of the program's event source.
#[derive(Default)]
pub(crate) struct ReadsEvents {
    events: Count,
}

static SESSION: Mutex<Option<EventPipeSessionId>> = Mutex::new(None);

fn answer_read(info: &ProfilerInfo, what: i32) -> Result<i32> {
    let asked = on_own_thread(info, move |info| {
        let mut session = locked(&SESSION);
        if what == 0 {
            let config = EventPipeProviderConfig::all(READ);
            *session = Some(info.event_pipe_start_session(&[config], false)?);
        } else if let Some(session) = session.take() {
            info.event_pipe_stop_session(session)?;
        }
        Ok(())
    });
    if let Err(error) = asked {
        log::line(format_args!("refused: {error}"));
    }
    Ok(0)
}

#[profiler(clsid = clsid("ReadsEvents"))]
impl Profiler for ReadsEvents {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        Ok(Self::default())
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        answer_calls(info, f, answer_read)
    }

    fn event_pipe_provider_created(
        &self,
        info: &ProfilerInfo,
        provider: EventPipeProviderId<'_>,
    ) -> Result<()> {
        let name = info.event_pipe_provider_info(provider)?;
        if name == READ {
            log::line(format_args!("created {name}"));
        }
        Ok(())
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        // EventPipe itself describes the process in each session.
        if info.event_pipe_provider_info(event.provider)? != READ {
            return Ok(());
        }
        let description = Description::read(event.metadata)
            .ok_or_else(|| Error::other(format!("event {} is not described", event.id)))?;
        let mut payload = EventPayloadReader::new(event.payload);
        let values = match description.name.as_str() {
            "Number" => format!("{:?}", payload.i32()),
            "Arrays" => {
                let (letter, length) = (payload.u16(), payload.u16());
                let numbers: Vec<_> = (0..length.unwrap_or(0))
                    .map_while(|_| payload.i32())
                    .collect();
                let in_order = numbers.iter().copied().eq(0..120);
                format!("{letter:?} {in_order} {:?}", payload.string())
            }
            "Pairs" => {
                let (source, name) = (payload.string(), payload.string());
                let length = payload.u16();
                let (key, value) = (payload.string(), payload.string());
                format!("{source:?} {name:?} {length:?} {key:?} {value:?}")
            }
            other => format!("event {other:?}"),
        };
        self.events.one();
        log::line(format_args!(
            "{description} = {values}, {} left",
            payload.rest().len()
        ));
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("events {}", self.events.get()));
        Ok(())
    }
}
