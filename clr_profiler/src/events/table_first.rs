//! The callbacks of `ICorProfilerCallback`; the parent module describes the syntax of a row.

macro_rules! callbacks {
    ($then:ident) => {
        $crate::events::table_later::callbacks! { $then [
            interface ICorProfilerCallback: IUnknown
            lifecycle { Initialize = initialize, Shutdown = shutdown, }
            {
                /// An application domain is about to be created.
                app_domain_creation_started = AppDomainCreationStarted(appDomainId: AppDomainID)
                    [MONITOR_APPDOMAIN_LOADS] info (app_domain: AppDomainId = AppDomainId::from_runtime(appDomainId));
                /// An application domain was created, or creation failed: see `status`.
                app_domain_creation_finished = AppDomainCreationFinished(appDomainId: AppDomainID, hrStatus: HRESULT)
                    [MONITOR_APPDOMAIN_LOADS] info (app_domain: AppDomainId = AppDomainId::from_runtime(appDomainId), status: Hresult = Hresult(hrStatus.0));
                /// An application domain is about to be unloaded.
                app_domain_shutdown_started = AppDomainShutdownStarted(appDomainId: AppDomainID)
                    [MONITOR_APPDOMAIN_LOADS] info (app_domain: AppDomainId = AppDomainId::from_runtime(appDomainId));
                /// An application domain was unloaded; its id is no longer valid for calls.
                app_domain_shutdown_finished = AppDomainShutdownFinished(appDomainId: AppDomainID, hrStatus: HRESULT)
                    [MONITOR_APPDOMAIN_LOADS] info (app_domain: AppDomainId = AppDomainId::from_runtime(appDomainId), status: Hresult = Hresult(hrStatus.0));

                /// An assembly is being loaded: its name is not known yet.
                assembly_load_started = AssemblyLoadStarted(assemblyId: AssemblyID)
                    [MONITOR_ASSEMBLY_LOADS] info (assembly: AssemblyId = AssemblyId::from_runtime(assemblyId));
                /// An assembly was loaded, or loading failed: see `status`.
                assembly_load_finished = AssemblyLoadFinished(assemblyId: AssemblyID, hrStatus: HRESULT)
                    [MONITOR_ASSEMBLY_LOADS] info (assembly: AssemblyId = AssemblyId::loaded(assemblyId, hrStatus), status: Hresult = Hresult(hrStatus.0));
                /// An assembly is about to be unloaded.
                assembly_unload_started = AssemblyUnloadStarted(assemblyId: AssemblyID)
                    [MONITOR_ASSEMBLY_LOADS] info (assembly: AssemblyId = AssemblyId::from_runtime(assemblyId));
                /// An assembly was unloaded; its id is no longer valid for calls.
                assembly_unload_finished = AssemblyUnloadFinished(assemblyId: AssemblyID, hrStatus: HRESULT)
                    [MONITOR_ASSEMBLY_LOADS] info (assembly: AssemblyId = AssemblyId::gone(assemblyId), status: Hresult = Hresult(hrStatus.0));

                /// A module is being loaded: no call may take its id yet.
                module_load_started = ModuleLoadStarted(moduleId: ModuleID)
                    [MONITOR_MODULE_LOADS] info (module: ModuleId = ModuleId::loading(moduleId));
                /// A module was loaded, or loading failed: see `status`. This is where metadata can be added
                /// to it.
                module_load_finished = ModuleLoadFinished(moduleId: ModuleID, hrStatus: HRESULT)
                    [MONITOR_MODULE_LOADS] info (module: ModuleId = ModuleId::loaded(moduleId, hrStatus), status: Hresult = Hresult(hrStatus.0));
                /// A module is about to be unloaded. Calls with its id, and with the ids of its types and
                /// functions, still succeed here; afterwards they are refused.
                ///
                /// Then the library waits, for at most 10 s, for the calls that other threads have already
                /// begun: if a callback runs within such a call, do not wait in it for the unload. If two
                /// profilers are in one library, the ids are already refused when the second one gets this
                /// callback.
                module_unload_started = ModuleUnloadStarted(moduleId: ModuleID)
                    [MONITOR_MODULE_LOADS] info (module: ModuleId = ModuleId::from_runtime(moduleId));
                /// A module was unloaded; its id is no longer valid for calls.
                module_unload_finished = ModuleUnloadFinished(moduleId: ModuleID, hrStatus: HRESULT)
                    [MONITOR_MODULE_LOADS] info (module: ModuleId = ModuleId::gone(moduleId), status: Hresult = Hresult(hrStatus.0));
                /// The assembly of a module is now known.
                module_attached_to_assembly = ModuleAttachedToAssembly(moduleId: ModuleID, AssemblyId: AssemblyID)
                    [MONITOR_MODULE_LOADS] info (module: ModuleId = ModuleId::from_runtime(moduleId), assembly: AssemblyId = AssemblyId::from_runtime(AssemblyId));

                /// A type is being loaded.
                class_load_started = ClassLoadStarted(classId: ClassID)
                    [MONITOR_CLASS_LOADS] info (class: ClassId = ClassId::loading(classId));
                /// A type was loaded, or loading failed: see `status`.
                class_load_finished = ClassLoadFinished(classId: ClassID, hrStatus: HRESULT)
                    [MONITOR_CLASS_LOADS] info (class: ClassId = ClassId::loaded(classId, hrStatus), status: Hresult = Hresult(hrStatus.0));
                /// A type is about to be unloaded.
                class_unload_started = ClassUnloadStarted(classId: ClassID)
                    [MONITOR_CLASS_LOADS] info (class: ClassId = ClassId::from_runtime(classId));
                /// A type was unloaded; its id is no longer valid for calls.
                class_unload_finished = ClassUnloadFinished(classId: ClassID, hrStatus: HRESULT)
                    [MONITOR_CLASS_LOADS] info (class: ClassId = ClassId::gone(classId), status: Hresult = Hresult(hrStatus.0));
                /// A function is unloaded; its id is no longer valid for calls.
                function_unload_started = FunctionUnloadStarted(functionId: FunctionID)
                    [MONITOR_FUNCTION_UNLOADS] info (function: FunctionId = FunctionId::gone(functionId));

                /// A function is about to be compiled: replace its IL here.
                ///
                /// Called for each generic instantiation and each tier, on several threads at once. If
                /// `is_safe_to_block` is false, do not wait for anything here.
                jit_compilation_started = JITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL)
                    [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), is_safe_to_block: bool = fIsSafeToBlock.as_bool());
                /// A function was compiled, or compilation failed: see `status`.
                jit_compilation_finished = JITCompilationFinished(functionId: FunctionID, hrStatus: HRESULT, fIsSafeToBlock: BOOL)
                    [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId), status: Hresult = Hresult(hrStatus.0), is_safe_to_block: bool = fIsSafeToBlock.as_bool());
                /// A function has precompiled code. Return `false` to have it compiled instead.
                jit_cached_function_search_started = JITCachedFunctionSearchStarted(functionId: FunctionID, pbUseCachedFunction: *mut BOOL)
                    [MONITOR_CACHE_SEARCHES] info (function: FunctionId = FunctionId::from_runtime(functionId)) -> pbUseCachedFunction;
                /// The search for precompiled code has ended.
                jit_cached_function_search_finished = JITCachedFunctionSearchFinished(functionId: FunctionID, result: COR_PRF_JIT_CACHE)
                    [MONITOR_CACHE_SEARCHES] info (function: FunctionId = FunctionId::from_runtime(functionId), result: JitCacheResult = JitCacheResult::from_native(result));
                /// Compiled code was discarded to save memory. No known runtime does that.
                jit_function_pitched = JITFunctionPitched(functionId: FunctionID)
                    [MONITOR_JIT_COMPILATION] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// `callee` is about to be inlined into `caller`. Return `false` to prevent it.
                jit_inlining = JITInlining(callerId: FunctionID, calleeId: FunctionID, pfShouldInline: *mut BOOL)
                    [MONITOR_JIT_COMPILATION] info (caller: FunctionId = FunctionId::from_runtime(callerId), callee: FunctionId = FunctionId::from_runtime(calleeId)) -> pfShouldInline;

                /// A managed thread was created.
                thread_created = ThreadCreated(threadId: ThreadID)
                    [MONITOR_THREADS] info (thread: ThreadId = ThreadId::beginning(threadId));
                /// A managed thread ends. Calls with its id still succeed here; afterwards they are refused.
                thread_destroyed = ThreadDestroyed(threadId: ThreadID)
                    [MONITOR_THREADS] info (thread: ThreadId = ThreadId::from_runtime(threadId));
                /// A managed thread runs on this OS thread from now on.
                thread_assigned_to_os_thread = ThreadAssignedToOSThread(managedThreadId: ThreadID, osThreadId: DWORD)
                    [MONITOR_THREADS] info (thread: ThreadId = ThreadId::from_runtime(managedThreadId), os_thread_id: u32 = osThreadId);

                /// A remoting call has begun (.NET Framework).
                remoting_client_invocation_started = RemotingClientInvocationStarted()
                    [MONITOR_REMOTING] info ();
                /// The client sends a remoting call (.NET Framework).
                remoting_client_sending_message = RemotingClientSendingMessage(pCookie: *const GUID, fIsAsync: BOOL)
                    [MONITOR_REMOTING] info (cookie: Option<Uuid> = uuid(pCookie), is_async: bool = fIsAsync.as_bool());
                /// The client receives the reply (.NET Framework).
                remoting_client_receiving_reply = RemotingClientReceivingReply(pCookie: *const GUID, fIsAsync: BOOL)
                    [MONITOR_REMOTING] info (cookie: Option<Uuid> = uuid(pCookie), is_async: bool = fIsAsync.as_bool());
                /// A remoting call has ended on the client (.NET Framework).
                remoting_client_invocation_finished = RemotingClientInvocationFinished()
                    [MONITOR_REMOTING] info ();
                /// The server receives a remoting call (.NET Framework).
                remoting_server_receiving_message = RemotingServerReceivingMessage(pCookie: *const GUID, fIsAsync: BOOL)
                    [MONITOR_REMOTING] info (cookie: Option<Uuid> = uuid(pCookie), is_async: bool = fIsAsync.as_bool());
                /// The server calls the method (.NET Framework).
                remoting_server_invocation_started = RemotingServerInvocationStarted()
                    [MONITOR_REMOTING] info ();
                /// The method has returned on the server (.NET Framework).
                remoting_server_invocation_returned = RemotingServerInvocationReturned()
                    [MONITOR_REMOTING] info ();
                /// The server sends the reply (.NET Framework).
                remoting_server_sending_reply = RemotingServerSendingReply(pCookie: *const GUID, fIsAsync: BOOL)
                    [MONITOR_REMOTING] info (cookie: Option<Uuid> = uuid(pCookie), is_async: bool = fIsAsync.as_bool());

                /// Native code calls managed code or returns to it. There may be no function.
                unmanaged_to_managed_transition = UnmanagedToManagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON)
                    [MONITOR_CODE_TRANSITIONS] info (function: Option<FunctionId> = FunctionId::optional(functionId), reason: TransitionReason = TransitionReason::from_native(reason));
                /// Managed code calls native code or returns to it. There may be no function.
                managed_to_unmanaged_transition = ManagedToUnmanagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON)
                    [MONITOR_CODE_TRANSITIONS] info (function: Option<FunctionId> = FunctionId::optional(functionId), reason: TransitionReason = TransitionReason::from_native(reason));

                /// The runtime begins to suspend all managed threads.
                runtime_suspend_started = RuntimeSuspendStarted(suspendReason: COR_PRF_SUSPEND_REASON)
                    [MONITOR_SUSPENDS] gc (reason: SuspendReason = SuspendReason::from_native(suspendReason));
                /// All managed threads are suspended.
                runtime_suspend_finished = RuntimeSuspendFinished() [MONITOR_SUSPENDS] gc ();
                /// The runtime gave up suspending the managed threads.
                runtime_suspend_aborted = RuntimeSuspendAborted() [MONITOR_SUSPENDS] gc ();
                /// The runtime begins to resume the managed threads.
                runtime_resume_started = RuntimeResumeStarted() [MONITOR_SUSPENDS] gc ();
                /// All managed threads are resumed.
                runtime_resume_finished = RuntimeResumeFinished() [MONITOR_SUSPENDS] gc ();
                /// This managed thread is suspended or about to be suspended.
                runtime_thread_suspended = RuntimeThreadSuspended(threadId: ThreadID)
                    [MONITOR_SUSPENDS] gc (thread: ThreadId = ThreadId::from_runtime(threadId));
                /// This managed thread is resumed.
                runtime_thread_resumed = RuntimeThreadResumed(threadId: ThreadID)
                    [MONITOR_SUSPENDS] gc (thread: ThreadId = ThreadId::from_runtime(threadId));

                /// A compacting collection moved objects.
                ///
                /// Called after [`moved_references2`](Self::moved_references2) with the same ranges, but with
                /// lengths truncated to 32 bits: override that one instead.
                moved_references = MovedReferences(cMovedObjectIDRanges: ULONG, oldObjectIDRangeStart: *const ObjectID, newObjectIDRangeStart: *const ObjectID, cObjectIDRangeLength: *const ULONG)
                    [MONITOR_GC] gc (ranges: MovedRanges<'_> = MovedRanges::new(
                        slice(oldObjectIDRangeStart, cMovedObjectIDRanges), slice(newObjectIDRangeStart, cMovedObjectIDRanges),
                        RangeLengths::Bits32(slice(cObjectIDRangeLength, cMovedObjectIDRanges))));
                /// An object was allocated.
                object_allocated = ObjectAllocated(objectId: ObjectID, classId: ClassID)
                    [MONITOR_OBJECT_ALLOCATED | ENABLE_OBJECT_ALLOCATED] info (object: ObjectId<'_> = ObjectId::from_callback(objectId), class: ClassId = ClassId::from_runtime(classId));
                /// The number of objects of each type that were allocated since the previous collection.
                objects_allocated_by_class = ObjectsAllocatedByClass(cClassCount: ULONG, classIds: *const ClassID, cObjects: *const ULONG)
                    [MONITOR_GC] gc (allocations: AllocationsByClass<'_> = AllocationsByClass::new(slice(classIds, cClassCount), slice(cObjects, cClassCount)));
                /// The references of one object. There may be no class during unloading.
                object_references = ObjectReferences(objectId: ObjectID, classId: ClassID, cObjectRefs: ULONG, objectRefIds: *const ObjectID)
                    [MONITOR_GC] gc (object: ObjectId<'_> = ObjectId::from_callback(objectId), class: Option<ClassId> = ClassId::optional(classId), references: ObjectIds<'_> = ObjectIds::new(slice(objectRefIds, cObjectRefs)));
                /// The roots of the heap; an entry may be null. [`root_references2`](Self::root_references2)
                /// has more details.
                root_references = RootReferences(cRootRefs: ULONG, rootRefIds: *const ObjectID)
                    [MONITOR_GC] gc (roots: RootIds<'_> = RootIds::new(slice(rootRefIds, cRootRefs)));

                /// An exception was thrown.
                ///
                /// On runtimes that [lose exceptions](crate::info::RuntimeInformation::loses_exceptions),
                /// .NET 9 and 10, this and the other callbacks of exceptions are called only if
                /// [`Setup::add_events`](crate::Setup::add_events) names their flag;
                /// [`ExceptionEvents`](crate::exceptions::ExceptionEvents) reports exceptions there.
                exception_thrown = ExceptionThrown(thrownObjectId: ObjectID)
                    [MONITOR_EXCEPTIONS] info (thrown: ObjectId<'_> = ObjectId::from_callback(thrownObjectId));
                /// The search for a handler enters a function.
                exception_search_function_enter = ExceptionSearchFunctionEnter(functionId: FunctionID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// The search for a handler leaves a function.
                exception_search_function_leave = ExceptionSearchFunctionLeave() [MONITOR_EXCEPTIONS] info ();
                /// A filter of this function is about to run.
                exception_search_filter_enter = ExceptionSearchFilterEnter(functionId: FunctionID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// A filter has run.
                exception_search_filter_leave = ExceptionSearchFilterLeave() [MONITOR_EXCEPTIONS] info ();
                /// The search has found a handler in this function.
                exception_search_catcher_found = ExceptionSearchCatcherFound(functionId: FunctionID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// Never called by a known runtime; included for completeness.
                exception_os_handler_enter = ExceptionOSHandlerEnter(__unused: UINT_PTR) [MONITOR_EXCEPTIONS] info ();
                /// Never called by a known runtime; included for completeness.
                exception_os_handler_leave = ExceptionOSHandlerLeave(__unused: UINT_PTR) [MONITOR_EXCEPTIONS] info ();
                /// Unwinding enters a function, which ends without returning.
                exception_unwind_function_enter = ExceptionUnwindFunctionEnter(functionId: FunctionID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// Unwinding leaves a function.
                exception_unwind_function_leave = ExceptionUnwindFunctionLeave() [MONITOR_EXCEPTIONS] info ();
                /// A finally or fault block of this function is about to run.
                exception_unwind_finally_enter = ExceptionUnwindFinallyEnter(functionId: FunctionID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId));
                /// A finally or fault block has run.
                exception_unwind_finally_leave = ExceptionUnwindFinallyLeave() [MONITOR_EXCEPTIONS] info ();
                /// A catch block of this function is about to run.
                exception_catcher_enter = ExceptionCatcherEnter(functionId: FunctionID, objectId: ObjectID)
                    [MONITOR_EXCEPTIONS] info (function: FunctionId = FunctionId::from_runtime(functionId), thrown: ObjectId<'_> = ObjectId::from_callback(objectId));
                /// A catch block has run.
                exception_catcher_leave = ExceptionCatcherLeave() [MONITOR_EXCEPTIONS] info ();

                /// A COM-callable wrapper was created for an interface of a type.
                com_classic_vtable_created = COMClassicVTableCreated(wrappedClassId: ClassID, implementedIID: *const GUID, pVTable: *mut c_void, cSlots: ULONG)
                    [MONITOR_CCW] info (class: ClassId = ClassId::from_runtime(wrappedClassId), interface: Option<Uuid> = uuid(implementedIID), vtable: usize = pVTable.addr(), slots: u32 = cSlots);
                /// A COM-callable wrapper was destroyed.
                com_classic_vtable_destroyed = COMClassicVTableDestroyed(wrappedClassId: ClassID, implementedIID: *const GUID, pVTable: *mut c_void)
                    [MONITOR_CCW] info (class: ClassId = ClassId::from_runtime(wrappedClassId), interface: Option<Uuid> = uuid(implementedIID), vtable: usize = pVTable.addr());
                /// The runtime itself will handle an exception.
                exception_clr_catcher_found = ExceptionCLRCatcherFound() [MONITOR_CLR_EXCEPTIONS] info ();
                /// The runtime itself handles an exception.
                exception_clr_catcher_execute = ExceptionCLRCatcherExecute() [MONITOR_CLR_EXCEPTIONS] info ();
            }
        ] }
    };
}
pub(crate) use callbacks;
