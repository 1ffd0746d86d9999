//! The objects that the runtime passes to a callback.

use clr_profiler::events::CodegenFlags;
use clr_profiler::info::IlMapEntry;

use super::{BODY, rows};

rows! { CONTROL: Control;
    "ICorProfilerFunctionControl::SetCodegenFlags" =>
        |control| control.set_codegen_flags(CodegenFlags::DISABLE_INLINING);
    "ICorProfilerFunctionControl::SetILFunctionBody" => |control| control.set_il_function_body(BODY);
    "ICorProfilerFunctionControl::SetILInstrumentedCodeMap" => |control| {
        control.set_il_instrumented_code_map(&[IlMapEntry {
            old_offset: 0,
            new_offset: 1,
            is_accurate: true,
        }])
    };
}

rows! { REFERENCES: References;
    "ICorProfilerAssemblyReferenceProvider::AddAssemblyReference" =>
        |provider| provider.add("Library", [1, 2, 3, 4]);
}
