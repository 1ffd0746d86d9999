//! `ICorProfilerInfo3`.

use std::time::Duration;

use super::ProfilerInfo;
use super::collectible::all_code;
use super::departures;
use super::enumerate::{FunctionEnum, ModuleEnum};
use super::handle::Sealed;
use super::{ModuleInfo, StringLayout};
use crate::error::{Error, Result};
use crate::ids::{AppDomainId, AssemblyId, ModuleId};
use crate::native::{CallContext, native_enums, native_flags};
use crate::runtime::CallKind;
use clr_profiler_sys as sys;

/// The identity of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeInformation {
    /// Distinguishes several runtimes in one process.
    pub instance: u16,
    /// .NET or .NET Framework.
    pub kind: RuntimeKind,
    /// The major version. .NET Core 3.1 and older report 4.
    pub major: u16,
    /// The minor version.
    pub minor: u16,
    /// The build number.
    pub build: u16,
    /// The fix number.
    pub fix: u16,
    /// The version as text.
    pub version: String,
}

impl RuntimeInformation {
    /// Whether the runtime loses exceptions while a profiler monitors them, which changes the behaviour of
    /// the program or ends it: .NET 9 and 10.
    ///
    /// With [`MONITOR_EXCEPTIONS`](crate::EventMask::MONITOR_EXCEPTIONS), these versions let collections
    /// run between finding a filter or catch block and calling it, and call it with the exception's old
    /// address. Seen on .NET 9.0.7 and 10.0.13; later servicing releases may not do so.
    #[must_use]
    pub fn loses_exceptions(&self) -> bool {
        self.kind == RuntimeKind::Core && matches!(self.major, 9 | 10)
    }
}

native_enums! {
    /// The kind of a runtime.
    RuntimeKind = COR_PRF_RUNTIME_TYPE {
        /// .NET Framework.
        Framework = COR_PRF_DESKTOP_CLR,
        /// .NET and .NET Core.
        Core = COR_PRF_CORE_CLR,
    }
}

native_flags! {
    /// Properties of a module.
    ModuleFlags = COR_PRF_MODULE_FLAGS {
        /// It comes from a file.
        DISK = COR_PRF_MODULE_DISK,
        /// It has precompiled code.
        NGEN = COR_PRF_MODULE_NGEN,
        /// It is built at run time.
        DYNAMIC = COR_PRF_MODULE_DYNAMIC,
        /// It can be unloaded.
        COLLECTIBLE = COR_PRF_MODULE_COLLECTIBLE,
        /// It contains only resources.
        RESOURCE = COR_PRF_MODULE_RESOURCE,
        /// It has the layout of its file in memory: addresses in its headers are offsets into the file.
        FLAT_LAYOUT = COR_PRF_MODULE_FLAT_LAYOUT,
        /// It holds Windows Runtime metadata.
        WINDOWS_RUNTIME = COR_PRF_MODULE_WINDOWS_RUNTIME,
        _ = !0,
    }
}

table! { ($) __cor_profiler_info3:
    CorProfilerInfo3 = ICorProfilerInfo3 from info;

    /// The loaded modules, for an attached profiler.
    ///
    /// A module that is loaded meanwhile can be enumerated, announced by a callback, or both.
    fn modules() -> ModuleEnum = EnumModules(@enumerator)
        at "not during a collection; a profiler that was attached calls it in \
            [`profiler_attach_complete`](crate::Profiler::profiler_attach_complete)."
        fails "The error of the native call, at once or as an item.";

    /// The functions that have native code, for an attached profiler.
    ///
    /// The ReJIT ids are all 0 here; [`jitted_functions2`](super::CorProfilerInfo4::jitted_functions2)
    /// returns them, and says when both calls are refused.
    fn jitted_functions() -> FunctionEnum = [notrigger] EnumJITedFunctions(@enumerator)
        given _all = all_code()
        fails "The error of the native call, at once or as an item.";

    /// The application domains that a module is loaded in; .NET (Core) has only one.
    fn app_domains_containing_module(module: ModuleId) -> Vec<AppDomainId>
        = GetAppDomainsContainingModule(module, @[domains]) at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded or unloaded.";

    /// The kind and version of the runtime.
    fn runtime_information() -> {RuntimeInformation}
        = [in gc] GetRuntimeInformation(@instance, @kind, @major, @minor, @build, @fix,
            @{version});

    /// The offsets of length and characters in a string object.
    fn string_layout2() -> StringLayout = [in gc] GetStringLayout2(@length, @buffer) by layout;

    /// The path, load address, assembly and flags of a module.
    fn module_info2(module: ModuleId) -> (ModuleInfo, ModuleFlags)
        = [notrigger] GetModuleInfo2(module, @base, @{name}, @assembly, @flags) by module_and_flags
        at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being loaded.";
}

