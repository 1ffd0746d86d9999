//! The names of the core library, which defines `System.Object`.
//!
//! A module refers to it by the name of one of several assemblies: of the one that defines the type, or of a facade that forwards
//! it. In symbols, [`ALIAS`] is the core library, whichever name a module uses.

/// The core library of .NET and .NET Core.
pub const PRIVATE: &str = "System.Private.CoreLib";

/// The core library of .NET Framework; a facade in .NET.
pub const MSCORLIB: &str = "mscorlib";

/// The name of the core library in symbols: `[corelib]System.Object`.
pub const ALIAS: &str = "corelib";

/// The assemblies by which modules refer to it. The first one is the facade that programs for .NET refer to.
pub const NAMES: [&str; 4] = ["System.Runtime", "netstandard", MSCORLIB, PRIVATE];

/// Whether modules refer to the core library by this name.
#[must_use]
pub fn has_name(assembly: &str) -> bool {
    NAMES.contains(&assembly)
}
