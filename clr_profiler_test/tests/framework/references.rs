//! References to assemblies in rewritten code.

use std::sync::{Mutex, PoisonError};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::prelude::*;

use crate::clr::{CORE_LIBRARY, FIRST, SECOND, Started, Stopped, mono, program};
use crate::module::Reference;

/// The token of the key of `mscorlib` and of other assemblies of .NET Framework.
const KEY: [u8; 8] = [0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89];

/// The type and method that is called at the start of each method, and the assembly to assume.
static CALLED: Mutex<(&str, &str, &str)> = Mutex::new(("", "", ""));
/// The result of the last rewrite.
static RESULT: Mutex<Option<Result<(), String>>> = Mutex::new(None);

struct Caller;

#[profiler(clsid = "6A0C8F2E-1B7D-4E63-9C55-2F8D0E4B7A10")]
impl Profiler for Caller {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let (class, method, assumed) = *CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let rewritten = info.method(function)?.rewrite(|body, cx| {
            if !assumed.is_empty() {
                cx.assume_loadable(assumed)?;
            }
            let called = MethodSymbol::new(class, method, "void ()");
            body.prologue(Fragment::new().call(&called))?;
            Ok(())
        });
        let result = rewritten.map(drop).map_err(|error| error.to_string());
        *RESULT.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        Ok(())
    }
}

/// The result of the last rewrite.
fn result() -> Result<(), String> {
    let result = RESULT.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.expect("it was compiled")
}

/// Rewrites a method of the program so that it calls a method; the references that were added.
fn added(
    started: &Started,
    module: usize,
    called: (&'static str, &'static str, &'static str),
) -> Result<Vec<Reference>, String> {
    *CALLED.lock().unwrap_or_else(PoisonError::into_inner) = called;
    let of = started.clr.module(module);
    let before = of.added().assembly_refs.len();
    started.compile(module, of.method("Helped.Program", "Outer"));
    result()?;
    Ok(of.added().assembly_refs[before..].to_vec())
}

const MSCORLIB: &str = "mscorlib";

/// The reference that .NET Framework needs for its core library.
fn to_mscorlib() -> Reference {
    Reference {
        name: MSCORLIB.to_owned(),
        version: [4, 0, 0, 0],
        key: &KEY,
        flags: 0,
    }
}

fn by_name(name: &str) -> Reference {
    Reference {
        name: name.to_owned(),
        version: [0; 4],
        key: &[],
        flags: 0,
    }
}

#[test]
fn a_program_that_refers_to_mscorlib_gets_no_other_core_library() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    for class in [
        "[corelib]System.GC",
        "[mscorlib]System.GC",
        "[System.Private.CoreLib]System.GC",
        "[System.Runtime]System.GC",
        "[netstandard]System.GC",
    ] {
        let mut clr = Stopped::new(&mscorlib);
        let module = clr.load(&program("mscorlib"), FIRST);
        let started = clr.start::<Caller>(false).unwrap();
        let added = added(&started, module, (class, "Collect", ""));
        assert_eq!(added, Ok(Vec::new()), "{class}");
        let of = started.clr.module(module);
        let (token, reference) = of.references().swap_remove(0);
        assert_eq!(
            (&*reference.name, reference.version),
            (MSCORLIB, [4, 0, 0, 0])
        );
        assert!(of.find_type_ref(token, "System.GC").is_some(), "{class}");
    }
}

#[test]
fn a_new_reference_to_mscorlib_has_its_version_and_key() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    for class in [
        "[corelib]System.GC",
        "[mscorlib]System.GC",
        "[System.Private.CoreLib]System.GC",
    ] {
        let mut clr = Stopped::new(&mscorlib);
        let module = clr.load(&program("netstandard"), FIRST);
        let started = clr.start::<Caller>(false).unwrap();
        let added = added(&started, module, (class, "Collect", ""));
        assert_eq!(added, Ok(vec![to_mscorlib()]), "{class}");
    }
}

#[test]
fn a_type_that_mscorlib_does_not_have_is_refused() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = clr.start::<Caller>(false).unwrap();
    let context = "[corelib]System.Runtime.Loader.AssemblyLoadContext";
    let error = added(&started, module, (context, "Nothing", "")).unwrap_err();
    let problem = "the assembly mscorlib has no type System.Runtime.Loader.AssemblyLoadContext";
    assert!(error.contains(problem), "{error}");
}

