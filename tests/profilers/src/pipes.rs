//! Listens to events of the program, of the runtime and of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::prelude::*;
use clr_profiler::{
    DefinedEvent, EventDefinition, EventLevel, EventParameter, EventPayloadReader,
    EventPipeProviderConfig, EventPipeSessionId, EventType, EventValue,
};

use crate::log;

/// Starts and stops a session when threads of `Pipes` get names.
#[derive(Default)]
pub(crate) struct Pipes {
    session: Mutex<Option<EventPipeSessionId>>,
}

impl Pipes {
    fn session(&self) -> MutexGuard<'_, Option<EventPipeSessionId>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = crate::clsid("Pipes"))]
impl Profiler for Pipes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        // EventPipe makes a thread of its own a managed one: that is not left to be used again.
        let info = info.clone();
        let session = self.session().take();
        let worker = match (name, session) {
            ("start", None) => thread::spawn(move || start(&info).map(Some)),
            ("stop", Some(session)) => thread::spawn(move || {
                info.event_pipe_stop_session(session)?;
                log::line("stopped");
                Ok(None)
            }),
            _ => return Ok(()),
        };
        let outcome = worker.join();
        *self.session() = outcome.map_err(|_| Error::other("the worker panicked"))??;
        Ok(())
    }

    fn event_pipe_provider_created(
        &self,
        info: &ProfilerInfo,
        provider: EventPipeProviderId,
    ) -> Result<()> {
        let name = info.event_pipe_provider_info(provider)?;
        if !name.starts_with("Scenario-") {
            return Ok(());
        }
        log::line(format_args!("created {name}"));
        if name == "Scenario-Late"
            && let Some(session) = *self.session()
        {
            let late = EventPipeProviderConfig::all(name);
            info.event_pipe_add_provider_to_session(session, &late)?;
            log::line("added");
        }
        Ok(())
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        let provider = info.event_pipe_provider_info(event.provider)?;
        let mut described = EventPayloadReader::new(event.metadata);
        let mut payload = EventPayloadReader::new(event.payload);
        let values = match (provider.as_str(), event.id) {
            ("Scenario-Managed", 5) => format!(
                "{:?} {:?} {:?}",
                payload.i32(),
                payload.string(),
                payload.f64()
            ),
            ("Scenario-Late", 1) => format!("{:?}", payload.i64()),
            ("Scenario-Native", 9) => all_kinds(&mut payload),
            // The beginning of a collection: number, generation, reason.
            ("Microsoft-Windows-DotNETRuntime", 1) => {
                let number = payload.u32().is_some();
                let facts = format!("{number} {:?} {:?}", payload.u32(), payload.u32());
                log::line(format_args!("collection {facts}"));
                return Ok(());
            }
            (name, _) if name.starts_with("Scenario-") => String::new(),
            _ => return Ok(()),
        };
        log::line(format_args!(
            "event {provider} {} {} ({values}) {} left, described as {:?} {:?} {:?} {:?} {:?}, \
             activity {:?} {:?}, thread {}, stack {}",
            event.id,
            event.version,
            payload.rest().len(),
            described.u32(),
            described.string(),
            described.u64(),
            described.u32(),
            described.u32(),
            event.activity.map(|activity| activity == ACTIVITY),
            event.related_activity.map(|activity| activity == RELATED),
            event.thread.is_some(),
            !event.stack.is_empty(),
        ));
        Ok(())
    }
}

const ACTIVITY: Uuid = Uuid::from_u128(0x1B7D_7C0E_55A5_4E0C_9E2F_0B5B_1F2C_6A11);
const RELATED: Uuid = Uuid::from_u128(0x2B7D_7C0E_55A5_4E0C_9E2F_0B5B_1F2C_6A22);

/// A provider of events that have keyword and level, in a session that asks for those.
fn wanted(name: &str) -> EventPipeProviderConfig {
    let mut wanted = EventPipeProviderConfig::all(name);
    wanted.keywords = 2;
    wanted.level = EventLevel::Warning;
    wanted
}

