//! A profiler on a fake runtime; the rows use its handles.

use std::cell::RefCell;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use clr_profiler::metadata::Dispenser;
use clr_profiler::prelude::*;
use clr_profiler_sys as sys;
use stand_in::Offers;
use sys::{GUID, HRESULT, ICorProfilerCallback11, Interface};

use crate::answers::{Answer, Answers};
use crate::callbacks::let_go;
use crate::implemented::live;
use crate::rows::{MODULE, Outcome, Row, Run};

thread_local! {
    /// Answers for a requested dispenser.
    static ANSWERS: RefCell<Option<Answers>> = const { RefCell::new(None) };
    /// The handle that the profiler of this thread got.
    static INFO: RefCell<Option<ProfilerInfo>> = const { RefCell::new(None) };
    /// The run for the next callback, and its result.
    static IN_CALLBACK: RefCell<Option<(Run, Option<Outcome>)>> = const { RefCell::new(None) };
}

/// Passes its handles to the test of its thread.
struct Hands;

const HANDS: GUID = GUID::from_u128(0xC0DE0000_0000_4000_8000_0000000000A1);

#[profiler(clsid = "C0DE0000-0000-4000-8000-0000000000A1")]
impl Profiler for Hands {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        // The fake runtime says that it is .NET Framework, where ReJIT needs it.
        setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
        INFO.set(Some(info.clone()));
        Ok(Self)
    }

    fn get_rejit_parameters(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        in_callback(|run| match run {
            Run::Control(run) => run(control),
            other => panic!("{other:?}"),
        });
        Ok(())
    }

    fn get_assembly_references(
        &self,
        _info: &ProfilerInfo,
        _assembly_path: &str,
        provider: &AssemblyReferenceProvider<'_>,
    ) -> Result<()> {
        in_callback(|run| match run {
            Run::References(run) => run(provider),
            other => panic!("{other:?}"),
        });
        Ok(())
    }

    fn object_allocated(
        &self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        _class: ClassId,
    ) -> Result<()> {
        in_callback(|run| match run {
            Run::Object(run) => run(info, object),
            other => panic!("{other:?}"),
        });
        Ok(())
    }

    fn object_references(
        &self,
        scope: &GcScope,
        object: ObjectId<'_>,
        _class: Option<ClassId>,
        _references: ObjectIds<'_>,
    ) -> Result<()> {
        in_callback(|run| match run {
            Run::Gc(run) => run(scope, object),
            other => panic!("{other:?}"),
        });
        Ok(())
    }
}

fn in_callback(run: impl FnOnce(Run) -> Outcome) {
    IN_CALLBACK.with_borrow_mut(|slot| {
        if let Some((row, outcome)) = slot {
            *outcome = Some(run(*row));
        }
    });
}

/// The result of a row: its outcome, and the fake runtime's record.
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) answers: Answers,
}

/// Runs a row on a runtime that answers its call like this; no reference may remain.
pub(crate) fn play(row: &Row, answer: Answer) -> Played {
    let answers = Answers::new(row.native, answer);
    let outcome = with_profiler(&answers, |info, object| {
        perform(row, info, object, &answers)
    });
    let_go();
    assert_eq!(live(), 0, "{}: objects of the caller's", row.native);
    let given = answers.seen(|seen| std::mem::take(&mut seen.given));
    for object in &given {
        assert_eq!(object.references(), 1, "{}: {object:?}", row.native);
    }
    Played { outcome, answers }
}

/// Runs `work` with the handle and the object of a profiler, which lives during it.
pub(crate) fn with_profiler<R>(
    answers: &Answers,
    work: impl FnOnce(&ProfilerInfo, &ICorProfilerCallback11) -> R,
) -> R {
    // The library's records of ids are those of the process, and begin anew with its first profiler: two of these tests
    // would invalidate the ids of each other.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = answers.object(Offers::new(["ICorProfilerInfo15"]));
    let object = create();
    // SAFETY: the fake runtime outlives the profiler.
    let started = unsafe { object.Initialize(runtime.as_raw()) };
    assert_eq!(started, sys::S_OK);
    let info = INFO.take().expect("the profiler has put it there");
    answers.seen(|seen| seen.started = true);
    work(&info, &object)
}

