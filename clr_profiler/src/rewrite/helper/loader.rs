//! The code that loads a helper when a module of the program begins to run.

use super::HelperAssembly;
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, ProfilerInfo};
use crate::metadata::{MetadataEmitMembers, MetadataImportMembers};
use crate::rewrite::subject::Subject;
use crate::rewrite::{edited, keep_seeing_unloads};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The type that holds what stands outside of types: `<Module>`.
const GLOBALS: u32 = 1;
/// What a compiler gives a static constructor: private, hides by signature, special names.
const ATTRIBUTES: u32 = 0x0001 | 0x0010 | 0x0080 | 0x0800 | 0x1000;
/// A body that is nothing but `ret`.
const EMPTY: [u8; 2] = [0x06, 0x2a];

/// Puts code that loads the helper before all else that a module does.
pub(super) fn load_into(
    helper: &HelperAssembly,
    info: &ProfilerInfo,
    module: ModuleId,
) -> Result<()> {
    let path = helper.path().to_str().ok_or_else(|| {
        Error::other(format!(
            "the path of the helper, {}, is no Unicode, and so cannot stand in IL",
            helper.path().display()
        ))
    })?;
    keep_seeing_unloads(info)?;
    let (initializer, before) = initializer(info, module)?;
    let subject = Subject::new(info, module, initializer)?;
    let remembered = info.rewrites().module(module);
    let load = load(path);
    let body = MethodBody::decode(&before).map_err(Error::other)?;
    let new = edited(&subject, &remembered, body, &before, |body, _| {
        body.prologue(&load).map_err(Error::from)
    })?;
    info.set_il_function_body(module, initializer, &new.bytes)
}

/// The module's initialiser and its body. One that is not there is added.
fn initializer(info: &ProfilerInfo, module: ModuleId) -> Result<(MethodDef, Vec<u8>)> {
    const NAME: &str = ".cctor";
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let globals = TypeDef::from_row(GLOBALS);
    let metadata = info.module_metadata(module)?;
    if let Ok(method) = metadata.find_method(globals, NAME, &signature) {
        let body = info.il_function_body(module, method)?;
        return Ok((method, body));
    }
    drop(metadata);
    let writer = info.module_metadata_for_writing(module)?;
    let method = writer.define_method(globals, NAME, ATTRIBUTES, &signature, 0, 0)?;
    Ok((method, EMPTY.to_vec()))
}

/// A helper that cannot be loaded must not keep the program from running.
fn load(path: &str) -> Fragment {
    let load = MethodSymbol::new(
        "[corelib]System.Reflection.Assembly",
        "LoadFrom",
        "class [corelib]System.Reflection.Assembly (string)",
    );
    let mut code = Fragment::new();
    code.try_block(|code| {
        code.ldstr(path).call(&load).pop();
    })
    .catch("[corelib]System.Exception", |code| {
        code.pop();
    })
    .end();
    code
}
