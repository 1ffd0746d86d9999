use std::sync::Mutex;

use clr_profiler::prelude::*;

struct Mine(Mutex<Vec<ObjectId<'static>>>);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self(Mutex::default()))
    }

    fn exception_thrown(&self, _info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        self.0.lock().unwrap().push(thrown);
        Ok(())
    }
}

register!(Mine);

fn main() {}
