use std::cell::RefCell;

use clr_profiler::prelude::*;
use clr_profiler::info::ObjectValue;
use clr_profiler::hooks::{CallHooksWithInfo, EnterCall};

thread_local! {
    static VALUES: RefCell<Vec<ObjectValue<'static>>> = RefCell::default();
}

struct Hooks;

impl CallHooksWithInfo for Hooks {
    type Function = ();

    fn enter(&self, call: &EnterCall<'_, ()>) -> Result<()> {
        let value = call.argument(0)?;
        VALUES.with_borrow_mut(|values| values.push(value));
        Ok(())
    }
}

fn main() {}
