use std::cell::RefCell;

use clr_profiler::prelude::*;
use clr_profiler::hooks::{CallHooksWithInfo, EnterCall};

thread_local! {
    static CALLS: RefCell<Vec<&'static EnterCall<'static, ()>>> = RefCell::default();
}

struct Hooks;

impl CallHooksWithInfo for Hooks {
    type Function = ();

    fn enter(&self, call: &EnterCall<'_, ()>) -> Result<()> {
        CALLS.with_borrow_mut(|calls| calls.push(call));
        Ok(())
    }
}

fn main() {}
