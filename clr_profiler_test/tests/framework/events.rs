//! Events, precompiled images, ReJIT, and calls that are newer than the runtime.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::Hresult;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::ManagedPatches;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Inliners, Rejit, RejitOptions};
use clr_profiler_sys as sys;

use crate::clr::{CORE_LIBRARY, FIRST, Started, Stopped, mono, program};

/// Sets a profiler up.
type Arrange = fn(&ProfilerInfo, &mut Setup) -> Result<()>;

static ARRANGE: Mutex<Arrange> = Mutex::new(|_, _| Ok(()));
/// The errors of the setup, and the failures of the profiler.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Arranged;

fn tell(text: &impl ToString) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    told.push(text.to_string());
}

fn told() -> String {
    std::mem::take(&mut *TOLD.lock().unwrap_or_else(PoisonError::into_inner)).join("\n")
}

#[profiler(clsid = "C3E5A7F0-2B4D-4C68-8E1A-9D0F3B5C7E24")]
impl Profiler for Arranged {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(tell);
        let arrange = *ARRANGE.lock().unwrap_or_else(PoisonError::into_inner);
        arrange(info, setup).inspect_err(tell)?;
        Ok(Self)
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        _client_data: &[u8],
    ) -> Result<Self> {
        Self::initialize(info, setup)
    }
}

/// Keeps the other tests from taking the reports of this one's profiler.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(clr: Stopped, is_attached: bool, arrange: Arrange) -> Result<Started, Hresult> {
    *ARRANGE.lock().unwrap_or_else(PoisonError::into_inner) = arrange;
    told();
    clr.start::<Arranged>(is_attached)
}

/// Calls the collector at the start of each method that a pattern selects.
fn collecting(pattern: &str) -> Instrumentation {
    Instrumentation::new().edit(pattern, |body, _| {
        let collect = MethodSymbol::new("[corelib]System.GC", "Collect", "void ()");
        body.prologue(Fragment::new().call(&collect))?;
        Ok(())
    })
}

/// The flags that rewriting needs on .NET Framework.
const OF_REWRITING: u32 = sys::COR_PRF_DISABLE_ALL_NGEN_IMAGES
    | sys::COR_PRF_DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST;

#[test]
fn rewriting_goes_without_precompiled_images() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let attach: Arrange = |_, setup| {
        setup.add_events(EventMask::HIGH_DISABLE_TIERED_COMPILATION);
        setup.attach(collecting("Helped.Program.Outer"))?;
        Ok(())
    };
    let new = || {
        let mut clr = Stopped::new(&mscorlib);
        clr.load(&program("mscorlib"), FIRST);
        clr
    };
    for newest in ["ICorProfilerInfo8", "ICorProfilerInfo9"] {
        let started = start(new().offering(newest), false, attach).unwrap();
        let (low, high) = started.clr.masks()[0];
        assert_eq!(low & OF_REWRITING, OF_REWRITING, "{low:#x}");
        // There are no tiers, and no flag of a newer runtime.
        assert_eq!(high, 0, "{newest}");
        let module = started.clr.module(2 * CORE_LIBRARY);
        let method = module.method("Helped.Program", "Outer");
        started.compile(module.id, method);
        assert_eq!(told(), "");
        assert!(module.added().bodies.contains_key(&method.token().raw()));
    }
    let started = start(new().core().offering("ICorProfilerInfo9"), false, attach).unwrap();
    let (low, high) = started.clr.masks()[0];
    assert_eq!(low & OF_REWRITING, 0);
    let tiers = sys::COR_PRF_HIGH_DISABLE_TIERED_COMPILATION;
    assert_eq!(
        high,
        tiers | sys::COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS
    );
}

#[test]
fn precompiled_code_of_a_changed_method_is_rejected() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let mut clr = Stopped::new(&mscorlib);
    let module = clr.load(&program("mscorlib"), FIRST);
    let started = start(clr.precompiled(), false, |_, setup| {
        setup.attach(collecting("Helped.Program.Outer"))?;
        Ok(())
    });
    let started = started.unwrap();
    let method = started.clr.module(module).method("Helped.Program", "Outer");
    assert!(!started.uses_precompiled(module, method));
    assert_eq!(told(), "");
}

#[test]
fn methods_of_mscorlib_are_changed_by_its_name() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    for (pattern, is_changed) in [
        ("mscorlib!System.Random.Next", true),
        ("System.Private.CoreLib!System.Random.Next", false),
        // Patterns without an assembly leave .NET alone.
        ("System.Random.Next", false),
    ] {
        static PATTERN: Mutex<&str> = Mutex::new("");
        *PATTERN.lock().unwrap() = pattern;
        let started = start(Stopped::new(&mscorlib), false, |_, setup| {
            setup.attach(collecting(*PATTERN.lock().unwrap()))?;
            Ok(())
        });
        let started = started.unwrap();
        let module = started.clr.module(CORE_LIBRARY);
        let method = module.method("System.Random", "Next");
        started.compile(CORE_LIBRARY, method);
        assert_eq!(told(), "");
        let added = module.added();
        let bodies = &added.bodies;
        assert_eq!(
            bodies.contains_key(&method.token().raw()),
            is_changed,
            "{pattern}"
        );
        assert_eq!(added.assembly_refs, []);
    }
}

