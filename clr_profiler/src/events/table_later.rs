//! The callbacks of `ICorProfilerCallback2` to `11`; the parent module describes the syntax of a row.

macro_rules! callbacks {
    ($then:ident [$($first:tt)*]) => {
        $then! {
            $($first)*
            interface ICorProfilerCallback2: ICorProfilerCallback
            lifecycle {}
            {
                /// A thread has a new name, which is empty if the name was removed.
                thread_name_changed = ThreadNameChanged(threadId: ThreadID, cchName: ULONG, name: *const WCHAR)
                    [MONITOR_THREADS] info (thread: ThreadId = ThreadId::from_runtime(threadId), name: &str = &String::from_utf16_lossy(slice(name, cchName)));
                /// A garbage collection begins.
                garbage_collection_started = GarbageCollectionStarted(cGenerations: i32, generationCollected: *const BOOL, reason: COR_PRF_GC_REASON)
                    [HIGH_BASIC_GC] gc (generations: GenerationSet = GenerationSet::new(slice(generationCollected, cGenerations.max(0) as u32)), reason: GcReason = GcReason::from_native(reason));
                /// The ranges of objects that a collection did not move.
                ///
                /// Called after [`surviving_references2`](Self::surviving_references2) with the same ranges,
                /// but with lengths truncated to 32 bits: override that one instead.
                surviving_references = SurvivingReferences(cSurvivingObjectIDRanges: ULONG, objectIDRangeStart: *const ObjectID, cObjectIDRangeLength: *const ULONG)
                    [MONITOR_GC] gc (ranges: SurvivingRanges<'_> = SurvivingRanges::new(
                        slice(objectIDRangeStart, cSurvivingObjectIDRanges), RangeLengths::Bits32(slice(cObjectIDRangeLength, cSurvivingObjectIDRanges))));
                /// A garbage collection has ended; managed threads may still be suspended.
                garbage_collection_finished = GarbageCollectionFinished() [HIGH_BASIC_GC] gc ();
                /// An object with a finalizer is unreachable and was queued for finalization.
                finalizeable_object_queued = FinalizeableObjectQueued(finalizerFlags: DWORD, objectID: ObjectID)
                    [MONITOR_GC] gc (is_critical: bool = finalizerFlags & COR_PRF_FINALIZER_CRITICAL != 0, object: ObjectId<'_> = ObjectId::from_callback(objectID));
                /// The roots of the heap with their kinds, flags and ids.
                root_references2 = RootReferences2(cRootRefs: ULONG, rootRefIds: *const ObjectID, rootKinds: *const COR_PRF_GC_ROOT_KIND, rootFlags: *const COR_PRF_GC_ROOT_FLAGS, rootIds: *const UINT_PTR)
                    [MONITOR_GC] gc (roots: Roots<'_> = Roots::new(slice(rootRefIds, cRootRefs), slice(rootKinds, cRootRefs), slice(rootFlags, cRootRefs), slice(rootIds, cRootRefs)));
                /// A handle was created; it may be null at first.
                handle_created = HandleCreated(handleId: GCHandleID, initialObjectId: ObjectID)
                    [MONITOR_GC] info (handle: GcHandleId = GcHandleId::from_runtime(handleId), object: Option<ObjectId<'_>> = ObjectId::optional(initialObjectId));
                /// A handle was destroyed.
                handle_destroyed = HandleDestroyed(handleId: GCHandleID)
                    [MONITOR_GC] info (handle: GcHandleId = GcHandleId::from_runtime(handleId));
            }
            interface ICorProfilerCallback3: ICorProfilerCallback2
            lifecycle { InitializeForAttach = initialize_for_attach, }
            {
                /// The attached profiler gets all callbacks from now on: enumerate here the modules that
                /// were loaded before.
                profiler_attach_complete = ProfilerAttachComplete() [] info ();
                /// The runtime has detached the profiler: this is its last callback.
                profiler_detach_succeeded = ProfilerDetachSucceeded() [] info ();
            }
            interface ICorProfilerCallback4: ICorProfilerCallback3
            lifecycle {}
            {
                /// A function is about to be compiled again, with the IL of this ReJIT id.
                rejit_compilation_started = ReJITCompilationStarted(functionId: FunctionID, rejitId: ReJITID, fIsSafeToBlock: BOOL)
                    [ENABLE_REJIT | MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), rejit: RejitId = RejitId::from_runtime(rejitId), is_safe_to_block: bool = fIsSafeToBlock.as_bool());
                /// The runtime requests the new IL of a method for which ReJIT was requested.
                ///
                /// After an error the runtime continues with the current IL of the method.
                get_rejit_parameters = GetReJITParameters(moduleId: ModuleID, methodId: mdMethodDef, pFunctionControl: *mut c_void)
                    [ENABLE_REJIT] info (module: ModuleId = ModuleId::from_runtime(moduleId), method: MethodDef = typed("ICorProfilerCallback4::GetReJITParameters", methodId)?, control: &FunctionControl<'_> = &FunctionControl::from_callback(pFunctionControl)?);
                /// A function was compiled again, or compilation failed: see `status`.
                rejit_compilation_finished = ReJITCompilationFinished(functionId: FunctionID, rejitId: ReJITID, hrStatus: HRESULT, fIsSafeToBlock: BOOL)
                    [ENABLE_REJIT | MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), rejit: RejitId = RejitId::from_runtime(rejitId), status: Hresult = Hresult(hrStatus.0), is_safe_to_block: bool = fIsSafeToBlock.as_bool());
                /// A ReJIT request failed for this method; there may be no function yet.
                rejit_error = ReJITError(moduleId: ModuleID, methodId: mdMethodDef, functionId: FunctionID, hrStatus: HRESULT)
                    [ENABLE_REJIT] info (module: ModuleId = ModuleId::from_runtime(moduleId), method: MethodDef = typed("ICorProfilerCallback4::ReJITError", methodId)?, function: Option<FunctionId> = FunctionId::optional(functionId), status: Hresult = Hresult(hrStatus.0));
                /// A compacting collection moved objects; ranges can be longer than 4 GB.
                ///
                /// [`HIGH_MONITOR_GC_MOVED_OBJECTS`](crate::EventMask::HIGH_MONITOR_GC_MOVED_OBJECTS) alone,
                /// which is cheaper, enables it on .NET Core 3.1, but not on .NET 8, 9 and 10.
                moved_references2 = MovedReferences2(cMovedObjectIDRanges: ULONG, oldObjectIDRangeStart: *const ObjectID, newObjectIDRangeStart: *const ObjectID, cObjectIDRangeLength: *const SIZE_T)
                    [MONITOR_GC] gc (ranges: MovedRanges<'_> = MovedRanges::new(
                        slice(oldObjectIDRangeStart, cMovedObjectIDRanges), slice(newObjectIDRangeStart, cMovedObjectIDRanges),
                        RangeLengths::Native(slice(cObjectIDRangeLength, cMovedObjectIDRanges))));
                /// The ranges of objects that a collection did not move; they can be longer than 4 GB.
                surviving_references2 = SurvivingReferences2(cSurvivingObjectIDRanges: ULONG, objectIDRangeStart: *const ObjectID, cObjectIDRangeLength: *const SIZE_T)
                    [MONITOR_GC] gc (ranges: SurvivingRanges<'_> = SurvivingRanges::new(
                        slice(objectIDRangeStart, cSurvivingObjectIDRanges), RangeLengths::Native(slice(cObjectIDRangeLength, cSurvivingObjectIDRanges))));
            }
            interface ICorProfilerCallback5: ICorProfilerCallback4
            lifecycle {}
            {
                /// Elements of conditional weak tables: the key of an element keeps its value alive.
                conditional_weak_table_element_references = ConditionalWeakTableElementReferences(cRootRefs: ULONG, keyRefIds: *const ObjectID, valueRefIds: *const ObjectID, rootIds: *const GCHandleID)
                    [MONITOR_GC] gc (elements: WeakTableElements<'_> = WeakTableElements::new(slice(keyRefIds, cRootRefs), slice(valueRefIds, cRootRefs), slice(rootIds.cast(), cRootRefs)));
            }
            interface ICorProfilerCallback6: ICorProfilerCallback5
            lifecycle {}
            {
                /// The runtime collects the references of an assembly: `provider` adds some.
                get_assembly_references = GetAssemblyReferences(wszAssemblyPath: *const WCHAR, pAsmRefProvider: *mut c_void)
                    [HIGH_ADD_ASSEMBLY_REFERENCES] info (assembly_path: &str = &utf16_string(wszAssemblyPath), provider: &AssemblyReferenceProvider<'_> = &AssemblyReferenceProvider::from_callback(pAsmRefProvider)?);
            }
            interface ICorProfilerCallback7: ICorProfilerCallback6
            lifecycle {}
            {
                /// The symbols of an in-memory module have changed.
                module_in_memory_symbols_updated = ModuleInMemorySymbolsUpdated(moduleId: ModuleID)
                    [HIGH_IN_MEMORY_SYMBOLS_UPDATED] info (module: ModuleId = ModuleId::from_runtime(moduleId));
            }
            interface ICorProfilerCallback8: ICorProfilerCallback7
            lifecycle {}
            {
                /// A method without metadata is about to be compiled: a `DynamicMethod` or a stub of the
                /// runtime. `il` is its method body.
                dynamic_method_jit_compilation_started = DynamicMethodJITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL, pILHeader: *const BYTE, cbILHeader: ULONG)
                    [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::dynamic(functionId), is_safe_to_block: bool = fIsSafeToBlock.as_bool(), il: &[u8] = slice(pILHeader, cbILHeader));
                /// A method without metadata was compiled, or compilation failed: see `status`.
                dynamic_method_jit_compilation_finished = DynamicMethodJITCompilationFinished(functionId: FunctionID, hrStatus: HRESULT, fIsSafeToBlock: BOOL)
                    [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), status: Hresult = Hresult(hrStatus.0), is_safe_to_block: bool = fIsSafeToBlock.as_bool());
            }
            interface ICorProfilerCallback9: ICorProfilerCallback8
            lifecycle {}
            {
                /// A method without metadata was unloaded; its id is no longer valid for calls.
                dynamic_method_unloaded = DynamicMethodUnloaded(functionId: FunctionID)
                    [HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS] info (function: FunctionId = FunctionId::gone(functionId));
            }
            interface ICorProfilerCallback10: ICorProfilerCallback9
            lifecycle {}
            {
                /// An event of an EventPipe session of this profiler.
                ///
                /// Called on the thread that raised the event, perhaps while it holds locks of the runtime:
                /// copy the data and return.
                event_pipe_event_delivered = EventPipeEventDelivered(provider: EVENTPIPE_PROVIDER, eventId: DWORD, eventVersion: DWORD, cbMetadataBlob: ULONG, metadataBlob: *const BYTE, cbEventData: ULONG, eventData: *const BYTE, pActivityId: *const GUID, pRelatedActivityId: *const GUID, eventThread: ThreadID, numStackFrames: ULONG, stackFrames: *const UINT_PTR)
                    [HIGH_MONITOR_EVENT_PIPE] info (event: &EventPipeEvent<'_> = &EventPipeEvent {
                        provider: EventPipeProviderId::from_runtime(provider), id: eventId, version: eventVersion,
                        metadata: slice(metadataBlob, cbMetadataBlob), payload: slice(eventData, cbEventData),
                        activity: uuid(pActivityId), related_activity: uuid(pRelatedActivityId),
                        thread: ThreadId::optional(eventThread), stack: slice(stackFrames, numStackFrames),
                    });
                /// An EventPipe provider was created.
                event_pipe_provider_created = EventPipeProviderCreated(provider: EVENTPIPE_PROVIDER)
                    [HIGH_MONITOR_EVENT_PIPE] info (provider: EventPipeProviderId<'_> = EventPipeProviderId::from_runtime(provider));
            }
            interface ICorProfilerCallback11: ICorProfilerCallback10
            lifecycle { LoadAsNotificationOnly = load_as_notification_only, }
            {}
        }
    };
}
pub(crate) use callbacks;
