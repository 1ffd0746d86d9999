//! The code that loads a helper: before other code of a module runs, or at the beginning of a method.

use super::progress::Progress;
use super::{HelperAssembly, Source, framework};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::{self, BodyMemory, CorProfilerInfo};
use crate::metadata::{Metadata, MetadataEmit, MetadataImport, MethodProps};
use crate::rewrite::module_metadata::ModuleMetadata;
use crate::rewrite::store::store;
use crate::rewrite::subject::Subject;
use crate::rewrite::{LocalTypes, Memory, RewriteContext, address, edited};
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
/// The name of initialisers, of which a type has one at most.
const NAME: &str = ".cctor";
/// The attributes of a static constructor, as compilers set them.
const ATTRIBUTES: MethodAttributes = SPECIAL
    .union(MethodAttributes::STATIC)
    .union(MethodAttributes::HIDE_BY_SIG)
    .with_access(MemberAccess::Private);
/// A body that is only `ret`.
const EMPTY: [u8; 2] = [0x06, 0x2a];

fn of_core_library() -> Error {
    Error::other(
        "the core library cannot load a helper, because loading one needs all of it: its methods can \
         call functions of the profiler instead (RewriteContext::call_native)",
    )
}

/// A helper that a module loads.
struct Loading<'a> {
    helper: &'a HelperAssembly,
    /// Loads the helper alone, and pushes its assembly.
    assembly: Fragment,
    /// The numbers that the code writes.
    progress: &'static Progress,
}

impl<'a> Loading<'a> {
    fn of(helper: &'a HelperAssembly, info: &ProfilerInfo, module: ModuleId) -> Result<Self> {
        let is_net_framework = info.is_net_framework()?;
        Ok(Self {
            helper,
            assembly: match is_net_framework {
                true => assembly_by_name(helper)?,
                false => assembly_of(helper)?,
            },
            progress: match is_net_framework {
                true => framework::begin(helper, info, module)?,
                false => helper.progress,
            },
        })
    }
}

