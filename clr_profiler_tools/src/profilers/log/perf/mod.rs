//! The names of compiled code, for perf and others that sample from outside: a perf map, and a jitdump.

mod code;
mod dump;
mod map;
// A mapping and a clock of the system.
#[allow(unsafe_code)]
mod system;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::report::{Settings, lock};
use clr_profiler::info::CodeRange;
use clr_profiler::prelude::*;
use clr_profiler::{Component, component};

use code::Codes;
use dump::JitDump;
use map::PerfMap;

/// How long the runtime may take to tell the address of precompiled code that it has found, in nanoseconds.
const PATIENCE: u64 = 5_000_000_000;

/// Names all code that is compiled while it is attached, whatever tier, and precompiled code that is used for the first time.
pub(crate) struct PerfNames {
    /// To a running program.
    is_attached: bool,
    state: Mutex<State>,
}

struct State {
    codes: Codes,
    map: Option<PerfMap>,
    dump: Option<JitDump>,
    /// Functions whose precompiled code was found, each with the time of that. The runtime tells its address later.
    found: Vec<(FunctionId, u64)>,
}

impl PerfNames {
    /// Attaches it for `JIT_LOGGER_PERF_MAP`, which is anything, and `JIT_LOGGER_JITDUMP`, which is a folder.
    pub(crate) fn attach(setup: &mut Setup, settings: &Settings) -> Result<Option<Arc<Self>>> {
        let map = settings.is_set("JIT_LOGGER_PERF_MAP").then(PerfMap::create);
        let folder = settings.get("JIT_LOGGER_JITDUMP").map(PathBuf::from);
        let dump = folder.map(|folder| JitDump::create(&folder));
        let (map, dump) = (map.transpose()?, dump.transpose()?);
        if map.is_none() && dump.is_none() {
            return Ok(None);
        }
        let names = setup.attach(Self {
            is_attached: settings.is_attached(),
            state: Mutex::new(State {
                codes: Codes::default(),
                map,
                dump,
                found: Vec::new(),
            }),
        })?;
        Ok(Some(names))
    }

    /// Writes the names that were not written so far.
    pub(crate) fn write(&self, info: &ProfilerInfo) -> std::io::Result<()> {
        self.find(info);
        let mut state = lock(&self.state);
        let State {
            codes, map, dump, ..
        } = &mut *state;
        let written = map.as_mut().map_or(Ok(()), |map| map.write(codes));
        dump.as_mut().map_or(Ok(()), JitDump::write)?;
        written
    }

    /// Ends the files, and says where they are.
    pub(crate) fn end(&self) -> std::io::Result<Vec<String>> {
        let mut state = lock(&self.state);
        let named = state.codes.named();
        let mut said = Vec::new();
        if let Some(map) = &mut state.map {
            said.push(format!(
                "{named} pieces of code are named in `{}`",
                map.path().display()
            ));
        }
        if let Some(dump) = &mut state.dump {
            dump.end()?;
            said.push(format!(
                "{named} pieces of code are in `{}`",
                dump.path().display()
            ));
        }
        Ok(said)
    }

    /// Adds the code of a function, and returns whether there is some.
    fn add(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        at: u64,
    ) -> Result<bool> {
        let starts = info.native_code_start_addresses(function, rejit)?;
        let ranges = starts
            .into_iter()
            // The code can be that of a method that is just being unloaded.
            .flat_map(|start| info.code_info4(start).unwrap_or_default());
        let ranges: Vec<CodeRange> = ranges.collect();
        if ranges.is_empty() {
            return Ok(false);
        }
        // It is compiled, even if its name is not available.
        let name = info.method(function).and_then(|method| method.full_name());
        let name = name.unwrap_or_else(|_| "[unknown method]".to_owned());
        self.add_ranges(&name, &ranges, at);
        Ok(true)
    }

    fn add_ranges(&self, name: &str, ranges: &[CodeRange], at: u64) {
        let mut state = lock(&self.state);
        let State {
            codes, map, dump, ..
        } = &mut *state;
        for range in ranges {
            if !codes.add(range.start, range.size, name) {
                continue;
            }
            if let Some(map) = map {
                map.add(range.start, range.size, name);
            }
            if let Some(dump) = dump {
                dump.add(range.start, range.size, name, at);
            }
        }
    }

    /// Names the precompiled code that was found.
    fn find(&self, info: &ProfilerInfo) {
        let found = std::mem::take(&mut lock(&self.state).found);
        let now = system::now();
        let later = found.into_iter().filter(|(function, at)| {
            // An error is that of a module that is gone.
            let has_code = self
                .add(info, *function, RejitId::ORIGINAL, *at)
                .unwrap_or(true);
            !has_code && now.saturating_sub(*at) < PATIENCE
        });
        let later: Vec<(FunctionId, u64)> = later.collect();
        lock(&self.state).found.extend(later);
    }
}

#[component]
impl Component for PerfNames {
    fn events(&self) -> EventMask {
        let events = self.callbacks().events();
        match self.is_attached {
            // The first is not granted to a profiler that is attached, and with the other one it could not be detached.
            true => events - (EventMask::MONITOR_CACHE_SEARCHES | EventMask::ENABLE_REJIT),
            false => events,
        }
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.add(info, function, RejitId::ORIGINAL, system::now())?;
        Ok(())
    }

    fn rejit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        rejit: RejitId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.add(info, function, rejit, system::now())?;
        Ok(())
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let name = info.dynamic_function_info(function)?.name;
        let ranges = info.code_info2(function)?;
        self.add_ranges(&format!("[dynamic] {name}"), &ranges, system::now());
        Ok(())
    }

    fn jit_cached_function_search_finished(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
        result: JitCacheResult,
    ) -> Result<()> {
        if result == JitCacheResult::Found {
            lock(&self.state).found.push((function, system::now()));
        }
        Ok(())
    }

    fn module_unload_started(&self, info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.find(info);
        Ok(())
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        for function in info.jitted_functions2()? {
            let (function, rejit) = function?;
            // One that is being unloaded.
            let _ = self.add(info, function, rejit, system::now());
        }
        Ok(())
    }
}
