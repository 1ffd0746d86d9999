//! [`Setup`]: the decisions of `initialize`.

use std::sync::Arc;

use super::components::{Attached, described};
use super::failure::Failure;
use super::traits::Component;
use crate::error::{Error, Result};
use crate::event_mask::{EventMask, names};
use crate::events::{Callback, CallbackSet};
use crate::info::CorProfilerInfo3;
use crate::runtime::{MemberIndex, ProfilerInfo};

/// A hook that gets the failures of callbacks.
pub(crate) type FailureHook = Arc<dyn Fn(&Failure) + Send + Sync>;

/// The decisions of `initialize`: events, components, and the handling of failures.
///
/// It starts with the events of the callbacks that the profiler overrides. Components get callbacks of their
/// own once they are [attached](Self::attach).
///
/// ```
/// # use clr_profiler::prelude::*;
/// # fn initialize(setup: &mut Setup) {
/// setup
///     .add_events(EventMask::ENABLE_REJIT)
///     .on_failure(|failure| eprintln!("my profiler: {failure}"));
/// # }
/// ```
pub struct Setup {
    pub(super) info: ProfilerInfo,
    /// The number and the name of the profiler, if several run as one.
    pub(super) member: Option<(MemberIndex, Arc<str>)>,
    pub(crate) events: EventMask,
    /// The events of the profiler itself.
    pub(super) own: EventMask,
    /// Those of the profiler's events that were requested by name.
    named: EventMask,
    pub(crate) on_failure: Option<FailureHook>,
    pub(crate) panic_limit: u32,
    components: Vec<Attached>,
    /// The components that are being attached; each is attached by the previous one.
    attaching: Vec<Attaching>,
    claims: Claims,
}

/// The owners of the things of which a runtime has one, as texts.
#[derive(Clone, Default)]
pub(crate) struct Claims {
    /// The owner of the ReJIT parameters.
    rejit: Option<String>,
    /// The owner of the hooks.
    hooks: Option<String>,
}

/// A component that is being attached.
struct Attaching {
    name: Arc<str>,
    /// The events that it has added by name.
    events: EventMask,
}

impl Claims {
    /// Keeps the hooks of a profiler that has failed.
    pub(crate) fn keep_hooks(&mut self, of: &Self) {
        self.hooks.clone_from(&of.hooks);
    }
}

impl Setup {
    /// The default of [`panic_limit`](Self::panic_limit).
    pub const DEFAULT_PANIC_LIMIT: u32 = 16;

    /// Creates the setup of a profiler with these callbacks.
    pub(crate) fn new(info: &ProfilerInfo, callbacks: CallbackSet) -> Self {
        let claims = Claims {
            rejit: callbacks
                .contains(Callback::GetReJITParameters)
                .then(|| described(None, None)),
            hooks: None,
        };
        Self {
            info: info.clone(),
            member: None,
            events: callbacks.events(),
            own: callbacks.events(),
            named: EventMask::empty(),
            on_failure: None,
            panic_limit: Self::DEFAULT_PANIC_LIMIT,
            components: Vec::new(),
            attaching: Vec::new(),
            claims,
        }
    }

    /// Creates the setup of a profiler that runs as one with others, which have claimed these things.
    ///
    /// # Errors
    ///
    /// Another one of them has the ReJIT parameters, too.
    pub(crate) fn of_member(
        info: &ProfilerInfo,
        index: MemberIndex,
        name: Arc<str>,
        callbacks: CallbackSet,
        claims: &Claims,
    ) -> Result<Self> {
        let mut setup = Self {
            member: Some((index, name)),
            claims: claims.clone(),
            ..Self::new(info, callbacks)
        };
        setup.own_rejit(None, callbacks)?;
        Ok(setup)
    }

    /// The things of which a runtime has one, with their owners.
    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// This component of the profiler, or the profiler itself, as a text.
    fn described(&self, component: Option<&Arc<str>>) -> String {
        let member = self.member.as_ref().map(|(_, name)| name);
        described(component, member)
    }

    /// Attaches a component: it gets its callbacks from now on, and is shut down with the profiler. Keep the
    /// returned handle to use the component.
    ///
    /// [`Component`] describes the order of components.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::rejit::{Rejit, RejitOptions};
    ///
    /// # fn initialize(setup: &mut Setup) -> Result<()> {
    /// let edit = |info: &ProfilerInfo, module, method, control: &FunctionControl<'_>| {
    ///     control.rewrite(info, module, method, |_body, _cx| Ok(()))?;
    ///     Ok(())
    /// };
    /// let rejit = setup.attach(Rejit::new(RejitOptions::default(), edit))?;
    /// rejit.request_pattern(&"Shop!Shop.Cart.Count".parse()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Each names the component:
    ///
    /// - the error of its [`attach`](Component::attach);
    /// - an event is not available: the runtime does not know it, or the profiler was attached to a running
    ///   program, or is a notification profiler;
    /// - the ReJIT parameters or the hooks already have an owner.
    pub fn attach<C: Component>(&mut self, component: C) -> Result<Arc<C>> {
        let component = Arc::new(component);
        let name: Arc<str> = component.name().into();
        self.attaching.push(Attaching {
            name: Arc::clone(&name),
            events: EventMask::empty(),
        });
        let info = self.info.clone();
        let attached = component.attach(&info, self);
        let added = self.attaching.pop().map(|attaching| attaching.events);
        attached
            .and_then(|()| self.accept(Arc::clone(&component), &name, added.unwrap_or_default()))
            .map_err(|error| Error::of_component(&name, error))?;
        Ok(component)
    }

