//! A program that this command starts and waits for, and signals meanwhile.

#[cfg(windows)]
mod console;

use std::process::Command;
#[cfg(unix)]
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::outcome::{Failure, Result};

/// Runs the program to its end, and returns its exit code: 128 and the number of the signal that has ended it.
///
/// The keys that interrupt a program reach it by the terminal. Other requests to end, which reach this process alone,
/// are passed on.
pub(crate) fn run(mut command: Command) -> Result<i32> {
    #[cfg(unix)]
    let signals = {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])
            .map_err(|error| Failure::new(format!("Signals cannot be handled: {error}.")))?
    };
    #[cfg(windows)]
    console::leave_to_others()?;
    let mut child = command.spawn().map_err(|source| {
        Failure::from(clr_profiler_launcher::Error::Start {
            path: command.get_program().into(),
            source,
        })
    })?;
    #[cfg(unix)]
    pass_on(signals, child.id());
    let status = child
        .wait()
        .map_err(|error| Failure::new(format!("The program cannot be waited for: {error}.")))?;
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return Ok(128 + signal);
        }
    }
    Ok(status.code().unwrap_or(i32::from(Failure::FAILED)))
}

#[cfg(unix)]
fn pass_on(mut signals: signal_hook::iterator::Signals, process: u32) {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    // It ends with this process.
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if matches!(signal, SIGHUP | SIGTERM) {
                crate::process::signal(process, signal);
            }
        }
    });
}

#[cfg(windows)]
pub(crate) use console::interrupts;

/// Whether the user has asked this command to end.
#[cfg(unix)]
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts(Arc<AtomicBool>);

#[cfg(unix)]
impl Interrupts {
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Notices requests to end, instead of ending.
#[cfg(unix)]
pub(crate) fn interrupts() -> Result<Interrupts> {
    let interrupts = Interrupts::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupts.0))
            .map_err(|error| Failure::new(format!("Signals cannot be handled: {error}.")))?;
    }
    Ok(interrupts)
}
