//! The meaning of the codes with which a runtime refuses to load a profiler.

/// The names of these codes, and their meaning for the person who wants to attach.
const REFUSALS: &[(u32, &str, &str)] = &[
    (
        0x8013_136A,
        "CORPROF_E_PROFILER_ALREADY_ACTIVE",
        "a profiler is loaded already, and there can be only one (apart from notification profilers). \
         Detach that one, or start the program without the environment variables that load it.",
    ),
    (
        0x8013_1371,
        "CORPROF_E_RUNTIME_UNINITIALIZED",
        "the runtime is still starting, or is ending. Try again in a moment.",
    ),
    (
        0x8013_135B,
        "CORPROF_E_NOT_YET_AVAILABLE",
        "the runtime is still starting. Try again in a moment.",
    ),
    (
        0x8013_136F,
        "CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER",
        "the profiler asks for something that only one can have that is loaded at the start of the \
         program, such as object allocations or function arguments. Start the program under it, or \
         take those events out of its setup for attaching.",
    ),
    (
        0x8013_1368,
        "CORPROF_E_PROFILER_NOT_ATTACHABLE",
        "this profiler cannot be attached. Start the program under it.",
    ),
    (
        0x8013_136E,
        "CORPROF_E_CALLBACK3_REQUIRED",
        "this profiler does not implement ICorProfilerCallback3, which attaching needs. Start the \
         program under it.",
    ),
    (
        0x8013_1367,
        "CORPROF_E_PROFILER_DETACHING",
        "another profiler is just being detached. Try again in a moment.",
    ),
    (
        0x8013_1375,
        "CORPROF_E_PROFILER_CANCEL_ACTIVATION",
        "the profiler chose not to be active in this process.",
    ),
    (
        0x8013_1376,
        "CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE",
        "the profiler asks for garbage collections in detail, which this program's concurrent \
         collector does not allow. Ask for HIGH_BASIC_GC instead of MONITOR_GC, or start the program \
         with DOTNET_gcConcurrent=0.",
    ),
    (
        0x8013_1379,
        "CORPROF_E_TIMEOUT_WAITING_FOR_CONCURRENT_GC",
        "a concurrent garbage collection did not end in time. Try again, or with a longer timeout.",
    ),
    (
        0x8013_1378,
        "CORPROF_E_DEBUGGING_DISABLED",
        "the program was started with diagnostics switched off.",
    ),
    (
        0x8013_1384,
        "CORDIAGIPC_E_BAD_ENCODING",
        "it cannot read the request.",
    ),
    (
        0x8013_1385,
        "CORDIAGIPC_E_UNKNOWN_COMMAND",
        "it does not know the request: profilers can be attached to .NET Core 3.1 and newer.",
    ),
    (
        0x8013_1386,
        "CORDIAGIPC_E_UNKNOWN_MAGIC",
        "it does not know this version of the protocol.",
    ),
    (
        0x8013_1387,
        "CORDIAGIPC_E_UNKNOWN_ERROR",
        "something went wrong there.",
    ),
    (
        0x8013_1515,
        "COR_E_NOTSUPPORTED",
        "it loads no profilers, as is the case with NativeAOT programs.",
    ),
    (
        0x8007_007E,
        "HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND)",
        "it cannot load the library: the file or a library that it needs is missing where the \
         program runs, the user of the program may not read it, or it is for another architecture \
         or another C library.",
    ),
    (
        0x8004_0154,
        "REGDB_E_CLASSNOTREG",
        "it cannot load the library, or the library has no profiler with this CLSID.",
    ),
    (
        0x8004_0111,
        "CLASS_E_CLASSNOTAVAILABLE",
        "the library has no profiler with this CLSID.",
    ),
    (
        0x8007_0057,
        "E_INVALIDARG",
        "the profiler failed to start, most likely because it asks for events that it cannot have.",
    ),
    (
        0x8000_4005,
        "E_FAIL",
        "the profiler failed to start. One made with clr_profiler says why if the program was \
         started with CLR_PROFILER_DIAGNOSTICS=stderr (or a file).",
    ),
    (
        0x8000_4001,
        "E_NOTIMPL",
        "this profiler cannot be attached. Start the program under it.",
    ),
    (
        0x8007_000E,
        "E_OUTOFMEMORY",
        "the program has no memory left for it.",
    ),
];

/// The name of the code, and what to do.
pub(crate) fn explain(hresult: i32) -> String {
    let code = hresult as u32;
    match REFUSALS.iter().find(|(known, ..)| *known == code) {
        Some((_, name, meaning)) => format!("{name} (0x{code:08X}): {meaning}"),
        None => format!("HRESULT 0x{code:08X}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_named_and_explained() {
        assert_eq!(
            explain(0x8013_1375_u32 as i32),
            "CORPROF_E_PROFILER_CANCEL_ACTIVATION (0x80131375): the profiler chose not to be \
             active in this process."
        );
        assert_eq!(explain(0x8765_4321_u32 as i32), "HRESULT 0x87654321.");
    }

    #[test]
    fn no_code_stands_there_twice() {
        for (index, (code, name, meaning)) in REFUSALS.iter().enumerate() {
            assert!(REFUSALS[..index].iter().all(|(other, ..)| other != code));
            assert!(meaning.ends_with('.'), "{name}");
        }
    }
}
