//! The uses of borrowed arguments, and of values that a profiler may keep.

use std::sync::Mutex;

use clr_profiler::prelude::*;

struct Mine {
    info: ProfilerInfo,
    modules: Mutex<Vec<ModuleId>>,
}

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(info: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
        Ok(Self {
            info: info.clone(),
            modules: Mutex::default(),
        })
    }

    // Ids of things outside of the heap may be kept, and names as well.
    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        self.modules
            .lock()
            .map_err(|_| Error::other("poisoned"))?
            .push(module);
        let name: String = info.module_info(module)?.name;
        let info = info.clone();
        std::thread::spawn(move || (name, info.module_info(module).is_ok()));
        Ok(())
    }

    // An object may be passed on within its callback.
    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let objects = [thrown];
        let classes = objects.map(|object| info.class_from_object(object));
        // The values read from it may be sent to other threads.
        std::thread::scope(|scope| {
            scope.spawn(|| classes.map(|class| class.is_ok()));
        });
        self.info.class_from_object(thrown)?;
        Ok(())
    }
}

register!(Mine);
