//! Modules are opened for writing when they are loaded.
//!
//! The first time that a module is opened for writing, the runtime replaces the tables of its metadata and frees the old ones. A
//! thread that reads a row at that moment, to compile or to find a method, reads freed memory: programs crash. Only a module that
//! has just been loaded is used by no other thread.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::hot_reload::refuse_hot_reload;
use super::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags, is_framework};
use crate::error::Result;
use crate::ids::ModuleId;
use crate::metadata::MetadataWriter;
use crate::runtime::{ProfilerInfo, lock};

/// The modules that are open for writing, and those of which later ones are expected to be.
#[derive(Debug, Default)]
struct Written {
    modules: Mutex<HashSet<ModuleId>>,
    /// Some of the program, or of its libraries.
    program: AtomicBool,
    /// Some of .NET.
    framework: AtomicBool,
    /// The names of helpers, which are neither.
    helpers: Mutex<HashSet<String>>,
    has_helpers: AtomicBool,
}

/// Opens a module for writing, if it is not open. Its rows stay as they are.
pub(crate) fn prepare(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let written = info.extension::<Written>();
    if lock(&written.modules).contains(&module) {
        return Ok(());
    }
    refuse_hot_reload(info, "ICorProfilerInfo::GetModuleMetaData", module)?;
    MetadataWriter::of_module(info, module)?;
    lock(&written.modules).insert(module);
    Ok(())
}

/// Opens a module that has just been loaded, if others of its kind were opened.
pub(crate) fn prepare_expected(info: &ProfilerInfo, module: ModuleId) {
    let written = info.extension::<Written>();
    let program = written.program.load(Ordering::Relaxed);
    let framework = written.framework.load(Ordering::Relaxed);
    let has_helpers = written.has_helpers.load(Ordering::Relaxed);
    if !program && !framework && !has_helpers {
        return;
    }
    let is_expected = match kind(info, module) {
        Some(Kind::Helper) => true,
        Some(Kind::Framework) => framework,
        Some(Kind::Program) => program,
        None => false,
    };
    if is_expected {
        // Whoever writes to it gets the error.
        let _ = prepare(info, module);
    }
}

/// A module is open for writing. If it was not prepared, others of its kind will be opened when they are loaded.
pub(crate) fn is_written(info: &ProfilerInfo, module: ModuleId) {
    let written = info.extension::<Written>();
    if !lock(&written.modules).insert(module) {
        return;
    }
    let of_kind = match kind(info, module) {
        Some(Kind::Framework) => &written.framework,
        Some(Kind::Program) => &written.program,
        Some(Kind::Helper) | None => return,
    };
    of_kind.store(true, Ordering::Relaxed);
}

enum Kind {
    Helper,
    Program,
    Framework,
}

/// Nothing for modules that the program itself writes to, and for those without metadata.
fn kind(info: &ProfilerInfo, module: ModuleId) -> Option<Kind> {
    let (facts, flags) = info.module_info2(module).ok()?;
    if flags.contains(ModuleFlags::DYNAMIC) || flags.contains(ModuleFlags::RESOURCE) {
        return None;
    }
    let assembly = info.assembly_info(facts.assembly?).ok()?;
    if lock(&info.extension::<Written>().helpers).contains(&assembly.name) {
        return Some(Kind::Helper);
    }
    Some(match is_framework(&assembly.name) {
        true => Kind::Framework,
        false => Kind::Program,
    })
}

/// The program will load a helper, whose methods are written to.
pub(crate) fn expect_helper(info: &ProfilerInfo, name: &str) {
    let written = info.extension::<Written>();
    lock(&written.helpers).insert(name.to_owned());
    written.has_helpers.store(true, Ordering::Relaxed);
}

/// Modules of the program will be written to.
pub(crate) fn expect(info: &ProfilerInfo) {
    let written = info.extension::<Written>();
    written.program.store(true, Ordering::Relaxed);
}

/// The id may be that of another module later.
pub(crate) fn module_goes(info: &ProfilerInfo, module: ModuleId) {
    lock(&info.extension::<Written>().modules).remove(&module);
}
