//! Helper assemblies in several application domains.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::instruction::Operand;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::token::TokenTable;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::HelperAssembly;

use crate::clr::{FIRST, SECOND, SHARED, Started, Stopped, mono, program};
use crate::module::Module;

/// The way in which the helper is loaded, and the end of the name of the modules that load it.
static WAY: Mutex<(Way, &str)> = Mutex::new((Way::File, ""));
static FAILURES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
enum Way {
    File,
    Memory,
    /// A file without a strong name.
    Unsigned,
}

struct Helped {
    helper: HelperAssembly,
}

fn helper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/profilees/helper/Helper.dll")
}

#[profiler(clsid = "1D7A3C84-5E2B-4F06-9A3D-7C40B8E6F215")]
impl Profiler for Helped {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| {
            let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
            failures.push(failure.to_string());
        });
        let (way, modules) = *WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let helper = match way {
            Way::File => HelperAssembly::open(helper())?,
            Way::Unsigned => {
                HelperAssembly::open(program("netstandard").with_file_name("Hot.dll"))?
            }
            Way::Memory => HelperAssembly::in_memory(std::fs::read(helper()).unwrap().leak())?,
        };
        setup
            .attach(helper.loader(move |info, module| {
                Ok(info.module_info(module)?.name.ends_with(modules))
            }))?;
        Ok(Self { helper })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        info.method(function)?.rewrite(|body, cx| {
            cx.refer_to(&self.helper)?;
            let called = MethodSymbol::new("[Helper]Nothing", "Here", "void ()");
            body.prologue(Fragment::new().call(&called))?;
            Ok(())
        })?;
        Ok(())
    }
}

fn failures() -> String {
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *failures).join("\n")
}

fn start(clr: Stopped, way: Way, modules: &'static str) -> Started {
    *WAY.lock().unwrap_or_else(PoisonError::into_inner) = (way, modules);
    failures();
    clr.start::<Helped>(false).unwrap()
}

/// The code that loads the helper, which a module runs first.
fn initializer(module: &Module) -> Option<MethodBody> {
    let method = module.added_token(TokenTable::METHOD_DEF, 0);
    let added = module.added();
    let body = added.bodies.get(&method)?;
    Some(MethodBody::decode(body).unwrap())
}

/// The addresses in that code, in the order of their first use.
fn addresses(body: &MethodBody) -> Vec<usize> {
    let mut all = Vec::new();
    for instruction in body.instructions() {
        if let Operand::Int64(address) = instruction.operand() {
            all.push(address as usize);
        }
    }
    all
}

/// Does the last step of that code.
fn loads(module: &Module) {
    let done = addresses(&initializer(module).unwrap())[0];
    // SAFETY: the code writes to a number there, which lives as long as the process.
    let done = unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(done) };
    done.store(1, Ordering::Release);
}

#[test]
fn each_domain_loads_the_helper_by_its_full_name() {
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let [first, second] = [FIRST, SECOND].map(|domain| clr.load(&program("mscorlib"), domain));
    let started = start(clr, Way::File, "Helped.dll");
    assert_eq!(failures(), "");
    let [of_first, of_second] = [first, second].map(|id| started.clr.module(id));
    for module in [of_first, of_second] {
        let full = "Helper, Version=1.2.3.4, Culture=neutral, PublicKeyToken=001acb5a1fb682a4";
        assert!(
            module.added().strings.contains(&full.to_owned()),
            "{:?}",
            module.added().strings
        );
        let (to_mscorlib, _) = module.references()[0];
        let assembly = module.find_type_ref(to_mscorlib, "System.Reflection.Assembly");
        let of_assembly = module.added().member_refs.clone();
        let names = of_assembly
            .iter()
            .filter(|(parent, ..)| Some(*parent) == assembly);
        let names: Vec<&str> = names.map(|(_, name, _)| &name[..]).collect();
        assert_eq!(names, ["Load", "get_ManifestModule"]);
        assert_eq!(module.added().assembly_refs, []);
    }
    let [in_first, in_second] =
        [of_first, of_second].map(|module| addresses(&initializer(module).unwrap()));
    assert!(in_first.iter().all(|address| !in_second.contains(address)));

    let compile = |id| {
        let method = started.clr.module(id).method("Helped.Program", "Outer");
        started.compile(id, method);
        failures()
    };
    let not_yet = "no code has loaded the helper assembly Helper yet";
    assert!(compile(second).contains(not_yet));
    loads(of_first);
    assert_eq!(compile(first), "");
    let [reference] = &of_first.added().assembly_refs[..] else {
        panic!("{:?}", of_first.added().assembly_refs);
    };
    assert_eq!(
        (&*reference.name, reference.version),
        ("Helper", [1, 2, 3, 4])
    );
    // The other domain has not loaded it.
    let method = of_second.method("Helped.Program", "Inner");
    started.compile(second, method);
    let failures = failures();
    assert!(failures.contains(not_yet), "{failures}");
    assert_eq!(of_second.added().assembly_refs, []);
}

#[test]
fn modules_that_domains_share_load_no_helper() {
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&program("mscorlib"), SHARED);
    let started = start(clr, Way::File, "Helped.dll");
    let failures = failures();
    let problem = "all application domains share the code of Helped, and each of them would have to load the helper: \
                   start the program with COMPLUS_LoaderOptimization=1";
    assert!(failures.contains(problem), "{failures}");
    assert!(initializer(started.clr.module(module)).is_none());
}

#[test]
fn references_do_not_find_a_helper_in_memory() {
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = start(clr, Way::Memory, "Helped.dll");
    let failures = failures();
    let problem = "references of .NET Framework do not find the helper assembly Helper in memory: put its file into the \
                   folder of the program";
    assert!(failures.contains(problem), "{failures}");
    assert!(initializer(started.clr.module(module)).is_none());
}

#[test]
fn a_module_with_a_strong_name_needs_a_helper_with_one() {
    let (Some(mscorlib), Some(core)) = (mono("mscorlib"), mono("System.Core")) else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&core, FIRST);
    let started = start(clr, Way::Unsigned, "System.Core.dll");
    let failures = failures();
    let problem = "System.Core has a strong name, and .NET Framework loads only assemblies with one for it: sign the helper \
                   assembly Hot with a key";
    assert!(failures.contains(problem), "{failures}");
    assert!(initializer(started.clr.module(module)).is_none());
}
