//! [`GcScope`]: what can be asked while the runtime is suspended.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::{
    ArrayClassInfo, ArrayObjectInfo, ClassIdInfo2, ClassLayout, CorProfilerInfo, CorProfilerInfo2,
    CorProfilerInfo3, CorProfilerInfo4, CorProfilerInfo10, CorProfilerInfo14,
    CorProfilerInfoStatics, FunctionInfo, GenerationRange, NonGcHeapRange, Object, ObjectEnum,
    ObjectReference, ProfilerInfo, RuntimeInformation, StaticKind, StringLayout,
};
use crate::error::Result;
use crate::ids::{AppDomainId, ClassId, ContextId, FunctionId, ObjectId, ThreadId};
use clr_profiler_il::token::FieldDef;

/// What a callback may ask while the runtime is suspended for a garbage collection.
///
/// Other calls would wait for the collection to end, and it waits for the callback: they are not
/// here, and around it they are refused. It stays on the thread of the callback.
#[repr(transparent)]
pub struct GcScope {
    info: ProfilerInfo,
    stays_here: PhantomData<*const ()>,
}

/// One call a row: its documentation, its name here, and where it comes from.
macro_rules! legal_in_gc {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $origin:ident::$method:ident;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        #[doc = concat!("What [`", stringify!($origin), "::", stringify!($method), "`] returns.")]
        pub fn $name(&self, $($argument: $type),*) -> Result<$answer> {
            self.info.$method($($argument),*)
        }
    )*};
}

