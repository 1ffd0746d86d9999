//! The allocations of calls: none when they succeed, unless there is text or a list to hold.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use clr_profiler::prelude::*;
use clr_profiler_sys as sys;

use crate::answers::{Answer, Outputs};
use crate::rows::{Row, Run};
use crate::stage::play;

thread_local! {
    /// How often this thread has allocated.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Whether the allocations are the fake runtime's.
    static PAUSED: Cell<bool> = const { Cell::new(false) };
    /// The allocations of the row's call.
    static OF_CALL: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !PAUSED.get() {
            COUNT.set(COUNT.get() + 1);
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Does the work of the fake runtime, whose allocations are not counted.
pub(crate) fn uncounted<T>(work: impl FnOnce() -> T) -> T {
    let before = PAUSED.replace(true);
    let done = work();
    PAUSED.set(before);
    done
}

/// Makes a call, and records its allocations.
fn counted<T>(call: impl FnOnce() -> Result<T>) -> Result<String> {
    let before = COUNT.get();
    let outcome = black_box(call());
    OF_CALL.set(COUNT.get() - before);
    outcome.map(|_| String::new())
}

macro_rules! counted_rows {
    ($($kind:ident $native:literal => |$subject:ident| $call:expr;)*) => {
        const ROWS: &[Row] = &[$(Row {
            native: $native,
            hides: &[],
            run: Run::$kind(|$subject| counted(|| $call)),
        }),*];
    };
}

counted_rows! {
    Info "ICorProfilerInfo::GetFunctionInfo" => |info| info.function_info(FUNCTION);
    Info "ICorProfilerInfo::GetCodeInfo" => |info| info.code_info(FUNCTION);
    Info "ICorProfilerInfo::GetFunctionFromIP" => |info| info.function_from_ip(0x1234);
    Info "ICorProfilerInfo::GetClassIDInfo" => |info| info.class_id_info(CLASS);
    Info "ICorProfilerInfo::IsArrayClass" => |info| info.array_class_info(CLASS);
    Info "ICorProfilerInfo::GetThreadInfo" => |info| info.thread_info(thread());
    Info "ICorProfilerInfo::GetCurrentThreadID" => |info| info.current_thread_id();
    Info "ICorProfilerInfo::GetEventMask" => |info| info.event_mask();
    Info "ICorProfilerInfo::GetModuleMetaData" => |info| info.module_metadata(MODULE);
    Info "ICorProfilerInfo2::GetStringLayout" => |info| info.string_layout();
    Info "ICorProfilerInfo4::GetFunctionFromIP2" => |info| info.function_from_ip2(0x1234);
    Info "ICorProfilerInfo4::InitializeCurrentThread" => |info| info.initialize_current_thread();
    Info "ICorProfilerInfo8::IsFunctionDynamic" => |info| info.is_function_dynamic(FUNCTION);
    Info "ICorProfilerInfo10::GetLOHObjectSizeThreshold" => |info| info.loh_object_size_threshold();
    Metadata "IMetaDataImport::GetNestedClassProps" => |it| it.nested_class_props(class());
    Metadata "IMetaDataImport::GetRVA" => |it| it.rva(method());
    Metadata "IMetaDataImport2::GetPEKind" => |it| it.pe_kind();
    Metadata "IMetaDataTables::GetNumTables" => |it| it.num_tables();
    Writer "IMetaDataEmit::SetRVA" => |it| it.set_rva(method(), 1);
}

// SAFETY: the fake runtime accepts any number.
const MODULE: ModuleId = unsafe { ModuleId::from_raw(0x51) };
// SAFETY: as above.
const CLASS: ClassId = unsafe { ClassId::from_raw(0x61) };
// SAFETY: as above.
const FUNCTION: FunctionId = unsafe { FunctionId::from_raw(0x71) };

fn thread() -> ThreadId {
    // SAFETY: as above.
    unsafe { ThreadId::from_raw(0x41) }
}

fn class() -> TypeDef {
    TypeDef::from_row(2).unwrap()
}

fn method() -> MethodDef {
    MethodDef::from_row(1).unwrap()
}

#[test]
fn success_allocates_nothing_and_failure_one_error() {
    for row in ROWS {
        // Ids that are seen for the first time are recorded, which allocates.
        drop(play(row, Answer::default()));
        OF_CALL.set(usize::MAX);
        let played = play(row, Answer::default());
        played
            .outcome
            .unwrap_or_else(|error| panic!("{}: {error}", row.native));
        assert_eq!(OF_CALL.replace(usize::MAX), 0, "{}", row.native);
        let failure = Answer {
            hresult: sys::E_FAIL,
            outputs: Outputs::Untouched,
            ..Answer::default()
        };
        assert!(play(row, failure).outcome.is_err(), "{}", row.native);
        assert_eq!(OF_CALL.replace(usize::MAX), 1, "{}", row.native);
    }
}

#[test]
fn an_error_is_one_pointer() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    assert_eq!(size_of::<Result<AppDomainId>>(), 2 * size_of::<usize>());
}

#[test]
fn allocations_are_counted() {
    counted(|| Ok(vec![1_u8])).unwrap();
    assert_eq!(OF_CALL.get(), 1);
    counted(|| Ok(uncounted(|| vec![1_u8]))).unwrap();
    assert_eq!(OF_CALL.get(), 0);
}
