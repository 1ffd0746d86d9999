//! Methods and modules without a file, and unloads.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::info::ModuleFlags;
use clr_profiler::metadata::AnySignature;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NewType;
use scenario_support::{clsid, log};

/// Logs the events of `Dynamic`, and makes calls when its threads get names.
#[derive(Default)]
pub(crate) struct Dynamics {
    /// Loaded modules, assemblies and types by id: unloaded ones have no name.
    names: Mutex<BTreeMap<usize, String>>,
    made: Mutex<Option<FunctionId>>,
    /// The method of the module that is built at run time.
    built: Mutex<Option<(ModuleId, MethodDef)>>,
}

impl Dynamics {
    fn names(&self) -> MutexGuard<'_, BTreeMap<usize, String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn made(&self) -> MutexGuard<'_, Option<FunctionId>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unloading(&self, what: &str, id: usize) {
        if let Some(name) = self.names().get(&id) {
            log::line(format_args!("unload {what} {name}"));
        }
    }

    fn unloaded(&self, what: &str, id: usize, status: Hresult) {
        if let Some(name) = self.names().remove(&id) {
            log::line(format_args!("unloaded {what} {name} {status}"));
        }
    }
}

#[profiler(clsid = clsid("Dynamics"))]
impl Profiler for Dynamics {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::ENABLE_REJIT);
        Ok(Self::default())
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
        il: &[u8],
    ) -> Result<()> {
        let facts = info.dynamic_function_info(function)?;
        if facts.name == "TwiceAdded" {
            *self.made() = Some(function);
            log::line(format_args!(
                "compiling {} {:x?} {:x?}, dynamic {}, module {}",
                facts.name,
                facts.signature,
                il,
                info.is_function_dynamic(function)?,
                facts.module.is_some()
            ));
            match info.function_info(function) {
                Ok(facts) => log::line(format_args!("{:?} {}", facts.token, facts.class.is_some())),
                Err(error) => log::line(error),
            }
        }
        Ok(())
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if *self.made() == Some(function) {
            let code = info.code_info(function)?;
            let (owner, _) = info.function_from_ip3(code.start)?;
            log::line(format_args!(
                "compiled {status}, found by its code {} {}",
                owner == function,
                info.function_from_ip(code.start).is_err()
            ));
        }
        Ok(())
    }

    fn dynamic_method_unloaded(&self, _info: &ProfilerInfo, function: FunctionId) -> Result<()> {
        let mut made = self.made();
        if *made == Some(function) {
            *made = None;
            log::line("gone TwiceAdded");
        }
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? == "Built" {
            let (_, flags) = info.module_info2(method.module())?;
            log::line(format_args!(
                "compiling {}, dynamic {}, of a module that is built {}",
                method.full_name()?,
                info.is_function_dynamic(function)?,
                flags.contains(ModuleFlags::DYNAMIC)
            ));
            let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
            *built = Some((method.module(), method.token()));
        }
        Ok(())
    }

    fn module_attached_to_assembly(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        assembly: AssemblyId,
    ) -> Result<()> {
        let facts = info.assembly_info(assembly)?;
        if facts.name == "Dynamic" {
            let (_, flags) = info.module_info2(module)?;
            if flags.contains(ModuleFlags::COLLECTIBLE) {
                log::line("attached a module that can go");
                self.names().insert(module.raw(), facts.name.clone());
                self.names().insert(assembly.raw(), facts.name);
            }
        }
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        _status: Hresult,
    ) -> Result<()> {
        let Some(module) = info.class_id_info2(class)?.module else {
            return Ok(());
        };
        if self.names().contains_key(&module.raw()) {
            let token = info.class_id_info2(class)?.token;
            let name = info.module_metadata(module)?.type_def_props(token)?.name;
            self.names().insert(class.raw(), name);
        }
        Ok(())
    }

    fn class_unload_started(&self, _info: &ProfilerInfo, class: ClassId) -> Result<()> {
        self.unloading("class", class.raw());
        Ok(())
    }

    fn class_unload_finished(
        &self,
        _info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        self.unloaded("class", class.raw(), status);
        Ok(())
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        if self.names().contains_key(&module.raw()) {
            match info.module_metadata(module) {
                Ok(_) => log::line("its metadata is still there"),
                Err(error) => log::line(error),
            }
        }
        self.unloading("module", module.raw());
        Ok(())
    }

    fn module_unload_finished(
        &self,
        _info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        self.unloaded("module", module.raw(), status);
        Ok(())
    }

    fn assembly_unload_started(&self, _info: &ProfilerInfo, assembly: AssemblyId) -> Result<()> {
        self.unloading("assembly", assembly.raw());
        Ok(())
    }

    fn assembly_unload_finished(
        &self,
        _info: &ProfilerInfo,
        assembly: AssemblyId,
        status: Hresult,
    ) -> Result<()> {
        self.unloaded("assembly", assembly.raw(), status);
        Ok(())
    }

    fn module_in_memory_symbols_updated(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
    ) -> Result<()> {
        let facts = info.module_info(module)?;
        log::line(format_args!("symbols announced, path {:?}", facts.name));
        Ok(())
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _method: MethodDef,
        function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!(
            "rejit: {status}, function {}",
            function.is_some()
        ));
        Ok(())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        match name {
            "built" => {
                let method = *self.built.lock().unwrap_or_else(PoisonError::into_inner);
                built(
                    info,
                    method.ok_or_else(|| Error::other("nothing was built"))?,
                )
            }
            "symbols" => symbols(info),
            _ => Ok(()),
        }
    }
}

