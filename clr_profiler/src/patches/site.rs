//! The closures of a patch, and the methods that call them.

use std::sync::{Arc, Mutex, OnceLock};

use super::entry::{self, Entry, Hook};
use super::slot::{Kind, Layout, Slot, Stage, bits};
use crate::error::Result;
use crate::info::{CorProfilerInfo, CorProfilerInfo3};
use crate::rewrite::RewriteContext;
use crate::runtime::{ProfilerInfo, lock, silence_where};

/// The closures of a patch.
#[derive(Default)]
pub(super) struct Hooks {
    pub(super) before: Option<Box<dyn Hook>>,
    pub(super) after: Option<Box<dyn Hook>>,
    pub(super) exception: Option<Box<dyn Hook>>,
    /// Whether the method's code is skipped unless `before` fails.
    pub(super) replaces: bool,
    /// Whether objects are passed.
    pub(super) has_objects: bool,
    /// The names of the values that are passed; all if there are none.
    pub(super) values: Option<Vec<Box<str>>>,
}

impl Hooks {
    fn of(&self, stage: Stage) -> Option<&dyn Hook> {
        match stage {
            Stage::Before => self.before.as_deref(),
            Stage::After => self.after.as_deref(),
            Stage::Exception => self.exception.as_deref(),
            Stage::Abandoned => None,
        }
    }

    pub(super) fn has(&self, stage: Stage) -> bool {
        self.of(stage).is_some()
    }

    pub(super) fn has_any(&self) -> bool {
        self.before.is_some() || self.after.is_some() || self.exception.is_some()
    }

    /// Whether values of a kind are pinned while a closure runs.
    pub(super) fn pins(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Text => true,
            Kind::Reference => self.has_objects,
            _ => false,
        }
    }

    /// Whether a state that `before` keeps is used by another closure.
    pub(super) fn needs_state(&self) -> bool {
        self.has(Stage::Before) && (self.has(Stage::After) || self.has(Stage::Exception))
    }

    /// Whether a state that one closure keeps can be used by another.
    fn has_state(&self) -> bool {
        let (before, exception) = (self.has(Stage::Before), self.has(Stage::Exception));
        self.has(Stage::After) && (before || exception) || before && exception
    }

    /// The functions for methods with these values.
    fn entries(&self, layout: &'static Layout) -> Vec<Entry> {
        let stages = [Stage::Before, Stage::After, Stage::Exception];
        let entries = stages.into_iter().filter_map(|stage| {
            let hook = self.of(stage)?;
            Some(hook.entry(layout, self.always(stage), self.has_state()))
        });
        entries.chain([entry::abandoned(layout)]).collect()
    }

    /// The decisions that do not depend on the closure of a stage.
    fn always(&self, stage: Stage) -> u64 {
        match self.replaces && stage == Stage::Before {
            true => bits::SKIP,
            false => 0,
        }
    }
}

/// A patched method. Its values live as long as the library, because the functions that its IL calls have them.
pub(super) struct Site {
    pub(super) layout: &'static Layout,
    pub(super) entries: Vec<Entry>,
    pub(super) hooks: Arc<Hooks>,
    /// Whether a state that one closure keeps can be used by another; otherwise frames have none.
    pub(super) has_state: bool,
}

/// The runtime whose threads run closures.
static INFO: OnceLock<ProfilerInfo> = OnceLock::new();

/// Whether a panic on this thread, outside of all callbacks, is most likely that of a closure: the thread runs managed
/// code. Closures do not mark their thread: that would cost more than calling them.
#[cold]
fn is_closure() -> bool {
    INFO.get()
        .is_some_and(|info| info.current_thread_id().is_ok())
}

/// The site of a method: the same one if it was rewritten before, because its address is in compiled code for ever.
pub(super) fn site(
    cx: &RewriteContext<'_>,
    method: &str,
    hooks: &Arc<Hooks>,
    slots: Vec<Slot>,
    sites: &Mutex<Vec<&'static Site>>,
) -> Result<&'static Site> {
    if INFO.set(cx.info().clone()).is_ok() {
        silence_where(is_closure);
    }
    let mut sites = lock(sites);
    let known = sites
        .iter()
        .find(|site| *site.layout.method == *method && site.layout.slots == slots);
    if let Some(known) = known {
        return Ok(known);
    }
    let layout: &'static Layout = Box::leak(Box::new(Layout::new(
        method,
        slots,
        cx.info().string_layout2()?,
        hooks.has_objects,
    )));
    let site: &'static Site = Box::leak(Box::new(Site {
        layout,
        entries: hooks.entries(layout),
        hooks: Arc::clone(hooks),
        has_state: hooks.has_state(),
    }));
    sites.push(site);
    Ok(site)
}
