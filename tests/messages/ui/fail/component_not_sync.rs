use std::cell::Cell;

use clr_profiler::prelude::*;

struct Counts(Cell<u32>);

#[component]
impl Component for Counts {
    fn thread_created(&self, _info: &ProfilerInfo, _thread: ThreadId) -> Result<()> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

fn main() {}
