use clr_profiler::prelude::*;

struct Mine {
    threads: u32,
}

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self { threads: 0 })
    }

    fn thread_created(&mut self, _info: &ProfilerInfo, _thread: ThreadId) -> Result<()> {
        self.threads += 1;
        Ok(())
    }
}

register!(Mine);

fn main() {}
