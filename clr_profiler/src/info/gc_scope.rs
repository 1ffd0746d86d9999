//! [`GcScope`], the calls that are legal while the runtime is suspended.

use std::marker::PhantomData;
use std::ops::ControlFlow;

#[cfg(feature = "objects")]
use super::Object;
use super::{
    ArrayClassInfo, ArrayObjectInfo, ClassIdInfo, ClassIdInfo2, ClassLayout, CorProfilerInfo,
    CorProfilerInfo2, CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo10, CorProfilerInfo14,
    CorProfilerInfoStatics, FunctionInfo, GenerationRange, NonGcHeapRange, ObjectEnum,
    ObjectReference, ProfilerInfo, RuntimeInformation, StaticKind, StringLayout, ThreadEnum,
};
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, ClassId, ContextId, FunctionId, ObjectId, ThreadId};
use clr_profiler_il::token::FieldDef;

/// The calls that a callback may make while the runtime is suspended for a garbage collection.
///
/// All other calls would wait for the collection to end, which waits for the callback. They are missing
/// here, and calls that bypass the scope are refused. The scope stays on the thread of the callback.
#[repr(transparent)]
pub struct GcScope {
    info: ProfilerInfo,
    stays_here: PhantomData<*const ()>,
}

/// Defines the calls. A row has the documentation, the name here, and the method that it calls.
macro_rules! legal_in_gc {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $origin:ident::$method:ident;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        #[doc = concat!("The errors of [`", stringify!($origin), "::", stringify!($method), "`].")]
        pub fn $name(&self, $($argument: $type),*) -> Result<$answer> {
            self.info.$method($($argument),*)
        }
    )*};
}

impl GcScope {
    pub(crate) fn from_callback(info: &ProfilerInfo) -> &Self {
        // SAFETY: a transparent wrapper has the layout of its field, apart from types of size zero.
        unsafe { &*std::ptr::from_ref(info).cast::<Self>() }
    }

    /// The newest version of `ICorProfilerInfo` that this runtime has: see
    /// [`ProfilerInfo::version`].
    #[must_use]
    pub fn version(&self) -> u8 {
        self.info.version()
    }

