//! `ICorProfilerInfo` and its enumerators.

use std::time::Duration;

use clr_profiler::prelude::*;

use super::{BODY, CLASS, FUNCTION, MODULE, all, class, method, rows};

rows! { ROWS: Info;
    "ICorProfilerInfo::GetFunctionInfo" => |info| info.function_info(FUNCTION);
    "ICorProfilerInfo::GetClassIDInfo" => |info| info.class_id_info(CLASS);
    "ICorProfilerInfo::GetClassFromToken" => |info| info.class_from_token(MODULE, class());
    "ICorProfilerInfo::GetFunctionFromToken" => |info| info.function_from_token(MODULE, method());
    "ICorProfilerInfo::IsArrayClass" => |info| info.array_class_info(CLASS);
    "ICorProfilerInfo::GetThreadInfo" => |info| info.thread_info(ThreadId::from_raw(1));
    "ICorProfilerInfo::ForceGC" => |info| info.force_gc();
    "ICorProfilerInfo::GetCurrentThreadID" => |info| info.current_thread_id();
    "ICorProfilerInfo::GetModuleInfo" => |info| info.module_info(MODULE);
    "ICorProfilerInfo::GetModuleMetaData" => |info| info.module_metadata(MODULE);
    "ICorProfilerInfo::GetILFunctionBody" hides ["pcbMethodSize"] =>
        |info| info.il_function_body(MODULE, method());
    "ICorProfilerInfo::SetILFunctionBody" => |info| info.set_il_function_body(MODULE, method(), BODY);
    "ICorProfilerInfo::GetILFunctionBodyAllocator" =>
        |info| info.set_il_function_body(MODULE, method(), BODY);
    "IMethodMalloc::Alloc" => |info| info.set_il_function_body(MODULE, method(), BODY);
    "ICorProfilerInfo::GetAppDomainInfo" => |info| info.app_domain_info(AppDomainId::from_raw(1));
    "ICorProfilerInfo::GetAssemblyInfo" => |info| info.assembly_info(AssemblyId::from_raw(1));
    // Flags have names.
    "ICorProfilerInfo::GetEventMask" hides ["pdwEvents"] => |info| info.event_mask();
    "ICorProfilerInfo::SetEventMask" => |info| info.set_event_mask(EventMask::empty());
    "ICorProfilerInfo2::GetFunctionInfo2" => |info| info.function_info2(FUNCTION);
    "ICorProfilerInfo2::GetClassIDInfo2" => |info| info.class_id_info2(CLASS);
    "ICorProfilerInfo2::GetFunctionFromTokenAndTypeArgs" =>
        |info| info.function_from_token_and_type_args(MODULE, method(), CLASS, &[CLASS]);
    "ICorProfilerInfo2::GetClassFromTokenAndTypeArgs" =>
        |info| info.class_from_token_and_type_args(MODULE, class(), &[CLASS]);
    "ICorProfilerInfo3::EnumModules" => |info| info.modules().and_then(all);
    "ICorProfilerModuleEnum::Next" => |info| info.modules().and_then(all);
    "ICorProfilerInfo3::RequestProfilerDetach" =>
        |info| info.request_profiler_detach(Duration::from_secs(1));
    "ICorProfilerInfo3::GetRuntimeInformation" => |info| info.runtime_information();
    "ICorProfilerInfo4::EnumThreads" => |info| info.threads().and_then(all);
    "ICorProfilerThreadEnum::Next" => |info| info.threads().and_then(all);
    "ICorProfilerInfo4::EnumJITedFunctions2" => |info| info.jitted_functions2().and_then(all);
    "ICorProfilerFunctionEnum::Next" => |info| info.jitted_functions2().and_then(all);
    "ICorProfilerInfo4::InitializeCurrentThread" => |info| info.initialize_current_thread();
    "ICorProfilerInfo4::RequestReJIT" => |info| info.request_rejit(&[(MODULE, method())]);
    "ICorProfilerInfo4::GetCodeInfo3" => |info| info.code_info3(FUNCTION, RejitId::ORIGINAL);
    "ICorProfilerInfo4::GetReJITIDs" => |info| info.rejit_ids(FUNCTION);
    "ICorProfilerInfo5::GetEventMask2" hides ["pdwEventsLow", "pdwEventsHigh"] =>
        |info| info.event_mask2();
    "ICorProfilerInfo5::SetEventMask2" => |info| info.set_event_mask2(EventMask::empty());
    "ICorProfilerInfo8::IsFunctionDynamic" => |info| info.is_function_dynamic(FUNCTION);
    "ICorProfilerInfo8::GetFunctionFromIP3" => |info| info.function_from_ip3(0x1234);
    "ICorProfilerInfo8::GetDynamicFunctionInfo" => |info| info.dynamic_function_info(FUNCTION);
    "ICorProfilerInfo9::GetNativeCodeStartAddresses" =>
        |info| info.native_code_start_addresses(FUNCTION, RejitId::ORIGINAL);
    "ICorProfilerInfo9::GetCodeInfo4" => |info| info.code_info4(0x1234);
    "ICorProfilerInfo9::GetILToNativeMapping3" => |info| info.il_to_native_mapping3(0x1234);
}

rows! { OBJECTS: Object;
    "ICorProfilerInfo::GetClassFromObject" => |info, object| info.class_from_object(object);
    "ICorProfilerInfo4::GetObjectSize2" => |info, object| info.object_size2(object);
}

rows! { IN_COLLECTION: Gc;
    "ICorProfilerInfo::GetClassFromObject" => |scope, object| scope.class_from_object(object);
    "ICorProfilerInfo4::GetObjectSize2" => |scope, object| scope.object_size(object);
}
