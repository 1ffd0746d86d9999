//! Components that cannot be attached, and the messages about it.

use clr_profiler::heap::AllocationTicks;
use clr_profiler::hooks::{CallHooks, HookedFunction};
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use scenario_support::{clsid, log};

fn rejit() -> Rejit {
    Rejit::new(RejitOptions::default(), |_, _, _, _| Ok(()))
}

struct Nothing;

// SAFETY: the hooks do nothing.
unsafe impl CallHooks for Nothing {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {}
}

/// Sets hooks of its own.
struct Hooking;

#[component]
impl Component for Hooking {
    fn attach(&self, _info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
        setup.hooks(Nothing, |_, _| Ok(None))?;
        Ok(())
    }
}

/// Requests an event that is reserved for profilers loaded at startup.
struct Allocations;

#[component]
impl Component for Allocations {
    fn object_allocated(&self, _: &ProfilerInfo, _: ObjectId<'_>, _: ClassId) -> Result<()> {
        Ok(())
    }
}

/// Cannot start.
struct Unready;

#[component]
impl Component for Unready {
    fn start(&self, _info: &ProfilerInfo) -> Result<()> {
        Err(Error::other("not today"))
    }
}

fn say(what: &str, outcome: Result<()>) -> Result<()> {
    match &outcome {
        Ok(()) => log::line(format_args!("{what}: attached")),
        Err(error) => log::line(format_args!("{what}: {error}")),
    }
    outcome
}

/// Attaches the component that `CONFLICT` names, and returns its error.
pub(crate) struct Conflicts;

#[profiler(clsid = clsid("Conflicts"))]
impl Profiler for Conflicts {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let conflict = std::env::var("CONFLICT").unwrap_or_default();
        let outcome = match conflict.as_str() {
            "rejit" => setup
                .attach(rejit())
                .and_then(|_| setup.attach(rejit()))
                .map(drop),
            "hooks" => setup
                .hooks(Nothing, |_, _| Ok(None))
                .and_then(|_| setup.attach(Hooking))
                .map(drop),
            "hooks after" => setup
                .attach(Hooking)
                .and_then(|_| setup.hooks(Nothing, |_, _| Ok(None)))
                .map(drop),
            "removed" => setup.attach(rejit()).map(|_| {
                setup.remove_events(EventMask::ENABLE_REJIT);
            }),
            "unknown" => setup.attach(AllocationTicks::new(|_, _| Ok(()))).map(drop),
            "allocations" => setup.attach(Allocations).map(drop),
            _ => setup.attach(Unready).map(drop),
        };
        say(&conflict, outcome).map(|()| Self)
    }
}

/// Sets ReJIT parameters itself, and also attaches `Rejit`.
pub(crate) struct OwnsRejit;

#[profiler(clsid = clsid("OwnsRejit"))]
impl Profiler for OwnsRejit {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        let _ = say("rejit", setup.attach(rejit()).map(drop));
        Ok(Self)
    }

    fn get_rejit_parameters(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _method: MethodDef,
        _control: &FunctionControl<'_>,
    ) -> Result<()> {
        Ok(())
    }
}