    legal_in_gc! {
        /// The type of an object. Wraps `ICorProfilerInfo::GetClassFromObject`.
        class_from_object(object: ObjectId<'_>) -> ClassId = CorProfilerInfo::class_from_object;

        /// The size of an object in bytes. Wraps `ICorProfilerInfo4::GetObjectSize2`.
        object_size(object: ObjectId<'_>) -> usize = CorProfilerInfo4::object_size2;

        /// The element type and rank of an array type. Wraps `ICorProfilerInfo::IsArrayClass`.
        array_class_info(class: ClassId) -> Option<ArrayClassInfo> = CorProfilerInfo::array_class_info;

        /// The definition of a type that is not generic. Wraps `ICorProfilerInfo::GetClassIDInfo`.
        class_id_info(class: ClassId) -> ClassIdInfo = CorProfilerInfo::class_id_info;

        /// The definition, base type and generic arguments of a type. Wraps
        /// `ICorProfilerInfo2::GetClassIDInfo2`.
        class_id_info2(class: ClassId) -> ClassIdInfo2 = CorProfilerInfo2::class_id_info2;

        /// The method that a function is an instance of. Wraps `ICorProfilerInfo::GetFunctionInfo`.
        function_info(function: FunctionId) -> FunctionInfo = CorProfilerInfo::function_info;

        /// The function whose native code contains an instruction pointer. Wraps
        /// `ICorProfilerInfo::GetFunctionFromIP`.
        function_from_ip(address: usize) -> FunctionId = CorProfilerInfo::function_from_ip;

        /// The size of a type and the offsets of its fields. Wraps `ICorProfilerInfo2::GetClassLayout`.
        class_layout(class: ClassId) -> ClassLayout = CorProfilerInfo2::class_layout;

        /// The offset of the value in a boxed value of this type. Wraps
        /// `ICorProfilerInfo2::GetBoxClassLayout`.
        box_class_layout(class: ClassId) -> u32 = CorProfilerInfo2::box_class_layout;

        /// The offsets of length and characters in a string object. Wraps
        /// `ICorProfilerInfo3::GetStringLayout2`.
        string_layout() -> StringLayout = CorProfilerInfo3::string_layout2;

        /// The dimensions of an array object and the address of its elements. Wraps
        /// `ICorProfilerInfo2::GetArrayObjectInfo`.
        array_object_info(object: ObjectId<'_>) -> ArrayObjectInfo = CorProfilerInfo2::array_object_info;

        /// The address ranges of the generations. Wraps `ICorProfilerInfo2::GetGenerationBounds`.
        generation_bounds() -> Vec<GenerationRange> = CorProfilerInfo2::generation_bounds;

        /// The address range of the managed heap that contains an object. Wraps
        /// `ICorProfilerInfo2::GetObjectGeneration`.
        object_generation(object: ObjectId<'_>) -> GenerationRange = CorProfilerInfo2::object_generation;

        /// Whether an object is never collected. Wraps `ICorProfilerInfo10::IsFrozenObject`.
        is_frozen_object(object: ObjectId<'_>) -> bool = CorProfilerInfo10::is_frozen_object;

        /// The size from which objects are allocated on the large object heap. Wraps
        /// `ICorProfilerInfo10::GetLOHObjectSizeThreshold`.
        loh_object_size_threshold() -> u32 = CorProfilerInfo10::loh_object_size_threshold;

        /// The id of the current managed thread. Wraps `ICorProfilerInfo::GetCurrentThreadID`.
        current_thread_id() -> ThreadId = CorProfilerInfo::current_thread_id;

        /// The operating system's id of a thread. Wraps `ICorProfilerInfo::GetThreadInfo`.
        thread_info(thread: ThreadId) -> u32 = CorProfilerInfo::thread_info;

        /// The application domain of a thread. Wraps `ICorProfilerInfo2::GetThreadAppDomain`.
        thread_app_domain(thread: ThreadId) -> AppDomainId = CorProfilerInfo2::thread_app_domain;

        /// The context of a thread. Wraps `ICorProfilerInfo::GetThreadContext`.
        thread_context(thread: ThreadId) -> ContextId = CorProfilerInfo::thread_context;

        /// The scope of a static field. Wraps `ICorProfilerInfo2::GetStaticFieldInfo`.
        static_field_info(class: ClassId, field: FieldDef) -> StaticKind = CorProfilerInfoStatics::static_field_info;

        /// The address of a static field that is part of the module's image. Wraps
        /// `ICorProfilerInfo2::GetRVAStaticAddress`.
        rva_static_address(class: ClassId, field: FieldDef) -> usize = CorProfilerInfoStatics::rva_static_address;

        /// The address of an ordinary static field. Wraps
        /// `ICorProfilerInfo2::GetAppDomainStaticAddress`.
        app_domain_static_address(class: ClassId, field: FieldDef, app_domain: AppDomainId) -> usize
            = CorProfilerInfoStatics::app_domain_static_address;

        /// The address of a thread-static field of any thread. Wraps
        /// `ICorProfilerInfo3::GetThreadStaticAddress2`.
        thread_static_address2(
            class: ClassId, field: FieldDef, app_domain: AppDomainId, thread: ThreadId
        ) -> usize = CorProfilerInfoStatics::thread_static_address2;

        /// The objects that are never collected. Wraps `ICorProfilerInfo14::EnumerateNonGCObjects`.
        non_gc_objects() -> ObjectEnum<'_> = CorProfilerInfo14::non_gc_objects;

        /// The address ranges of objects that are never collected. Wraps
        /// `ICorProfilerInfo14::GetNonGCHeapBounds`.
        non_gc_heap_bounds() -> Vec<NonGcHeapRange> = CorProfilerInfo14::non_gc_heap_bounds;

        /// The kind and version of the runtime. Wraps `ICorProfilerInfo3::GetRuntimeInformation`.
        runtime_information() -> RuntimeInformation = CorProfilerInfo3::runtime_information;
    }

    /// Calls `visit` for each reference that an object holds, until it returns `Break`. Wraps
    /// `ICorProfilerInfo10::EnumerateObjectReferences`.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo10::enumerate_object_references`].
    pub fn enumerate_object_references(
        &self,
        object: ObjectId<'_>,
        visit: impl FnMut(ObjectReference<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.info.enumerate_object_references(object, visit)
    }

    /// The managed threads. None starts or ends before the runtime is resumed, so their ids are valid until then.
    ///
    /// Calls `ICorProfilerInfo4::EnumThreads`. **Context**: a managed thread, such as the one on which the workstation
    /// collector runs. On the threads of the server collector the runtime would wait for a lock of its own forever.
    ///
    /// # Errors
    ///
    /// The thread is not managed; the error of the native call, at once or as an item.
    pub fn threads(&self) -> Result<ThreadEnum> {
        let info = &self.info;
        if info.current_thread_id().is_err() {
            return Err(Error::rule(
                "ICorProfilerInfo4::EnumThreads",
                "the runtime is suspended by a thread of its server collector, on which the call would never return",
            ));
        }
        let mut enumerator = None;
        ask!(in gc info, ICorProfilerInfo4::EnumThreads(&mut enumerator))?;
        Ok(ThreadEnum::new(enumerator))
    }

    /// A reader of an object's characters, elements and fields. Names of fields are not available here.
    ///
    /// # Errors
    ///
    /// The errors of [`ProfilerInfo::object`].
    #[cfg(feature = "objects")]
    pub fn object<'a>(&'a self, object: ObjectId<'a>) -> Result<Object<'a>> {
        self.info.object(object)
    }
}

opaque! { GcScope }