impl GcScope {
    pub(crate) fn from_callback(info: &ProfilerInfo) -> &Self {
        // SAFETY: a transparent wrapper has the layout of what it wraps.
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

        /// Elements and dimensions of an array type. Wraps `ICorProfilerInfo::IsArrayClass`.
        array_class_info(class: ClassId) -> Option<ArrayClassInfo> = CorProfilerInfo::array_class_info;

        /// Where a type is defined, what it derives from, and its generic arguments. Wraps
        /// `ICorProfilerInfo2::GetClassIDInfo2`.
        class_id_info2(class: ClassId) -> ClassIdInfo2 = CorProfilerInfo2::class_id_info2;

        /// The method that a function is an instance of. Wraps `ICorProfilerInfo::GetFunctionInfo`.
        function_info(function: FunctionId) -> FunctionInfo = CorProfilerInfo::function_info;

        /// The function whose native code an instruction pointer is in. Wraps
        /// `ICorProfilerInfo::GetFunctionFromIP`.
        function_from_ip(address: usize) -> FunctionId = CorProfilerInfo::function_from_ip;

        /// Size of a type, and where its fields are. Wraps `ICorProfilerInfo2::GetClassLayout`.
        class_layout(class: ClassId) -> ClassLayout = CorProfilerInfo2::class_layout;

        /// Where the value is in a boxed value of this type. Wraps
        /// `ICorProfilerInfo2::GetBoxClassLayout`.
        box_class_layout(class: ClassId) -> u32 = CorProfilerInfo2::box_class_layout;

        /// Where length and characters are in a string object. Wraps
        /// `ICorProfilerInfo3::GetStringLayout2`.
        string_layout() -> StringLayout = CorProfilerInfo3::string_layout2;

        /// Dimensions of an array object, and where its elements are. Wraps
        /// `ICorProfilerInfo2::GetArrayObjectInfo`.
        array_object_info(object: ObjectId<'_>) -> ArrayObjectInfo = CorProfilerInfo2::array_object_info;

        /// The address ranges of the generations. Wraps `ICorProfilerInfo2::GetGenerationBounds`.
        generation_bounds() -> Vec<GenerationRange> = CorProfilerInfo2::generation_bounds;

        /// The address range of the managed heap that an object is in. Wraps
        /// `ICorProfilerInfo2::GetObjectGeneration`.
        object_generation(object: ObjectId<'_>) -> GenerationRange = CorProfilerInfo2::object_generation;

        /// Whether an object is never collected. Wraps `ICorProfilerInfo10::IsFrozenObject`.
        is_frozen_object(object: ObjectId<'_>) -> bool = CorProfilerInfo10::is_frozen_object;

        /// From which size on objects go to the large-object heap. Wraps
        /// `ICorProfilerInfo10::GetLOHObjectSizeThreshold`.
        loh_object_size_threshold() -> u32 = CorProfilerInfo10::loh_object_size_threshold;

        /// The managed thread that this thread is. Wraps `ICorProfilerInfo::GetCurrentThreadID`.
        current_thread_id() -> ThreadId = CorProfilerInfo::current_thread_id;

        /// The operating system's id of a thread. Wraps `ICorProfilerInfo::GetThreadInfo`.
        thread_info(thread: ThreadId) -> u32 = CorProfilerInfo::thread_info;

        /// The application domain of a thread. Wraps `ICorProfilerInfo2::GetThreadAppDomain`.
        thread_app_domain(thread: ThreadId) -> AppDomainId = CorProfilerInfo2::thread_app_domain;

        /// The context of a thread. Wraps `ICorProfilerInfo::GetThreadContext`.
        thread_context(thread: ThreadId) -> ContextId = CorProfilerInfo::thread_context;

        /// What a static field belongs to. Wraps `ICorProfilerInfo2::GetStaticFieldInfo`.
        static_field_info(class: ClassId, field: FieldDef) -> StaticKind = CorProfilerInfoStatics::static_field_info;

        /// The address of a static field that is part of the module's image. Wraps
        /// `ICorProfilerInfo2::GetRVAStaticAddress`.
        rva_static_address(class: ClassId, field: FieldDef) -> usize = CorProfilerInfoStatics::rva_static_address;

        /// The address of an ordinary static field. Wraps
        /// `ICorProfilerInfo2::GetAppDomainStaticAddress`.
        app_domain_static_address(class: ClassId, field: FieldDef, app_domain: AppDomainId) -> usize
            = CorProfilerInfoStatics::app_domain_static_address;

        /// The address of a static field that there is one of for each thread, of any thread. Wraps
        /// `ICorProfilerInfo3::GetThreadStaticAddress2`.
        thread_static_address2(
            class: ClassId, field: FieldDef, app_domain: AppDomainId, thread: ThreadId
        ) -> usize = CorProfilerInfoStatics::thread_static_address2;

        /// The objects that are never collected. Wraps `ICorProfilerInfo14::EnumerateNonGCObjects`.
        non_gc_objects() -> ObjectEnum<'_> = CorProfilerInfo14::non_gc_objects;

        /// The address ranges of objects that are never collected. Wraps
        /// `ICorProfilerInfo14::GetNonGCHeapBounds`.
        non_gc_heap_bounds() -> Vec<NonGcHeapRange> = CorProfilerInfo14::non_gc_heap_bounds;

        /// Kind and version of the runtime. Wraps `ICorProfilerInfo3::GetRuntimeInformation`.
        runtime_information() -> RuntimeInformation = CorProfilerInfo3::runtime_information;
    }

    /// Calls `visit` for each reference that an object holds, until it says to stop. Wraps
    /// `ICorProfilerInfo10::EnumerateObjectReferences`.
    ///
    /// # Errors
    ///
    /// What [`CorProfilerInfo10::enumerate_object_references`] returns.
    pub fn enumerate_object_references(
        &self,
        object: ObjectId<'_>,
        visit: impl FnMut(ObjectReference<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.info.enumerate_object_references(object, visit)
    }

    /// What is in an object: characters, elements, fields. Names of fields cannot be told here.
    ///
    /// # Errors
    ///
    /// What [`ProfilerInfo::object`] returns.
    pub fn object<'a>(&'a self, object: ObjectId<'a>) -> Result<Object<'a>> {
        self.info.object(object)
    }
}

opaque! { GcScope }
