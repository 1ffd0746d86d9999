use std::cell::Cell;
use std::rc::Rc;

use clr_profiler::prelude::*;

fn hooks(setup: &mut Setup) {
    let failures = Rc::new(Cell::new(0));
    setup.on_failure(move |_| failures.set(failures.get() + 1));
}

fn main() {}
