//! `ICorProfilerInfo12`.

mod payload;
mod sessions;
mod types;

use uuid::Uuid;

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::ids::EventPipeProviderId;
use crate::native::{Argument, CallContext, as_it_is, utf16};
use crate::runtime::guid_of;
use clr_profiler_sys as sys;
use sys::COR_PRF_EVENTPIPE_PARAM_DESC;

pub use payload::{EventPayloadReader, EventType, EventValue};
pub use types::{
    DefinedEvent, EventDefinition, EventLevel, EventParameter, EventPipeProviderConfig,
    EventPipeSessionId,
};

table! { ($) __cor_profiler_info12:
    CorProfilerInfo12 = ICorProfilerInfo12 from info;

    /// Starts a session: from now on, events of these providers are delivered.
    fn event_pipe_start_session(providers: &[EventPipeProviderConfig], request_rundown: bool)
        -> EventPipeSessionId
        = [waiting] EventPipeStartSession(providers.len(), providers.as_ptr(), request_rundown, @session)
        with HIGH_MONITOR_EVENT_PIPE
        fails "`E_INVALIDARG` if there are no providers, `E_FAIL` if EventPipe's maximum number of \
               sessions is reached.";

    /// The name of a provider.
    fn event_pipe_provider_info(provider: EventPipeProviderId<'_>) -> String
        = [notrigger] EventPipeGetProviderInfo(provider, @{text});

    /// Creates a provider of events, which lives as long as the process.
    fn event_pipe_create_provider(name: &str as as_it_is) -> EventPipeProviderId<'static>
        = [waiting] EventPipeCreateProvider(name.as_ptr(), @provider)
        fails "`E_FAIL` if the name is in use.";
}

/// The calls of `ICorProfilerInfo12`: EventPipe, the runtime's own tracing (.NET 5).
///
/// Events of the profiler's own sessions are delivered to
/// [`event_pipe_event_delivered`](crate::Profiler::event_pipe_event_delivered), on the thread that writes
/// them.
///
/// A thread of the profiler's own that starts sessions or writes events becomes a managed thread. From then
/// on, outside of callbacks, the runtime refuses many other calls on it with
/// `CORPROF_E_UNSUPPORTED_CALL_SEQUENCE`. Use a separate thread for EventPipe to avoid that.
#[doc(alias = "ICorProfilerInfo12")]
pub trait CorProfilerInfo12: Sealed {
    __cor_profiler_info12! { calls }

    /// Adds a provider to a running session.
    ///
    /// Enables providers of that name that are created from then on. An existing provider is not changed,
    /// not even the one that [`event_pipe_provider_created`](crate::Profiler::event_pipe_provider_created)
    /// reports: name known providers when you start the session.
    #[wraps(ICorProfilerInfo12::EventPipeAddProviderToSession [waiting]
        fails "`E_INVALIDARG` for a session that is not running, another error for one that is \
               ending.")]
    fn event_pipe_add_provider_to_session(
        &self,
        session: EventPipeSessionId,
        provider: &EventPipeProviderConfig,
    ) -> Result<()> {
        let call = "ICorProfilerInfo12::EventPipeAddProviderToSession";
        let _running = sessions::add_to(call, session)?;
        self.handle().add_provider(session, provider)
    }

    /// Ends a session.
    #[wraps(ICorProfilerInfo12::EventPipeStopSession [waiting]
        fails "The error of the native call; it is no error if the session has already ended.")]
    fn event_pipe_stop_session(&self, session: EventPipeSessionId) -> Result<()> {
        let _ending = sessions::end(session);
        self.handle().stop_session(session)
    }

    /// Defines an event of a provider that the profiler has created.
    #[wraps(ICorProfilerInfo12::EventPipeDefineEvent [waiting])]
    fn event_pipe_define_event(
        &self,
        provider: EventPipeProviderId<'static>,
        event: EventDefinition,
    ) -> Result<DefinedEvent> {
        let name = utf16(&event.name);
        let names: Vec<_> = event.parameters.iter().map(|p| utf16(&p.name)).collect();
        let parameters = event.parameters.iter().zip(&names);
        let parameters: Vec<_> = parameters
            .map(|(parameter, name)| COR_PRF_EVENTPIPE_PARAM_DESC {
                r#type: if parameter.is_array {
                    sys::COR_PRF_EVENTPIPE_ARRAY
                } else {
                    parameter.r#type as u32
                },
                elementType: if parameter.is_array {
                    parameter.r#type as u32
                } else {
                    0
                },
                name: name.as_ptr(),
            })
            .collect();
        let mut raw = 0;
        let info = self.handle();
        let context = CallContext::of_info("ICorProfilerInfo12::EventPipeDefineEvent", info);
        ask!(
            waiting info,
            ICorProfilerInfo12::EventPipeDefineEvent(
                provider.to_native(&context)?,
                name.as_ptr(),
                event.id,
                event.keywords,
                event.version,
                event.level as u32,
                event.opcode,
                event.with_stack.into(),
                parameters.len() as u32,
                parameters.as_ptr(),
                &mut raw,
            )
        )?;
        Ok(DefinedEvent {
            raw,
            provider,
            parameters: event.parameters,
        })
    }

    /// Writes an event, with a value for each of its parameters.
    ///
    /// Nothing happens if no session has enabled the event.
    #[wraps(ICorProfilerInfo12::EventPipeWriteEvent
        fails "The values do not match the event's parameters; the error of the native call.")]
    fn event_pipe_write_event(
        &self,
        event: &DefinedEvent,
        values: &[EventValue<'_>],
        activity: Option<Uuid>,
        related_activity: Option<Uuid>,
    ) -> Result<()> {
        let payload = payload::payload(&event.parameters, values).map_err(|problem| {
            Error::invalid("ICorProfilerInfo12::EventPipeWriteEvent", problem)
        })?;
        let data = sys::COR_PRF_EVENT_DATA {
            ptr: payload.as_ptr().addr() as u64,
            size: payload.len() as u32,
            reserved: 0,
        };
        let activity = activity.as_ref().map(guid_of);
        let related = related_activity.as_ref().map(guid_of);
        let info = self.handle();
        ask!(
            notrigger info,
            ICorProfilerInfo12::EventPipeWriteEvent(
                event.raw,
                // Without parameters there is no data block.
                u32::from(!payload.is_empty()),
                &data,
                activity.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
                related.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
            )
        )
        .map(drop)
    }
}

impl CorProfilerInfo12 for ProfilerInfo {}

/// Native calls whose public wrappers do more than the call.
impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo12 from info;
    fn add_provider(session: EventPipeSessionId, provider: &EventPipeProviderConfig) -> ()
        = [waiting] EventPipeAddProviderToSession(session, provider.native);

    fn stop_session(session: EventPipeSessionId) -> ()
        = [waiting] EventPipeStopSession(session);
    }
}
