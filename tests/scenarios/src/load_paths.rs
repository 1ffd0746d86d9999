//! Profilers that are attached, that detach early, or that run next to others.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

use crate::flag_rules;

/// Logs how it was loaded and the program's methods that it sees.
///
/// The data for its start selects its behaviour: `fail`, `panic`, `cancel`, `flags` (try
/// all of them), or `early` (request events before the start is over).
pub(crate) struct Watches {
    /// Callbacks before `ProfilerAttachComplete`.
    before_complete: AtomicU32,
    complete: AtomicBool,
}

/// Whether `initialize_for_attach` is running.
static STARTING: AtomicBool = AtomicBool::new(false);

impl Watches {
    fn new() -> Self {
        Self {
            before_complete: AtomicU32::new(0),
            complete: AtomicBool::new(false),
        }
    }

    fn called(&self) {
        if STARTING.load(Ordering::SeqCst) {
            log::line("a callback before the start was over");
        }
        if !self.complete.load(Ordering::SeqCst) {
            self.before_complete.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[profiler(clsid = clsid("Watches"))]
impl Profiler for Watches {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        log::line("loaded at the start");
        Ok(Self::new())
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        let sum = client_data.iter().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u32::from(*byte))
        });
        log::line(format_args!("attached, {} bytes, {sum}", client_data.len()));
        match client_data {
            b"fail" => {
                // A thread that is not told about the failure.
                let info = info.clone();
                thread::spawn(move || log::line(format_args!("asked {:?}", ask(&info))));
                return Err(Error::other("the licence has run out"));
            }
            b"panic" => panic!("no such luck"),
            b"cancel" => return Err(Error::cancel_activation()),
            b"early" => {
                info.set_event_mask2(setup.events())?;
                STARTING.store(true, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(200));
                STARTING.store(false, Ordering::SeqCst);
            }
            b"flags" => flag_rules::compare("attaching", info, EventMask::empty())?,
            _ => {}
        }
        Ok(Self::new())
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        self.complete.store(true, Ordering::SeqCst);
        log::line(format_args!(
            "complete, {} modules or more, callbacks before {}",
            info.modules()?.take(2).count(),
            self.before_complete.load(Ordering::SeqCst) > 0
        ));
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.called();
        let name = info.method(function)?.full_name()?;
        if name.starts_with("Waits.") {
            log::line(format_args!("compiling {name}"));
        }
        Ok(())
    }

    fn exception_thrown(&self, _info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        self.called();
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("shutdown");
        Ok(())
    }
}

/// Requests events that are reserved for profilers loaded at startup.
pub(crate) struct WatchesAllocations;

#[profiler(clsid = clsid("WatchesAllocations"))]
impl Profiler for WatchesAllocations {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn object_allocated(
        &self,
        _info: &ProfilerInfo,
        _object: ObjectId<'_>,
        _class: ClassId,
    ) -> Result<()> {
        log::line("an allocation");
        Ok(())
    }
}

/// Detaches, from a thread of its own, at the third exception.
pub(crate) struct Detaches {
    thrown: AtomicU32,
}

impl Drop for Detaches {
    fn drop(&mut self) {
        log::line("dropped");
    }
}

/// Calls the runtime until it refuses, and continues until it has long deleted its side.
fn ask(info: &ProfilerInfo) -> Result<()> {
    let _ = info.initialize_current_thread();
    let question = || -> Result<usize> {
        info.runtime_information()?;
        Ok(info.modules()?.count())
    };
    while question().is_ok() {}
    let refused = Instant::now();
    let mut answer = Ok(0);
    while refused.elapsed() < Duration::from_secs(2) {
        answer = question();
        if answer.is_ok() {
            return Err(Error::other("answered after the end"));
        }
        thread::yield_now();
    }
    log::line(format_args!("at last {answer:?}"));
    Ok(())
}