/// Makes calls about the module that is built at run time, and requests a ReJIT of a method of it.
fn built(info: &ProfilerInfo, method: (ModuleId, MethodDef)) -> Result<()> {
    let (facts, _) = info.module_info2(method.0)?;
    log::line(format_args!("built {:?}", facts.base_address));
    if let Err(error) = info.in_memory_symbols_length(method.0) {
        log::line(error);
    }
    if let Err(error) = info.read_in_memory_symbols(method.0, 0, &mut [0; 4]) {
        log::line(error);
    }
    log::line(format_args!(
        "IL {:x?}",
        info.il_function_body(method.0, method.1)?
    ));
    let metadata = info.module_metadata(method.0)?;
    let shape = metadata.find_type_def_by_name("Shape", None)?;
    let area = metadata.find_method(Some(shape), "Area", AnySignature)?;
    if let Err(error) = info.il_function_body(method.0, area) {
        log::line(error);
    }
    let added = info.define_type(method.0, "Added", NewType::Static, |_| Ok(()));
    let added = added.map_err(|error| error.hresult());
    log::line(format_args!("defined {added:?}"));
    let class = info
        .module_metadata(method.0)?
        .method_props(method.1)?
        .class;
    let extended = info.extend_type(method.0, class, |_| Ok(()));
    let extended = extended.map_err(|error| error.hresult());
    log::line(format_args!("extended {extended:?}"));
    let info = info.clone();
    let worker = thread::spawn(move || {
        info.initialize_current_thread()?;
        info.request_rejit(&[method])
    });
    match worker.join() {
        Ok(outcome) => log::line(format_args!("requested {outcome:?}")),
        Err(_) => log::line("the worker panicked"),
    }
    Ok(())
}

