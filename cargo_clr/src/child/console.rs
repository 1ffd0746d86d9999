//! Requests to end on Windows: the keys Ctrl-C and Ctrl-Break, and a console that is closed.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, PHANDLER_ROUTINE, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

use crate::outcome::{Failure, Result};

static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the user has asked this command to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupts(());

impl Interrupts {
    #[expect(clippy::unused_self, reason = "the handler is installed")]
    pub(crate) fn is_requested(self) -> bool {
        IS_REQUESTED.load(Ordering::Relaxed)
    }
}

/// Notices requests to end, instead of ending.
pub(crate) fn interrupts() -> Result<Interrupts> {
    install(Some(note))?;
    Ok(Interrupts(()))
}

/// Does not end by keys: the program of the same console gets them, too.
pub(super) fn leave_to_others() -> Result<()> {
    install(Some(ignore))
}

fn install(handler: PHANDLER_ROUTINE) -> Result<()> {
    // SAFETY: the handler is a function of this program, which may be called on a thread of its own.
    match unsafe { SetConsoleCtrlHandler(handler, 1) } {
        0 => Err(Failure::new(format!(
            "Keys cannot be handled: {}.",
            io::Error::last_os_error()
        ))),
        _ => Ok(()),
    }
}

unsafe extern "system" fn note(event: u32) -> BOOL {
    IS_REQUESTED.store(true, Ordering::Relaxed);
    if !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        // The system ends the process when this function returns, or some seconds later: the results are told before.
        thread::sleep(Duration::from_secs(60));
    }
    1
}

unsafe extern "system" fn ignore(event: u32) -> BOOL {
    i32::from(matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT))
}
