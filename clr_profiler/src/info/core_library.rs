//! The core library of a runtime, and the names of .NET's own assemblies.
//!
//! Nothing else in the library assumes a name: .NET and .NET Framework have different core libraries.

use super::ProfilerInfo;
use clr_profiler_il::core_library::{MSCORLIB, PRIVATE};

/// The first parts of the names of .NET's assemblies.
const FAMILIES: [&str; 5] = ["System", "Microsoft", "Interop", MSCORLIB, "netstandard"];

/// The assembly that the runtime creates for dynamic methods: it has none of its own.
const OF_DYNAMIC_METHODS: &str = "Anonymously Hosted DynamicMethods Assembly";

/// Whether an assembly is part of .NET or .NET Framework, or created by the runtime, by its simple name.
///
/// ```
/// use clr_profiler::info::is_framework;
///
/// assert!(is_framework("System.Private.CoreLib") && is_framework("mscorlib"));
/// assert!(!is_framework("Systematics") && !is_framework("Shop.System"));
/// ```
#[must_use]
pub fn is_framework(assembly: &str) -> bool {
    let first = assembly.split('.').next().unwrap_or_default();
    FAMILIES.contains(&first) || assembly == OF_DYNAMIC_METHODS
}

impl ProfilerInfo {
    /// The simple name of the runtime's core library, which defines `System.Object`: `System.Private.CoreLib`, or `mscorlib` on
    /// .NET Framework.
    ///
    /// For patterns that name it. Symbols name it as `corelib` on each runtime.
    ///
    /// Calls `ICorProfilerInfo3::GetRuntimeInformation` once. **Context**: anywhere.
    #[must_use]
    pub fn core_library(&self) -> &'static str {
        // A runtime that does not answer this question answers no other one either.
        match self.is_net_framework() {
            Ok(true) => MSCORLIB,
            Ok(false) | Err(_) => PRIVATE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_framework;

    #[test]
    fn assemblies_of_others_may_begin_alike() {
        for name in [
            "System",
            "System.Private.CoreLib",
            "Microsoft.CSharp",
            "mscorlib",
            "netstandard",
            "Anonymously Hosted DynamicMethods Assembly",
        ] {
            assert!(is_framework(name), "{name}");
        }
        for name in [
            "Systematics",
            "MicrosoftFan.App",
            "mscorlib2",
            "Shop.System",
            "",
        ] {
            assert!(!is_framework(name), "{name}");
        }
    }
}