/// Inserts code into a method that loads the helper, unless other code has tried that before.
pub(super) fn load_in_method(
    helper: &HelperAssembly,
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<()> {
    // In a program that runs, all of the core library can be used.
    if cx.module_metadata.is_core_library() && !helper.has_slots() {
        return Err(of_core_library());
    }
    let (info, module) = (cx.info(), cx.module());
    info::expect_helper(info, &helper.props.name);
    let load = load(&Loading::of(helper, info, module)?, Attempts::One, body, cx)?;
    body.prologue(&load).map_err(Error::from)
}

/// How often a helper is loaded until that succeeds.
#[derive(Clone, Copy, PartialEq)]
enum Attempts {
    /// Once: the code runs with each call of a method.
    One,
    /// By each module.
    EachModule,
}

/// Inserts code that loads the helper before any other code of a module.
pub(super) fn load_into(
    helper: &HelperAssembly,
    info: &ProfilerInfo,
    module: ModuleId,
) -> Result<()> {
    if ModuleMetadata::open(info, module)?.is_core_library() {
        return Err(of_core_library());
    }
    info::expect_helper(info, &helper.props.name);
    let loading = Loading::of(helper, info, module)?;
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let no_type = || Error::other("row 1 is no row");
    let globals = TypeDef::from_row(GLOBALS).ok_or_else(no_type)?;
    let metadata = info.module_metadata(module)?;
    let reserve = |initializer: MethodDef| {
        let slot = store(info).module(module).method(initializer);
        slot.reserve(NotInstrumentable::LoadsHelper);
    };
    match initializer_of(&metadata, globals)? {
        Some(initializer) => {
            let before = info.il_function_body(module, initializer)?;
            let subject = Subject::new(info, module, initializer)?;
            let bytes = with_load(&subject, &before, &loading)?;
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
            let bytes = with_load(&planned, &EMPTY, &loading)?;
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

/// The initialiser of a type, if it has one. The runtime's own search first hashes the names of all members of the module.
fn initializer_of(metadata: &Metadata<'_>, class: TypeDef) -> Result<Option<MethodDef>> {
    for method in metadata.methods(class) {
        let method = method?;
        if metadata.method_props(method)?.name == NAME {
            return Ok(Some(method));
        }
    }
    Ok(None)
}

/// The body of the module's initialiser, with the code before the original code.
fn with_load(subject: &Subject<'_>, before: &[u8], loading: &Loading<'_>) -> Result<Vec<u8>> {
    let cached = store(subject.info).module(subject.module);
    let mut memory = Memory::default();
    memory.body.decode_into(before).map_err(Error::other)?;
    let of = (&*cached, LocalTypes::Read);
    let new = edited(subject, of, &mut memory, before, |body, cx| {
        let load = load(loading, Attempts::EachModule, body, cx)?;
        body.prologue(&load).map_err(Error::from)
    })?;
    Ok(new.bytes)
}

const ASSEMBLY: &str = "[corelib]System.Reflection.Assembly";

/// Code that loads the helper alone, and pushes its assembly.
fn assembly_of(helper: &HelperAssembly) -> Result<Fragment> {
    let mut code = Fragment::new();
    match &helper.source {
        Source::File(path) => {
            let path = path.to_str().ok_or_else(|| {
                Error::other(format!(
                    "the path of the helper, {}, is no Unicode, and so cannot be a string in IL",
                    path.display()
                ))
            })?;
            let load = format!("class {ASSEMBLY} (string)");
            code.ldstr(path)
                .call(MethodSymbol::new(ASSEMBLY, "LoadFrom", &load));
        }
        Source::Memory(bytes) => {
            const CONTEXT: &str = "[corelib]System.Runtime.Loader.AssemblyLoadContext";
            const STREAM: &str = "[corelib]System.IO.UnmanagedMemoryStream";
            let default = format!("class {CONTEXT} ()");
            let load = format!("instance class {ASSEMBLY} (class [corelib]System.IO.Stream)");
            let length = i64::try_from(bytes.len()).map_err(Error::other)?;
            // A module that is loaded before an assembly to which the helper refers has loaded it in vain: the next one finds it.
            let (found, end) = (code.label(), code.label());
            let is_loaded = address(helper.progress.loaded_address());
            let by_name = format!("class {ASSEMBLY} (string)");
            code.append(&is_loaded).volatile().ldind_i4().brtrue(found);
            code.call(MethodSymbol::new(CONTEXT, "get_Default", &default))
                .append(&address(bytes.as_ptr().expose_provenance()))
                .ldc_i8(length)
                .newobj(MethodSymbol::new(
                    STREAM,
                    ".ctor",
                    "instance void (uint8*, int64)",
                ))
                .callvirt(MethodSymbol::new(CONTEXT, "LoadFromStream", &load));
            code.append(&is_loaded).ldc_i4(1).volatile().stind_i4();
            code.br(end).mark(found).ldstr(&helper.props.name);
            code.call(MethodSymbol::new(ASSEMBLY, "Load", &by_name))
                .mark(end)
                .nop();
        }
    }
    Ok(code)
}

/// The same on .NET Framework, where references find an assembly that is found by its name.
fn assembly_by_name(helper: &HelperAssembly) -> Result<Fragment> {
    if let Source::Memory(_) = helper.source {
        return Err(Error::other(format!(
            "references of .NET Framework do not find the helper assembly {} in memory: put its file into the folder of the \
             program, or the assembly into the global assembly cache, and use HelperAssembly::open",
            helper.props.name
        )));
    }
    let load = format!("class {ASSEMBLY} (string)");
    let mut code = Fragment::new();
    code.ldstr(&framework::full_name(&helper.props))
        .call(MethodSymbol::new(ASSEMBLY, "Load", &load));
    Ok(code)
}

/// Code that loads the helper and all that it refers to, and records the progress. A failure must not keep
/// the program from running.
fn load(
    loading: &Loading<'_>,
    attempts: Attempts,
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
) -> Result<Fragment> {
    let Loading {
        helper,
        assembly,
        progress,
    } = loading;
    const MODULE: &str = "[corelib]System.Reflection.Module";
    const TYPE_REFS: i32 = 0x0100_0000;
    let manifest = format!("instance class {MODULE} ()");
    let manifest = MethodSymbol::new(ASSEMBLY, "get_ManifestModule", &manifest);
    let resolve = "instance class [corelib]System.Type (int32)";
    let resolve = MethodSymbol::new(MODULE, "ResolveType", resolve);
    let module = cx.type_sig(&format!("class {MODULE}"))?;
    let (module, token) = (body.add_local(module)?, body.add_local(TypeSig::I4)?);
    let handle = cx.type_sig("valuetype [corelib]System.RuntimeMethodHandle")?;
    let fill = helper.slots.fill(module, handle, body)?;
    // `type_refs` is a count of metadata rows: 24 bits.
    let last = TYPE_REFS.saturating_add_unsigned(helper.type_refs);
    let [step, done] = [progress.step_address(), progress.done_address()].map(address);

    let mut code = Fragment::new();
    let skip = code.label();
    let before = match attempts {
        Attempts::One => &step,
        Attempts::EachModule => &done,
    };
    code.append(before).volatile().ldind_i4().brtrue(skip);
    code.try_block(|code| {
        let (next, end) = (code.label(), code.label());
        code.append(&step).ldc_i4(Progress::LOADING).volatile();
        code.stind_i4();
        code.append(assembly).callvirt(&manifest);
        code.stloc(module).ldc_i4(TYPE_REFS).stloc(token);
        // By tokens, because the runtime then resolves the types as it will for the helper's own code.
        code.mark(next);
        code.ldloc(token).ldc_i4(last).bge(end);
        code.ldloc(token).ldc_i4(1).add().stloc(token);
        for row in &helper.unneeded {
            code.ldloc(token);
            code.ldc_i4(TYPE_REFS.saturating_add_unsigned(*row))
                .beq(next);
        }
        code.append(&step).ldloc(token).volatile().stind_i4();
        code.ldloc(module).ldloc(token).callvirt(&resolve).pop();
        code.br(next).mark(end);
        code.append(&fill);
        code.append(&done).ldc_i4(1).volatile().stind_i4();
    })
    .catch("[corelib]System.Exception", |code| {
        code.pop();
        // Another module may succeed.
        if attempts == Attempts::One {
            let failed = address(progress.failure_address());
            code.append(&failed).ldc_i4(1).volatile().stind_i4();
        }
    })
    .end()
    .mark(skip);
    Ok(code)
}