#[test]
fn methods_of_mscorlib_call_no_patches() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let started = start(Stopped::new(&mscorlib), false, |_, setup| {
        let patches = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/profilees/ManagedPatched/Core.dll");
        let patches = ManagedPatches::open(patches)?
            .class("Core.Days", "mscorlib!System.DateTime.AddDays")?;
        setup.attach(Instrumentation::new().managed_patches(patches))?;
        Ok(())
    });
    let _started = started.unwrap();
    let told = told();
    let problem =
        "is a method of mscorlib, whose code all application domains of .NET Framework share";
    assert!(told.contains(problem), "{told}");
}

#[test]
fn a_profiler_that_is_attached_changes_no_methods() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let refused = start(Stopped::new(&mscorlib), true, |_, setup| {
        setup.attach(collecting("Helped.Program.Outer"))?;
        Ok(())
    });
    let unsupported = Hresult::CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER;
    assert_eq!(refused.map(drop), Err(unsupported));
    let text = told();
    let problem = "a profiler that is attached to a program of .NET Framework cannot change methods: load it at start-up";
    assert!(text.contains(problem), "{text}");

    let refused = start(Stopped::new(&mscorlib), true, |_, setup| {
        setup.add_events(EventMask::MONITOR_EXCEPTIONS);
        Ok(())
    });
    assert_eq!(refused.map(drop), Err(unsupported));
    let started = start(Stopped::new(&mscorlib), true, |_, setup| {
        setup.add_events(EventMask::MONITOR_GC | EventMask::MONITOR_JIT_COMPILATION);
        Ok(())
    });
    let (_, high) = started.unwrap().clr.masks()[0];
    assert_eq!(high, 0);
}

#[test]
fn rejit_keeps_inliners_and_uses_no_images() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    fn rejit(setup: &mut Setup, inliners: Inliners) -> Result<()> {
        let mut options = RejitOptions::default();
        options.inliners = inliners;
        setup.attach(Rejit::new(options, |_, _, _, _| Ok(())))?;
        Ok(())
    }
    let refused = start(Stopped::new(&mscorlib), false, |_, setup| {
        rejit(setup, Inliners::Follow)
    });
    assert!(refused.is_err());
    let text = told();
    assert!(
        text.contains("on .NET Framework choose `Inliners::Keep`"),
        "{text}"
    );
    let started = start(Stopped::new(&mscorlib), false, |_, setup| {
        rejit(setup, Inliners::Keep)
    });
    let (low, _) = started.unwrap().clr.masks()[0];
    let wanted = OF_REWRITING | sys::COR_PRF_ENABLE_REJIT;
    assert_eq!(low & wanted, wanted, "{low:#x}");
    // By itself, the flag is refused before the runtime takes it.
    let refused = start(Stopped::new(&mscorlib), false, |_, setup| {
        setup.add_events(EventMask::ENABLE_REJIT);
        Ok(())
    });
    assert!(refused.is_err());
}

#[test]
fn nothing_waits_for_a_tier() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let refused = start(Stopped::new(&mscorlib), false, |_, setup| {
        setup.attach(collecting("Helped.Program.Outer").defer(|| true))?;
        Ok(())
    });
    assert!(refused.is_err());
    let text = told();
    assert!(text.contains(".NET Framework has no tiers"), "{text}");
}

#[test]
fn newer_calls_say_what_they_need() {
    let _alone = alone();
    let Some(mscorlib) = mono("mscorlib") else {
        return;
    };
    let clr = Stopped::new(&mscorlib).offering("ICorProfilerInfo6");
    let started = start(clr, false, |info, _| {
        assert_eq!((info.core_library(), info.version()), ("mscorlib", 6));
        for error in [
            info.environment_variable("PATH").map(drop),
            info.apply_metadata(info.modules()?.next().unwrap()?),
        ] {
            tell(&error.unwrap_err());
        }
        Ok(())
    });
    drop(started.unwrap());
    assert_eq!(
        told(),
        "ICorProfilerInfo11::GetEnvironmentVariable needs ICorProfilerInfo11 (.NET Core 3.1 or newer); this runtime offers \
         ICorProfilerInfo6\n\
         ICorProfilerInfo7::ApplyMetaData needs ICorProfilerInfo7 (any .NET Core since 2.1, or .NET Framework 4.6.1 or newer); \
         this runtime offers ICorProfilerInfo6"
    );
}
