use clr_profiler::prelude::*;

fn sent(info: &ProfilerInfo) -> Result<()> {
    info.with_suspended_runtime(|suspended| {
        std::thread::scope(|scope| {
            scope.spawn(|| suspended.threads().is_ok());
        });
        Ok(())
    })
}

fn main() {}