#[test]
fn dotnet_gets_the_core_library_by_its_name() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib).core();
    let module = clr.load(&program("netstandard"), FIRST);
    let started = clr.start::<Caller>(false).unwrap();
    let class = "[System.Private.CoreLib]System.GC";
    let added = added(&started, module, (class, "Collect", ""));
    assert_eq!(added, Ok(vec![by_name("System.Private.CoreLib")]));
}

#[test]
fn mscorlib_itself_refers_to_nothing() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    let started = Stopped::new(&mscorlib).start::<Caller>(false).unwrap();
    let module = started.clr.module(CORE_LIBRARY);
    *CALLED.lock().unwrap_or_else(PoisonError::into_inner) = ("[corelib]System.GC", "Collect", "");
    started.compile(CORE_LIBRARY, module.method("System.Random", "Next"));
    assert_eq!(result(), Ok(()));
    *CALLED.lock().unwrap_or_else(PoisonError::into_inner) = ("[Shop]Shop.Till", "Open", "Shop");
    started.compile(CORE_LIBRARY, module.method("System.Version", "ToString"));
    let error = result().unwrap_err();
    assert!(
        error.contains("the core library cannot refer to Shop"),
        "{error}"
    );
    assert_eq!(module.added().assembly_refs, []);
}

#[test]
fn assemblies_of_the_cache_need_their_full_names() {
    let (Some(mscorlib), Some(core)) = (mono(MSCORLIB), mono("System.Core")) else {
        return;
    };
    const CLASS: &str = "[System.Core]System.Threading.Barrier";
    const FULL: &str =
        "System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
    // Loaded: by the identity of its manifest, as both domains have it.
    let mut clr = Stopped::new(&mscorlib);
    clr.load(&core, FIRST);
    clr.load(&core, SECOND);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = clr.start::<Caller>(false).unwrap();
    let loaded = added(&started, module, (CLASS, "Run", "")).unwrap();
    let [of_loaded] = &loaded[..] else {
        panic!("{loaded:?}");
    };
    assert_eq!(
        (&*of_loaded.name, of_loaded.version),
        ("System.Core", [4, 0, 0, 0])
    );
    // The flag says that this is a whole key.
    assert_eq!((of_loaded.flags, of_loaded.key.is_empty()), (1, false));
    drop(started);

    let not_loaded = |assumed| {
        let mut clr = Stopped::new(&mscorlib);
        let module = clr.load(&program("mscorlib"), FIRST);
        let started = clr.start::<Caller>(false).unwrap();
        added(&started, module, (CLASS, "Run", assumed))
    };
    let error = not_loaded("System.Core").unwrap_err();
    let problem = "the assembly System.Core is not loaded, and .NET Framework finds those of the global \
                   assembly cache only by their full name: pass it to RewriteContext::assume_loadable";
    assert!(error.contains(problem), "{error}");
    let of_full = Reference {
        name: "System.Core".to_owned(),
        ..to_mscorlib()
    };
    assert_eq!(not_loaded(FULL), Ok(vec![of_full]));
}

#[test]
fn assemblies_of_the_program_are_found_by_name() {
    let Some(mscorlib) = mono(MSCORLIB) else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = clr.start::<Caller>(false).unwrap();
    let added = added(&started, module, ("[Shop]Shop.Till", "Open", "Shop"));
    assert_eq!(added, Ok(vec![by_name("Shop")]));
}

#[test]
fn an_assembly_with_two_identities_is_refused() {
    let (Some(mscorlib), Some(core)) = (mono(MSCORLIB), mono("System.Core")) else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    clr.load(&core, FIRST);
    clr.load_as(&core, SECOND, [3, 5, 0, 0]);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = clr.start::<Caller>(false).unwrap();
    let called = ("[System.Core]System.Threading.Barrier", "Run", "");
    let error = added(&started, module, called).unwrap_err();
    assert!(
        error.contains("several assemblies System.Core are loaded"),
        "{error}"
    );
}
