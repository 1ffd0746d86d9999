use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        std::thread::scope(|scope| {
            scope.spawn(|| info.class_from_object(thrown));
        });
        Ok(())
    }

    fn root_references2(&self, gc: &GcScope, roots: Roots<'_>) -> Result<()> {
        std::thread::scope(|scope| {
            scope.spawn(move || roots.iter().count());
            scope.spawn(|| gc.version());
        });
        Ok(())
    }
}

register!(Mine);

fn main() {}
