//! The runtime as a profiler sees it: [`ProfilerInfo`] and the traits over it, one for each
//! version of the native interface.

mod assembly_references;
mod code;
mod code_lookup;
mod collectible;
mod depends;
mod enumerate;
mod function_control;
mod gc_scope;
mod handed;
mod hooks;
mod info1;
mod info10;
mod info11;
mod info12;
mod info13;
mod info14;
mod info15;
mod info2;
mod info3;
mod info4;
mod info5;
mod info6;
mod info7;
mod info8;
mod info9;
mod method;
mod names;
mod object;
mod profiler_info;
mod statics;
mod type_loading;
mod visit;

use crate::runtime::handle;

pub use crate::runtime::ProfilerInfo;
pub use assembly_references::AssemblyReferenceProvider;
pub use code::{CodeRange, IlMapEntry, IlOrigin, IlToNative};
pub(crate) use collectible::note_module;
pub(crate) use depends::{modules_of_class, modules_of_function};
pub use enumerate::{FunctionEnum, MethodEnum, ModuleEnum, ObjectEnum, ThreadEnum};
pub use function_control::{CodegenFlags, FunctionControl};
pub use gc_scope::GcScope;
pub(crate) use handle::Sealed;
pub use hooks::{
    ArgumentBuffer, CorProfilerInfoHooks, EltInfo, EnterInfo, FrameInfo, FunctionEnter,
    FunctionEnter2, FunctionEnter3, FunctionEnter3WithInfo, FunctionIDOrClientID, FunctionLeave,
    FunctionLeave2, FunctionLeave3, FunctionLeave3WithInfo, FunctionTailcall, FunctionTailcall2,
    FunctionTailcall3, FunctionTailcall3WithInfo, Hooked, LeaveInfo, MemoryRange,
};
pub(crate) use hooks::{claim_hooks, set_hooks3, set_hooks3_with_info, set_mapper2};
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
pub use info12::{
    CorProfilerInfo12, DefinedEvent, EventDefinition, EventLevel, EventParameter,
    EventPayloadReader, EventPipeProviderConfig, EventPipeSessionId, EventType, EventValue,
};
pub use info13::{CorProfilerInfo13, HandleKind, ObjectHandle};
pub use info14::{CorProfilerInfo14, EventPipeProviderState, NonGcHeapRange};
pub use info15::CorProfilerInfo15;
pub use method::Method;
pub use object::{ArrayObject, Object, StructValue, Value};
pub(crate) use object::{Shape, reference_fields};
pub use statics::{CorProfilerInfoStatics, StaticKind};