fn start(info: &ProfilerInfo) -> Result<EventPipeSessionId> {
    let provider = if info.version() >= 14 {
        info.event_pipe_create_provider2("Scenario-Native", |state| {
            log::line(format_args!(
                "wanted {} {} {:x} {:x}",
                state.is_enabled, state.level, state.match_any_keywords, state.match_all_keywords
            ));
        })?
    } else {
        info.event_pipe_create_provider("Scenario-Native")?
    };
    let kinds = define(info, provider, "Kinds", 9, 2, EventLevel::Warning)?;
    let unasked = define(info, provider, "Unasked", 10, 4, EventLevel::Warning)?;
    let fine = define(info, provider, "TooFine", 11, 2, EventLevel::Verbose)?;
    let number = [EventValue::Int32(1)];
    write(info, &kinds, 0)?;
    let mut runtime = EventPipeProviderConfig::all("Microsoft-Windows-DotNETRuntime");
    (runtime.keywords, runtime.level) = (1, EventLevel::Informational);
    let session = info.event_pipe_start_session(
        &[
            wanted("Scenario-Native"),
            wanted("Scenario-Managed"),
            runtime,
        ],
        false,
    )?;
    log::line("started");
    write(info, &kinds, -77)?;
    info.event_pipe_write_event(&unasked, &number, None, None)?;
    info.event_pipe_write_event(&fine, &number, None, None)?;
    if let Err(error) = info.event_pipe_start_session(&[], false) {
        log::line(error);
    }
    Ok(session)
}

fn define(
    info: &ProfilerInfo,
    provider: EventPipeProviderId,
    name: &str,
    id: u32,
    keywords: u64,
    level: EventLevel,
) -> Result<DefinedEvent> {
    let mut event = EventDefinition::new(name, id);
    (event.keywords, event.level, event.version) = (keywords, level, 6);
    event.parameters = vec![EventParameter::new("Int32", EventType::Int32)];
    if name == "Kinds" {
        use EventType::*;
        for kind in [
            Boolean, Char, SByte, Byte, Int16, UInt16, UInt32, Int64, UInt64, Single, Double, Guid,
            String,
        ] {
            let parameter = EventParameter::new(format!("{kind:?}"), kind);
            event.parameters.push(parameter);
        }
        event
            .parameters
            .push(EventParameter::array("Array", UInt16));
    }
    info.event_pipe_define_event(provider, event)
}

fn write(info: &ProfilerInfo, event: &DefinedEvent, number: i32) -> Result<()> {
    use EventValue::*;
    info.event_pipe_write_event(
        event,
        &[
            Int32(number),
            Boolean(true),
            Char(0xdf),
            SByte(-3),
            Byte(250),
            Int16(-300),
            UInt16(60_000),
            UInt32(4_000_000_000),
            Int64(i64::MIN),
            UInt64(u64::MAX),
            Single(0.25),
            Double(-0.125),
            Guid(RELATED),
            String("ä𝄞"),
            Array(&[UInt16(7), UInt16(8)]),
        ],
        Some(ACTIVITY),
        Some(RELATED),
    )
}

/// The values as they came back.
fn all_kinds(payload: &mut EventPayloadReader<'_>) -> String {
    let mut values = vec![
        format!("{:?}", payload.i32()),
        format!("{:?}", payload.bool()),
        format!("{:?}", payload.u16()),
        format!("{:?}", payload.i8()),
        format!("{:?}", payload.u8()),
        format!("{:?}", payload.i16()),
        format!("{:?}", payload.u16()),
        format!("{:?}", payload.u32()),
        format!("{:?}", payload.i64() == Some(i64::MIN)),
        format!("{:?}", payload.u64() == Some(u64::MAX)),
        format!("{:?}", payload.f32()),
        format!("{:?}", payload.f64()),
        format!("{:?}", payload.guid() == Some(RELATED)),
        format!("{:?}", payload.string()),
    ];
    for _ in 0..3 {
        values.push(format!("{:?}", payload.u16()));
    }
    values.join(" ").replace("Some", "")
}
