use std::sync::Mutex;

use clr_profiler::events::EventDefinition;
use clr_profiler::prelude::*;

struct Mine(Mutex<Vec<EventPipeProviderId<'static>>>);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self(Mutex::default()))
    }

    fn event_pipe_provider_created(
        &self,
        info: &ProfilerInfo,
        provider: EventPipeProviderId<'_>,
    ) -> Result<()> {
        // An event lives longer than a provider that the profiler does not own.
        info.event_pipe_define_event(provider, EventDefinition::new("Mine", 1))?;
        Ok(())
    }

    fn event_pipe_event_delivered(
        &self,
        _info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        self.0.lock().unwrap().push(event.provider);
        Ok(())
    }
}

register!(Mine);

fn main() {}
