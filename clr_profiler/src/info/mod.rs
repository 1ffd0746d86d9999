//! The traits of [`ProfilerInfo`], one for each version of `ICorProfilerInfo`, and the types of the values
//! that their methods take and return.
//!
//! [`CorProfilerInfo`] has the calls of the first version, [`CorProfilerInfo15`] those of the newest. The
//! traits are in the [`prelude`](crate::prelude), so a profiler writes `info.class_layout(..)` without
//! naming a trait. A call that the runtime does not have returns an error. [`GcScope`] has the calls that
//! are legal during a garbage collection, and [`Object`] reads objects. Operations that need several native
//! calls are methods of [`ProfilerInfo`] and [`Method`](crate::Method), which have examples.

pub(crate) mod assembly_references;
mod callback_interface;
mod code;
mod code_lookup;
mod collectible;
mod core_library;
pub(crate) mod departures;
mod depends;
mod enumerate;
mod frame;
pub(crate) mod function_control;
mod gc_scope;
#[cfg(feature = "hooks")]
pub(crate) mod hooks;
mod hot_reload;
mod info1;
mod info10;
mod info11;
#[cfg(feature = "event_pipe")]
pub(crate) mod info12;
mod info13;
pub(crate) mod info14;
mod info15;
mod info2;
mod info3;
mod info4;
mod info5;
mod info6;
mod info7;
mod info8;
mod info9;
mod legacy;
pub(crate) mod method;
#[cfg(feature = "patterns")]
pub(crate) mod method_facts;
pub(crate) mod names;
#[cfg(feature = "objects")]
mod object;
mod profiler_info;
mod statics;
mod type_loading;
mod visit;
#[cfg(feature = "rewrite")]
mod written;

use crate::runtime::handle;

pub use crate::native::ComObject;
pub(crate) use crate::runtime::ProfilerInfo;
pub use code::{CodeRange, IlMapEntry, IlOrigin, IlToNative};
pub(crate) use collectible::{NEWEST_OF_3_1, note_earlier_unloads, note_module};
pub use core_library::is_framework;
pub(crate) use depends::{modules_of_class, modules_of_function};
pub use enumerate::{FunctionEnum, MethodEnum, ModuleEnum, ObjectEnum, ThreadEnum};
pub use frame::FrameInfo;
pub use gc_scope::GcScope;
pub(crate) use handle::Sealed;
#[cfg(feature = "hooks")]
pub(crate) use hooks::{claim_hooks, set_hooks3, set_hooks3_with_info, set_mapper2};
pub(crate) use hot_reload::refuse_hot_reload;
#[cfg(feature = "rewrite")]
pub(crate) use info1::BodyMemory;
pub use info1::{
    AppDomainInfo, ArrayClassInfo, AssemblyInfo, ClassIdInfo, CorProfilerInfo, FunctionInfo,
    MethodMalloc, ModuleInfo,
};
pub use info2::{
    ArrayDimension, ArrayObjectInfo, ClassIdInfo2, ClassLayout, ClauseKind, CorProfilerInfo2,
    ExceptionClauseInfo, FunctionInfo2, Generation, GenerationRange, SnapshotOptions, StackFrame,
    StringLayout,
};
pub use info3::{CorProfilerInfo3, ModuleFlags, RuntimeInformation, RuntimeKind};
pub use info4::CorProfilerInfo4;
pub use info5::CorProfilerInfo5;
pub use info6::{CorProfilerInfo6, NgenInliners};
pub use info7::CorProfilerInfo7;
pub use info8::{CorProfilerInfo8, DynamicFunctionInfo};
pub use info9::CorProfilerInfo9;
pub use info10::{CorProfilerInfo10, ObjectReference, RejitFlags, SuspendedRuntime};
pub use info11::CorProfilerInfo11;
#[cfg(feature = "event_pipe")]
pub use info12::CorProfilerInfo12;
pub use info13::{CorProfilerInfo13, HandleKind, ObjectHandle};
pub use info14::{CorProfilerInfo14, NonGcHeapRange};
pub use info15::CorProfilerInfo15;
pub use legacy::CorProfilerInfoLegacy;
#[cfg(feature = "hooks")]
pub(crate) use object::Shape;
#[cfg(feature = "objects")]
pub(crate) use object::reference_fields;
#[cfg(feature = "objects")]
pub use object::{ArrayObject, Object, ObjectValue, StructValue};
pub use statics::{CorProfilerInfoStatics, StaticKind};
#[cfg(feature = "rewrite")]
pub(crate) use written::{expect, expect_helper, module_goes, prepare, prepare_expected};
