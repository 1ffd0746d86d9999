//! The runtime as a profiler sees it: [`ProfilerInfo`] and the traits over it, one for each
//! version of the native interface.

mod assembly_references;
mod code;
mod enumerate;
mod function_control;
mod gc_scope;
mod handle;
mod info1;
mod info2;
mod info3;
mod info4;
mod info5;
mod info8;
mod info9;
mod method;

pub use assembly_references::AssemblyReferenceProvider;
pub use code::{CodeRange, IlOrigin, IlToNative};
pub use function_control::{CodegenFlags, FunctionControl};
pub use gc_scope::GcScope;
pub use handle::ProfilerInfo;
pub(crate) use handle::Reach;
pub use info1::{
    AppDomainInfo, ArrayClassInfo, AssemblyInfo, ClassIdInfo, CorProfilerInfo, FunctionInfo,
    ModuleInfo,
};
pub use info2::{ClassIdInfo2, CorProfilerInfo2, FunctionInfo2};
pub use info3::{CorProfilerInfo3, RuntimeInformation, RuntimeKind};
pub use info4::CorProfilerInfo4;
pub use info5::CorProfilerInfo5;
pub use info8::{CorProfilerInfo8, DynamicFunctionInfo};
pub use info9::CorProfilerInfo9;
pub use method::Method;