#[profiler(clsid = clsid("Detaches"))]
impl Profiler for Detaches {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        let early = info.request_profiler_detach(Duration::ZERO);
        log::line(format_args!("early {early:?}"));
        Ok(Self {
            thrown: AtomicU32::new(0),
        })
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        for _ in 0..2 {
            let info = info.clone();
            thread::spawn(move || log::line(format_args!("asked {:?}", ask(&info))));
        }
        Ok(())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        if self.thrown.fetch_add(1, Ordering::SeqCst) == 2 {
            let info = info.clone();
            thread::spawn(move || {
                let answer = info.request_profiler_detach(Duration::from_millis(300));
                log::line(format_args!("detach {answer:?}"));
                let again = info.request_profiler_detach(Duration::from_millis(300));
                log::line(format_args!("again {again:?}"));
            });
        }
        Ok(())
    }

    fn profiler_detach_succeeded(&self, info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("detached, {:?}", info.modules().map(|_| ())));
        Ok(())
    }
}

/// Cannot detach, because its events are immutable, or because it has replaced IL.
pub(crate) struct CannotDetach {
    once: AtomicBool,
}

#[profiler(clsid = clsid("CannotDetach"))]
impl Profiler for CannotDetach {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        if std::env::var_os("SCENARIO_IMMUTABLE").is_some() {
            setup.add_events(EventMask::ENABLE_OBJECT_ALLOCATED);
        }
        Ok(Self {
            once: AtomicBool::new(false),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Waits.Program.Work0()" {
            let immutable = info
                .event_mask()?
                .contains(EventMask::ENABLE_OBJECT_ALLOCATED);
            if !immutable {
                method.set_il_body(&method.il_body()?)?;
            }
            let answer = info.request_profiler_detach(Duration::ZERO);
            log::line(format_args!("detach {answer:?}"));
            match answer {
                Err(error) => log::line(error),
                Ok(()) => log::line("accepted"),
            }
        }
        Ok(())
    }

    fn exception_thrown(&self, _info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        if !self.once.swap(true, Ordering::SeqCst) {
            log::line("still there");
        }
        Ok(())
    }
}

macro_rules! notification_profiler {
    (
        $(#[doc = $doc:literal])*
        #[profiler($($class:tt)*)] impl Profiler for $name:ident, $says:literal
    ) => {
        $(#[doc = $doc])*
        pub(crate) struct $name;

        #[profiler($($class)*)]
        impl Profiler for $name {
            fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
                setup.on_failure(|failure| log::line(failure));
                match std::env::var("SCENARIO_NOTIFIED").as_deref() {
                    Ok("rejit") => {
                        setup.add_events(EventMask::ENABLE_REJIT);
                    }
                    Ok("flags") => flag_rules::compare("notified", info, EventMask::empty())?,
                    _ => {}
                }
                log::line(concat!($says, " loaded"));
                Ok(Self)
            }

            fn load_as_notification_only() -> bool {
                true
            }

            fn jit_compilation_started(
                &self,
                info: &ProfilerInfo,
                function: FunctionId,
                _is_safe_to_block: bool,
            ) -> Result<()> {
                let method = info.method(function)?;
                let name = method.full_name()?;
                if name == "Waits.Program.Work0()" {
                    log::line(format_args!(concat!($says, " compiling {}"), name));
                    let answer = method.set_il_body(&method.il_body()?);
                    log::line(format_args!(concat!($says, " replaces {:?}"), answer));
                }
                Ok(())
            }

            fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
                log::line(concat!($says, " shutdown"));
                Ok(())
            }
        }
    };
}

notification_profiler! {
    /// A notification profiler.
    #[profiler(clsid = clsid("Notified"))]
    impl Profiler for Notified, "first"
}

notification_profiler! {
    /// Another notification profiler.
    #[profiler(clsid = clsid("NotifiedToo"))]
    impl Profiler for NotifiedToo, "second"
}
