//! Writes results before the user ends the program: by Ctrl-C or Ctrl-Break, or by closing its console.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
use windows_sys::core::BOOL;

use super::moments::{Request, request};
use crate::report::{Moment, When, lock};

/// The channel to the writer, and how long the end of the program waits for it.
static WRITER: Mutex<Option<(Sender<Request>, Duration)>> = Mutex::new(None);

/// Has results written before the system, or another handler, ends the program. The last report counts.
pub(super) fn watch(requests: Sender<Request>, when: When) -> io::Result<()> {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    *lock(&WRITER) = Some((requests, when.patience));
    // SAFETY: the handler is a function of this library, which stays loaded, and may be called on a thread of its own.
    let install = || unsafe { SetConsoleCtrlHandler(Some(handle), 1) != 0 };
    match IS_INSTALLED.get_or_init(install) {
        true => Ok(()),
        false => Err(io::Error::other(
            "the keys that end the program cannot be handled",
        )),
    }
}

/// Is called on a thread that the system makes for it.
unsafe extern "system" fn handle(_event: u32) -> BOOL {
    let writer = lock(&WRITER).clone();
    if let Some((requests, patience)) = writer {
        // If it takes too long, the results are those of the last write.
        let _ = request(&requests, Moment::Signal).recv_timeout(patience);
    }
    // The next handler decides.
    0
}
