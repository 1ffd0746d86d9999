use clr_profiler::prelude::*;

fn sent(info: &ProfilerInfo) -> Result<()> {
    let modules = info.modules()?;
    std::thread::spawn(move || modules.count());
    Ok(())
}

fn main() {}