/// Reads the symbols that modules have in memory.
fn symbols(info: &ProfilerInfo) -> Result<()> {
    let mut without = 0;
    for module in info.modules()? {
        let module = module?;
        let (_, flags) = info.module_info2(module)?;
        if flags.contains(ModuleFlags::DYNAMIC) {
            continue;
        }
        let length = info.in_memory_symbols_length(module)?;
        if length == 0 {
            without += 1;
            if without == 1
                && let Err(error) = info.read_in_memory_symbols(module, 0, &mut [0; 4])
            {
                log::line(format_args!("without: {error}"));
            }
            continue;
        }
        let all = info.in_memory_symbols(module)?;
        let given: Vec<u8> = (0..300u32).map(|number| number as u8).collect();
        let mut part = [0; 4];
        let read = info.read_in_memory_symbols(module, 298, &mut part)?;
        log::line(format_args!(
            "symbols {length}, as given {}, the end {read} {:?}, on disk {}",
            all == given,
            part.get(..read),
            flags.contains(ModuleFlags::DISK)
        ));
        if let Err(error) = info.read_in_memory_symbols(module, 301, &mut part) {
            log::line(format_args!("after: {error}"));
        }
    }
    log::line(format_args!("without symbols {}", without > 2));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Dynamics;

    const DYNAMIC: &str = "failed with CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A): the module is \
     built at run time and has no file layout";
    const INVALID: &str = "ICorProfilerInfo7::ReadInMemorySymbols failed with E_INVALIDARG (0x80070057): \
     an id or a token that this runtime does not know, or flags that do not go together";

    /// The events of one load context, from its module's load to its assembly's unload.
    fn unloaded<'line>(tells_beginning: bool) -> impl Iterator<Item = &'line str> {
        [
            "attached a module that can go",
            "unload assembly Dynamic",
            "its metadata is still there",
            "unload module Dynamic",
            // Only types that were used are loaded.
            "unload class Dynamic.Guest",
            "unloaded class Dynamic.Guest S_OK (0x00000000)",
            "unloaded module Dynamic S_OK (0x00000000)",
            "unloaded assembly Dynamic S_OK (0x00000000)",
        ]
        .into_iter()
        .filter(move |line| tells_beginning || *line != "unload assembly Dynamic")
    }

    #[test]
    fn what_no_file_holds_is_told_and_goes_again() {
        let scenario = Scenario::new("Dynamic")
            .profiled_by::<Dynamics>()
            .env("COMPlus_TieredCompilation", "0");
        scenario.on_each_runtime(|runtime, profiled| {
        let output = (Some(10), "made 42\nbuilt 7\nagain 5\nunloaded 3\n", "");
        assert_eq!(profiled.output(), output, "{}", profiled.log);
        let length = format!("ICorProfilerInfo7::GetInMemorySymbolsLength {DYNAMIC}");
        let read = format!("ICorProfilerInfo7::ReadInMemorySymbols {DYNAMIC}");
        let (without, after) = (format!("without: {INVALID}"), format!("after: {INVALID}"));
        let mut expected = vec![
            // A static method of a number and a string that returns a number; ldarg.0, dup, add, ret.
            "compiling TwiceAdded [0, 2, 8, 8, e, 0] [2, 25, 58, 2a], dynamic true, module true",
            // A token without a method.
            "MethodDef(0x06000000) true",
            "compiled S_OK (0x00000000), found by its code true true",
            "gone TwiceAdded",
            "compiling Sums.Add(int, int), dynamic false, of a module that is built true",
            "built None",
            &length,
            &read,
            // A fat header, and ldarg.0, ldarg.1, add, ret.
            "IL [13, 30, 2, 0, 4, 0, 0, 0, 1, 0, 0, 11, 2, 3, 58, 2a]",
            "ICorProfilerInfo::GetILFunctionBody was not called: 0x06000001 has no IL yet, in a module that the \
             program builds while it runs",
            "defined Err(CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A))",
            "extended Err(CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A))",
            // The request is accepted; the problem with the method is reported by a callback.
            "rejit: CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A), function false",
            "requested Ok(())",
            // Loaded from memory: without a path, the name is used instead.
            "symbols announced, path \"Dynamic.dll\"",
            &without,
            "symbols 300, as given true, the end 2 Some([42, 43]), on disk false",
            &after,
            "without symbols true",
        ];
        for _ in 0..3 {
            expected.extend(unloaded(runtime.major >= 5));
        }
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines, expected);
    });
    }
}
