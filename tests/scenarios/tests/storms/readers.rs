//! Threads that ask about modules while they are unloaded.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clr_profiler::prelude::*;

use super::{Shared, count, lock};

/// More than processors: a thread is often interrupted in the middle of a call, and then an unload has to wait for it.
const READERS: usize = 16;

/// Asks about the newest modules and methods until it is over. The answers differ.
pub(super) fn start(shared: &Arc<Shared>, info: &ProfilerInfo) -> Vec<JoinHandle<()>> {
    let start = |index| {
        let (shared, info) = (Arc::clone(shared), info.clone());
        thread::spawn(move || read(&shared, &info, index))
    };
    (0..READERS).map(start).collect()
}

fn read(shared: &Shared, info: &ProfilerInfo, index: usize) {
    while !shared.is_over.load(Ordering::Acquire) {
        let newest = {
            let methods = lock(&shared.methods);
            methods.iter().rev().nth(index % 4).copied()
        };
        let Some((module, method, function)) = newest else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        for _ in 0..50 {
            let body = info.method(function).and_then(|method| method.il_body());
            let named = info.module_info(module).map(|module| module.name);
            let props = info
                .module_metadata(module)
                .and_then(|metadata| metadata.method_props(method));
            if body.is_err() || named.is_err() || props.is_err() {
                count(&shared.counts.refused);
                break;
            }
            count(&shared.counts.reads);
        }
        // Time for the program.
        thread::sleep(Duration::from_micros(300));
    }
}
