//! The thread-local pointer to the state of a thread.

use super::thread::Thread;
use crate::thread_pointer::thread_pointer;

thread_pointer!("clr_profiler_tools_calls_thread", Thread);