fn perform(
    row: &Row,
    info: &ProfilerInfo,
    object: &ICorProfilerCallback11,
    answers: &Answers,
) -> Outcome {
    match row.run {
        Run::Info(run) => return run(info),
        Run::Metadata(run) => {
            return run(&info.module_metadata(MODULE).inspect_err(|_| {
                assert_eq!(row.native, "ICorProfilerInfo::GetModuleMetaData");
            })?);
        }
        Run::Writer(run) => {
            return run(&info.module_metadata_for_writing(MODULE)?);
        }
        Run::Dispenser(run) => return run(&dispenser(info, answers)?),
        Run::Stored(run) => return run(&dispenser(info, answers)?.open_scope_on_memory(&[])?),
        Run::StoredWriter(run) => {
            let file = Path::new("/nowhere");
            return run(&dispenser(info, answers)?.open_scope_for_writing(file)?);
        }
        _ => {}
    }
    IN_CALLBACK.set(Some((row.run, None)));
    // SAFETY: the stand-ins live during the call; the other arguments may have any value.
    let answer = unsafe {
        match row.run {
            Run::Control(_) => {
                let control = answers.object(Offers::new(["ICorProfilerFunctionControl"]));
                object.GetReJITParameters(0x51, 0x0600_0001, control.as_raw())
            }
            Run::References(_) => {
                let provider =
                    answers.object(Offers::new(["ICorProfilerAssemblyReferenceProvider"]));
                let path = [0x78, 0];
                object.GetAssemblyReferences(path.as_ptr(), provider.as_raw())
            }
            Run::Gc(_) => object.ObjectReferences(0x81, 0x61, 0, ptr::null()),
            Run::Object(_) => object.ObjectAllocated(0x81, 0x61),
            _ => unreachable!("{:?} needs no callback", row.run),
        }
    };
    assert_eq!(answer, sys::S_OK);
    let (_, outcome) = IN_CALLBACK.take().expect("it was put there");
    outcome.unwrap_or_else(|| panic!("{}: the callback did not come", row.native))
}

/// The dispenser of the runtime that gives these answers.
fn dispenser(info: &ProfilerInfo, answers: &Answers) -> Result<Dispenser> {
    ANSWERS.set(Some(answers.clone()));
    let dispenser = info.metadata_dispenser();
    ANSWERS.set(None);
    dispenser
}

/// An export of a runtime's library; `build.rs` makes this program export it.
#[unsafe(no_mangle)]
unsafe extern "system" fn MetaDataGetDispenser(
    class: *const GUID,
    interface: *const GUID,
    out: *mut *mut c_void,
) -> HRESULT {
    ANSWERS.with_borrow(|answers| {
        let answers = answers.as_ref().expect("a row asks");
        // SAFETY: the caller passes two GUIDs and the address of a pointer.
        unsafe {
            assert_eq!(*class, sys::CLSID_CorMetaDataDispenser);
            assert_eq!(*interface, sys::IMetaDataDispenserEx::IID);
            out.write(answers.give("IMetaDataDispenserEx"));
        }
    });
    sys::S_OK
}

/// A profiler's object.
fn create() -> ICorProfilerCallback11 {
    const CLASSES: &[clr_profiler::__private::Class] =
        &[clr_profiler::__private::Class::of::<Hands>()];
    let mut factory: *mut c_void = ptr::null_mut();
    let mut object: *mut c_void = ptr::null_mut();
    // SAFETY: GUIDs and addresses of pointers, as COM requires; each success gives a reference.
    unsafe {
        let answer = clr_profiler::__private::get_class_object(
            CLASSES,
            ptr::from_ref(&HANDS).cast(),
            ptr::from_ref(&sys::IClassFactory::IID).cast(),
            &mut factory,
        );
        assert_eq!(answer, 0);
        let factory = sys::IClassFactory::from_raw(factory);
        let answer =
            factory.CreateInstance(ptr::null_mut(), &ICorProfilerCallback11::IID, &mut object);
        assert_eq!(answer, sys::S_OK);
        ICorProfilerCallback11::from_raw(object)
    }
}