/// The calls of `ICorProfilerInfo3`: modules, the kind and version of the runtime, and detaching.
#[doc(alias = "ICorProfilerInfo3")]
pub trait CorProfilerInfo3: Sealed {
    __cor_profiler_info3! { calls }

    /// Requests that the runtime detach this profiler.
    ///
    /// From then on, no callback is called and all calls of this profiler are refused. When no thread is in
    /// one of its callbacks anymore,
    /// [`profiler_detach_succeeded`](crate::Profiler::profiler_detach_succeeded) is called, and then the
    /// profiler is dropped. This takes at least 0.3 s, and longer while callbacks run. Afterwards another
    /// profiler can be attached, or the same one again.
    ///
    /// `expected` is the time within which the profiler's callbacks are expected to return: the runtime
    /// checks for the first time after it, at the latest after 5 s; zero means 2.5 s. A value that is too
    /// large is better than one that is too small: if .NET Core 3.1 finds a thread in a callback then, and
    /// again at twice that time, its next check is only after ten minutes.
    ///
    /// The library stays loaded, with its static variables, so the profiler's own threads may continue to
    /// run.
    ///
    /// If the profiler has suspended the runtime, the call waits until the runtime is resumed. After the
    /// request, the profiler can no longer suspend it. While another profiler of the same library is being
    /// detached, it waits for that, too: of several requests at once, the runtime forgets some.
    ///
    /// `expected` is the time in which the threads of the program leave the callbacks that they are in. The runtime waits for so long, 300
    /// milliseconds at least, and if a thread is then in a callback, until twice the time has passed. If one still is, it looks again
    /// after ten minutes: on a busy machine, a short time can make a detach take that long.
    ///
    /// Wraps `ICorProfilerInfo3::RequestProfilerDetach`. **Context**: a callback or a thread of the
    /// profiler's own, not `initialize`; for attached profilers as well as for those loaded at the start.
    ///
    /// # Errors
    ///
    /// - `CORPROF_E_IMMUTABLE_FLAGS_SET` after immutable events were set,
    /// - `CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT` after
    ///   [`set_il_function_body`](crate::info::CorProfilerInfo::set_il_function_body), a ReJIT or enter and
    ///   leave hooks,
    /// - `CORPROF_E_PROFILER_NOT_YET_INITIALIZED` in `initialize`,
    /// - `CORPROF_E_PROFILER_DETACHING` after an earlier request, or in a callback that must not wait while
    ///   another profiler of the same library is being detached,
    /// - `CORPROF_E_SUSPENSION_IN_PROGRESS` in a callback that must not wait, such as
    ///   [`exception_thrown`](crate::Profiler::exception_thrown), while the profiler suspends the
    ///   runtime on another thread,
    /// - an error on a thread that has itself suspended the runtime,
    /// - an error if several profilers run as one (`register!(compose(..))`): all of them would be detached,
    /// - `CORPROF_E_RUNTIME_UNINITIALIZED` while the runtime starts.
    #[doc(alias = "RequestProfilerDetach")]
    fn request_profiler_detach(&self, expected: Duration) -> Result<()> {
        let milliseconds = u32::try_from(expected.as_millis()).unwrap_or(u32::MAX);
        let info = self.handle();
        let call = "ICorProfilerInfo3::RequestProfilerDetach";
        if let Some(names) = info.composed() {
            return Err(Error::rule(
                call,
                format!("{names} run as one profiler, and would all be detached"),
            ));
        }
        info.detach(call, || {
            let in_flight = info.native::<sys::ICorProfilerInfo3>(call, CallKind::GcTriggers)?;
            // The request can wait for the lock of a detach in progress, in which another profiler of this library
            // waits for all calls in flight. The end of this profiler waits for its request alone.
            let native = sys::ICorProfilerInfo3::clone(&in_flight);
            drop(in_flight);
            let got_callbacks = departures::end(info);
            native_call!(
                &native,
                ICorProfilerInfo3::RequestProfilerDetach(milliseconds)
            )
            .map(drop)
            .inspect_err(|_| {
                if got_callbacks {
                    departures::begin(info);
                }
            })
        })
    }
}

impl CorProfilerInfo3 for ProfilerInfo {}

fn layout((length, buffer): (u32, u32), _: &CallContext<'_>) -> Result<StringLayout> {
    Ok(StringLayout {
        buffer_length_offset: length,
        length_offset: length,
        buffer_offset: buffer,
    })
}

fn module_and_flags(
    (base_address, name, assembly, flags): (Option<usize>, String, Option<AssemblyId>, ModuleFlags),
    _: &CallContext<'_>,
) -> Result<(ModuleInfo, ModuleFlags)> {
    let module = ModuleInfo {
        base_address,
        name,
        assembly,
    };
    Ok((module, flags))
}