    /// Adds a component that has been prepared, if its events are available.
    fn accept<C: Component>(
        &mut self,
        component: Arc<C>,
        name: &Arc<str>,
        added: EventMask,
    ) -> Result<()> {
        let (callbacks, events) = (component.callbacks(), component.events() | added);
        self.own_rejit(Some(name), callbacks)?;
        if !events.is_empty() {
            self.info.check_known(events)?;
            let call = "ICorProfilerInfo5::SetEventMask2";
            self.info.check_events(call, events)?;
        }
        self.events |= events;
        self.components.push(Attached::new(
            &self.info,
            component,
            Arc::clone(name),
            callbacks,
            events,
        ));
        Ok(())
    }

    /// Makes the component or the profiler the owner of the ReJIT parameters, which can have only one.
    fn own_rejit(&mut self, component: Option<&Arc<str>>, callbacks: CallbackSet) -> Result<()> {
        if !callbacks.contains(Callback::GetReJITParameters) {
            return Ok(());
        }
        if let Some(first) = &self.claims.rejit {
            return Err(Error::other(format!(
                "`get_rejit_parameters` has one owner, and {first} has it already"
            )));
        }
        self.claims.rejit = Some(self.described(component));
        Ok(())
    }

    /// The events of the profiler itself.
    pub(crate) fn own_events(&self) -> EventMask {
        self.own
    }

    /// The components in the order of callbacks, which is final now.
    ///
    /// # Errors
    ///
    /// The events of a component were removed.
    pub(crate) fn take_components(&mut self) -> Result<Vec<Attached>> {
        let mut components = std::mem::take(&mut self.components);
        components.sort_by_key(|attached| attached.component().order());
        for component in &components {
            let missing = component.events() - self.events;
            if !missing.is_empty() {
                let error = Error::other(format!(
                    "it needs {}, which `Setup::remove_events` took away",
                    names(missing)
                ));
                return Err(Error::of_component(component.name(), error));
            }
        }
        Ok(components)
    }

    /// Makes the caller the owner of the hooks, which can have only one.
    pub(crate) fn own_hooks(&mut self, call: &'static str) -> Result<()> {
        if let Some(first) = &self.claims.hooks {
            return Err(Error::rule(
                call,
                format!("there are hooks already, those of {first}; a process has one set of them"),
            ));
        }
        let component = self.attaching.last().map(|it| &it.name);
        self.claims.hooks = Some(self.described(component));
        Ok(())
    }

    /// The events that the runtime will report.
    #[must_use]
    pub fn events(&self) -> EventMask {
        self.events
    }

    /// Adds events to those of the overridden callbacks: features, or flags like
    /// [`EventMask::DISABLE_INLINING`].
    ///
    /// Events that endanger the program are enabled only if they are named here: those of exceptions on
    /// runtimes that [lose exceptions](crate::info::RuntimeInformation::loses_exceptions). Otherwise
    /// [`on_failure`](Self::on_failure) reports that their callbacks will not be called.
    pub fn add_events(&mut self, events: EventMask) -> &mut Self {
        self.events |= events;
        self.named |= events;
        match self.attaching.last_mut() {
            Some(attaching) => attaching.events |= events,
            None => self.own |= events,
        }
        self
    }

    /// Removes events. Callbacks that need them are not called.
    pub fn remove_events(&mut self, events: EventMask) -> &mut Self {
        self.events -= events;
        self.named -= events;
        self.own -= events;
        self
    }

    /// Removes the events that were not requested by name and would endanger the program on this runtime.
    pub(crate) fn omit_dangerous_events(&mut self, info: &ProfilerInfo) -> Option<Error> {
        let exceptions = EventMask::MONITOR_EXCEPTIONS;
        if !self.events.contains(exceptions) || self.named.contains(exceptions) {
            return None;
        }
        let runtime = info.runtime_information().ok()?;
        if !runtime.loses_exceptions() {
            return None;
        }
        self.events -= exceptions;
        Some(Error::other(format!(
            "no callback of exceptions will be called: .NET {} loses exceptions while they are monitored, \
             which breaks the program. `ExceptionEvents` reports them there; \
             `setup.add_events(EventMask::MONITOR_EXCEPTIONS)` requests the callbacks nevertheless",
            runtime.version
        )))
    }

    /// Sets the hook that gets the errors and panics of callbacks, and the panics of
    /// [`NativeCall`](crate::rewrite::NativeCall)s.
    ///
    /// Without a hook, failures are silent unless `CLR_PROFILER_DIAGNOSTICS` requests them: a library does
    /// not write to its host's streams. The hook runs on the thread of the callback, and so possibly on
    /// several at once; the rules of that callback apply to it. A panic in it is ignored.
    ///
    /// A callback that is under way when the runtime shuts down, on another thread, fails at its next call. That
    /// is no failure of the profiler: its error is dropped.
    ///
    /// Rewritten code does not identify the profiler whose function it calls: a panic there is reported to
    /// the hooks of all running profilers of the library.
    pub fn on_failure(&mut self, hook: impl Fn(&Failure) + Send + Sync + 'static) -> &mut Self {
        self.on_failure = Some(Arc::new(hook));
        self
    }

    /// Sets the number of panics after which the profiler is disabled: then no callback reaches it, and the
    /// program runs as if unprofiled. At least one.
    pub fn panic_limit(&mut self, panics: u32) -> &mut Self {
        self.panic_limit = panics.max(1);
        self
    }
}

opaque! {
    Setup { this =>
        events: this.events,
        on_failure: this.on_failure.is_some(),
        panic_limit: this.panic_limit,
        components: this.components
    }
}
