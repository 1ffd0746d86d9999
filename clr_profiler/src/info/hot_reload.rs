//! Modules that the program may edit while it runs.

use std::sync::OnceLock;

use super::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags, ProfilerInfo};
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::metadata::MetadataImport;
use clr_profiler_il::token::Token;

/// The first runtime with hot reload.
const FIRST: u16 = 6;

/// The token of the assembly, of which a module has at most one (ECMA-335 II.22.2).
const ASSEMBLY: Token = Token::new(0x2000_0001);

impl ProfilerInfo {
    /// Whether the program may edit this module while it runs: whether hot reload is on for it.
    ///
    /// The edits are those of `System.Reflection.Metadata.MetadataUpdater` (.NET 6 and newer), which `dotnet watch`
    /// applies, for example. They are allowed if the environment variable `DOTNET_MODIFIABLE_ASSEMBLIES` is
    /// `debug`, in modules whose `DebuggableAttribute` disables optimisations, unless they are dynamic or
    /// collectible. No native call says so: this reads the variable and the attribute. A debugger can allow edits
    /// without the variable, which is not recognised.
    ///
    /// An edit brings rows of metadata with fixed numbers. After an addition to the metadata of the module they would
    /// be wrong, and .NET 8 crashes: so such modules are not [writable](CorProfilerInfo::module_metadata_for_writing),
    /// their methods are not rewritten, and runtimes ignore requests of ReJIT for them. Metadata and IL are those
    /// after the last edit, and an edited method is compiled again with the usual callbacks.
    ///
    /// **Context**: from `module_load_finished` on; not during a GC.
    ///
    /// # Errors
    ///
    /// The errors of [`module_info2`](CorProfilerInfo3::module_info2); if the variable is set, also those of
    /// [`module_metadata`](CorProfilerInfo::module_metadata).
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn loaded(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    /// if info.is_hot_reload_enabled(module)? {
    ///     eprintln!("{} is not rewritten", info.module_info(module)?.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_hot_reload_enabled(&self, module: ModuleId) -> Result<bool> {
        // First of all, so that a module that is gone is an error with and without hot reload.
        let (_, flags) = self.module_info2(module)?;
        if !is_wanted() || self.runtime_information()?.major < FIRST {
            return Ok(false);
        }
        let never = ModuleFlags::DYNAMIC | ModuleFlags::COLLECTIBLE | ModuleFlags::RESOURCE;
        if flags.intersects(never) {
            return Ok(false);
        }
        let metadata = self.module_metadata(module)?;
        let attribute = "System.Diagnostics.DebuggableAttribute";
        let value = metadata.custom_attribute_by_name(ASSEMBLY, attribute)?;
        Ok(value.is_some_and(|value| disables_optimisations(&value)))
    }
}

/// Refuses a module that the program may edit.
pub(crate) fn refuse_hot_reload(
    info: &ProfilerInfo,
    call: &'static str,
    module: ModuleId,
) -> Result<()> {
    // Without an answer, the call itself fails.
    if is_wanted() && info.is_hot_reload_enabled(module).unwrap_or(false) {
        return Err(Error::rule(
            call,
            format!(
                "the program may edit {module:?} while it runs (hot reload), and its edits do not fit \
                 changes of a profiler: unset DOTNET_MODIFIABLE_ASSEMBLIES"
            ),
        ));
    }
    Ok(())
}

/// Whether the environment turns hot reload on. The runtime reads it once, too.
fn is_wanted() -> bool {
    static IS_WANTED: OnceLock<bool> = OnceLock::new();
    *IS_WANTED.get_or_init(|| {
        // Both prefixes, as for all settings of the runtime.
        ["DOTNET", "COMPlus"].iter().any(|prefix| {
            let value = std::env::var_os(format!("{prefix}_MODIFIABLE_ASSEMBLIES"));
            value.is_some_and(|value| value.eq_ignore_ascii_case("debug"))
        })
    })
}

/// Whether the value of a `DebuggableAttribute` disables optimisations (ECMA-335 II.23.3): its constructors take the
/// modes as one integer, or two booleans of which the second says it.
fn disables_optimisations(value: &[u8]) -> bool {
    const DISABLE_OPTIMISATIONS: u32 = 0x100;
    match *value {
        [1, 0, _, second, 0, 0] => second != 0,
        [1, 0, a, b, c, d, 0, 0] => u32::from_le_bytes([a, b, c, d]) & DISABLE_OPTIMISATIONS != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::disables_optimisations;

    #[test]
    fn attributes_of_both_constructors_are_read() {
        // `DebuggingModes.Default | DisableOptimizations | IgnoreSymbolStoreSequencePoints`, as Roslyn writes it.
        assert!(disables_optimisations(&[1, 0, 7, 1, 0, 0, 0, 0]));
        assert!(!disables_optimisations(&[1, 0, 2, 0, 0, 0, 0, 0]));
        assert!(disables_optimisations(&[1, 0, 0, 1, 0, 0]));
        assert!(!disables_optimisations(&[1, 0, 1, 0, 0, 0]));
        assert!(!disables_optimisations(&[]));
    }
}
