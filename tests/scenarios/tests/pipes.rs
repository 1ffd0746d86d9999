//! Events of the program, of the runtime and of the profiler are delivered unchanged.
//!
//! The profiler listens to events of the program, of the runtime and of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::events::{
    DefinedEvent, EventDefinition, EventLevel, EventParameter, EventPayloadReader,
    EventPipeProviderConfig, EventPipeSessionId, EventType, EventValue,
};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

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

#[profiler(clsid = clsid("Pipes"))]
impl Profiler for Pipes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        // EventPipe makes a thread of the profiler a managed one: such a thread is not reused.
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
        provider: EventPipeProviderId<'_>,
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

/// A provider of events with keyword and level, in a session that enables those.
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
    provider: EventPipeProviderId<'static>,
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

/// The delivered values.
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

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Pipes;

    #[test]
    fn events_come_back_as_they_were_raised() {
        let scenario = Scenario::new("Pipes").profiled_by::<Pipes>();
        scenario.on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        if runtime.major < 5 {
            let stdout = "enabled False\nlate False\nlate False\nenabled False\n";
            assert_eq!(profiled.output(), (Some(11), stdout, ""));
            assert!(log.contains("needs ICorProfilerInfo12"), "{log}");
            return;
        }
        let stdout = "enabled True\nlate False\nlate True\nenabled False\n";
        assert_eq!(profiled.output(), (Some(11), stdout, ""), "{log}");
        let mut expected = vec![
            "created Scenario-Managed",
            "created Scenario-Native",
            // Earlier events are not delivered; neither are those with another keyword or a finer
            // level.
            "wanted true 3 2 0",
            "started",
            "event Scenario-Native 9 6 ((-77) (true) (223) (-3) (250) (-300) (60000) (4000000000) \
             true true (0.25) (-0.125) true (\"ä𝄞\") (2) (7) (8)) 0 left, described as Some(9) \
             Some(\"Kinds\") Some(2) Some(6) Some(3), activity Some(true) Some(true), thread false, \
             stack false",
            "ICorProfilerInfo12::EventPipeStartSession failed with E_INVALIDARG (0x80070057): an id \
             or a token that this runtime does not know, or flags that do not go together",
            // The source itself adds bits to its keyword 2: the sessions that it knows.
            "event Scenario-Managed 5 3 (Some(2) Some(\"in tïme\") Some(1.5)) 0 left, described as \
             Some(5) Some(\"Happened\") Some(263882790666242) Some(3) Some(3), activity Some(false) \
             None, thread false, stack false",
            // An existing provider is not enabled; the next of that name is.
            "created Scenario-Late",
            "added",
            "created Scenario-Late",
            "added",
            "event Scenario-Late 1 0 (Some(1099511627776)) 0 left, described as Some(1) \
             Some(\"Came\") Some(263882790666240) Some(0) Some(4), activity Some(false) None, thread \
             false, stack false",
            // Of all generations, requested by the program.
            "collection true Some(2) Some(1)",
            "wanted false 3 2 0",
            "stopped",
        ];
        // Older runtimes do not notify providers.
        expected.retain(|line| runtime.major >= 8 || !line.starts_with("wanted"));
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines, expected);
    });
    }
}
