use clr_profiler::prelude::*;

/// A fake for the tests of a profiler.
struct Fake;

impl CorProfilerInfo for Fake {
    fn force_gc(&self) -> Result<()> {
        Ok(())
    }
}

fn main() {}
