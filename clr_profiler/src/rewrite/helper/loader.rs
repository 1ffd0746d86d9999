//! The code that loads a helper before other code of a module runs.

use super::HelperAssembly;
use super::progress::Progress;
use crate::error::{Error, OptionalExt, Result};
use crate::ids::ModuleId;
use crate::info::{BodyMemory, CorProfilerInfo};
use crate::metadata::{MetadataEmit, MetadataImport, MethodProps};
use crate::rewrite::scope::Scope;
use crate::rewrite::store::store;
use crate::rewrite::subject::Subject;
use crate::rewrite::{Memory, RewriteContext, address, edited};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::attributes::{MemberAccess, MethodAttributes, MethodImplAttributes};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::declaration::SPECIAL;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::metadata::Tables;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The row of the type that holds global methods and fields: `<Module>`.
const GLOBALS: u32 = 1;
/// The attributes of a static constructor, as compilers set them.
const ATTRIBUTES: MethodAttributes = SPECIAL
    .union(MethodAttributes::STATIC)
    .union(MethodAttributes::HIDE_BY_SIG)
    .with_access(MemberAccess::Private);
/// A body that is only `ret`.
const EMPTY: [u8; 2] = [0x06, 0x2a];

/// Inserts code that loads the helper before any other code of a module.
pub(super) fn load_into(
    helper: &HelperAssembly,
    info: &ProfilerInfo,
    module: ModuleId,
) -> Result<()> {
    let path = helper.path().to_str().ok_or_else(|| {
        Error::other(format!(
            "the path of the helper, {}, is no Unicode, and so cannot be a string in IL",
            helper.path().display()
        ))
    })?;
    if Scope::open(info, module)?.is_core_library() {
        return Err(Error::other(
            "the core library cannot load a helper, for loading one needs all of it: its methods can \
             call functions of the profiler instead (RewriteContext::call_native)",
        ));
    }
    const NAME: &str = ".cctor";
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let no_type = || Error::other("row 1 is no row");
    let globals = TypeDef::from_row(GLOBALS).ok_or_else(no_type)?;
    let metadata = info.module_metadata(module)?;
    let reserve = |initializer: MethodDef| {
        let slot = store(info).module(module).method(initializer);
        slot.reserve(NotInstrumentable::LoadsHelper);
    };
    let found = metadata.find_method(Some(globals), NAME, &signature);
    match found.optional()? {
        Some(initializer) => {
            let before = info.il_function_body(module, initializer)?;
            let subject = Subject::new(info, module, initializer)?;
            let bytes = with_load(&subject, &before, helper, path)?;
            info.set_il_function_body(module, initializer, &bytes)?;
            reserve(initializer);
            Ok(())
        }
        // Only a module that is known to have no initialiser gets one.
        None => {
            let props = MethodProps {
                class: globals,
                name: NAME.to_owned(),
                attributes: ATTRIBUTES,
                signature_blob: signature.to_bytes().map_err(Error::other)?,
                rva: 0,
                implementation: MethodImplAttributes::empty(),
            };
            let planned = Subject::planned(info, module, props)?;
            let bytes = with_load(&planned, &EMPTY, helper, path)?;
            let memory = BodyMemory::of(info, module, &bytes)?;
            // The initialiser is defined last: it cannot be removed, and a module whose initialiser has no
            // body cannot run.
            let writer = info.module_metadata_for_writing(module)?;
            let il = MethodImplAttributes::empty();
            let initializer =
                writer.define_method(Some(globals), NAME, ATTRIBUTES, &signature, 0, il)?;
            reserve(initializer);
            memory.set(info, initializer)
        }
    }
}

/// The body of the module's initialiser, with the code before the original code.
fn with_load(
    subject: &Subject<'_>,
    before: &[u8],
    helper: &HelperAssembly,
    path: &str,
) -> Result<Vec<u8>> {
    let remembered = store(subject.info).module(subject.module);
    let mut memory = Memory::default();
    memory.body.decode_into(before).map_err(Error::other)?;
    let new = edited(subject, &remembered, &mut memory, before, |body, cx| {
        let load = load(helper, path, body, cx)?;
        body.prologue(&load).map_err(Error::from)
    })?;
    Ok(new.bytes)
}

/// Code that loads the helper and all that it refers to, and records the progress. A failure must not keep
/// the program from running.
fn load(
    helper: &HelperAssembly,
    path: &str,
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<Fragment> {
    const ASSEMBLY: &str = "[corelib]System.Reflection.Assembly";
    const MODULE: &str = "[corelib]System.Reflection.Module";
    const TYPE_REFS: i32 = 0x0100_0000;
    let load_from = MethodSymbol::new(ASSEMBLY, "LoadFrom", &format!("class {ASSEMBLY} (string)"));
    let manifest = format!("instance class {MODULE} ()");
    let manifest = MethodSymbol::new(ASSEMBLY, "get_ManifestModule", &manifest);
    let resolve = "instance class [corelib]System.Type (int32)";
    let resolve = MethodSymbol::new(MODULE, "ResolveType", resolve);
    let module = cx.type_sig(&format!("class {MODULE}"))?;
    let (module, token) = (body.add_local(module)?, body.add_local(TypeSig::I4)?);
    // `type_refs` is a count of metadata rows: 24 bits.
    let last = TYPE_REFS.saturating_add_unsigned(helper.type_refs);
    let [step, done] = [
        helper.progress.step_address(),
        helper.progress.done_address(),
    ]
    .map(address);

    let mut code = Fragment::new();
    let skip = code.label();
    code.append(&done).volatile().ldind_i4().brtrue(skip);
    code.try_block(|code| {
        let (next, end) = (code.label(), code.label());
        code.append(&step).ldc_i4(Progress::LOADING).volatile();
        code.stind_i4();
        code.ldstr(path).call(&load_from).callvirt(&manifest);
        code.stloc(module).ldc_i4(TYPE_REFS).stloc(token);
        // By tokens, because the runtime then resolves the types as it will for the helper's own code.
        code.mark(next);
        code.ldloc(token).ldc_i4(last).bge(end);
        code.ldloc(token).ldc_i4(1).add().stloc(token);
        code.append(&step).ldloc(token).volatile().stind_i4();
        code.ldloc(module).ldloc(token).callvirt(&resolve).pop();
        code.br(next).mark(end);
        code.append(&done).ldc_i4(1).volatile().stind_i4();
    })
    .catch("[corelib]System.Exception", |code| {
        code.pop();
    })
    .end()
    .mark(skip);
    Ok(code)
}
