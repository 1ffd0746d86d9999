//! A profiler whose every part panics when it is dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use scenario_support::clsid;

use crate::told;

/// Panics when it is dropped.
struct Part(&'static str);

impl Drop for Part {
    fn drop(&mut self) {
        told(format_args!("dropped {}", self.0));
        panic!("dropped {}", self.0);
    }
}

#[component]
impl Component for Part {}

pub(crate) struct PanicsInDrops {
    _part: Part,
    has_asked: AtomicBool,
}

#[profiler(clsid = clsid("PanicsInDrops"))]
impl Profiler for PanicsInDrops {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.attach(Part("one"))?;
        setup.attach(Part("two"))?;
        let hook = Part("the hook");
        setup.on_failure(move |_| _ = &hook);
        if std::env::var_os("SCENARIO_FAILS").is_some() {
            return Err(Error::other("as asked for"));
        }
        Ok(Self {
            _part: Part("the profiler"),
            has_asked: AtomicBool::new(false),
        })
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        _function: FunctionId,
        _is_safe_to_block: bool,
        _il: &[u8],
    ) -> Result<()> {
        if !self.has_asked.swap(true, Ordering::SeqCst) {
            let info = info.clone();
            thread::spawn(move || {
                while info.request_profiler_detach(Duration::ZERO).is_err() {
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
        Ok(())
    }
}
