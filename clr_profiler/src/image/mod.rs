//! The metadata of loaded modules, read from their images without calls of the runtime.
//!
//! A call of the metadata interfaces takes hundreds of nanoseconds, and the first one for a large module
//! milliseconds. Rows that were in the image when it was loaded do not change, except in these cases, for which the
//! runtime is called:
//!
//! - The profiler has asked for a writer of the module, by which any row can be changed.
//! - The program can change its modules by hot reload.
//! - The image could not be read: dynamic modules, and systems on which memory cannot be probed.
//!
//! Whoever gets no row here calls the runtime: for rows that were added later, and for malformed ones.

mod memory;
#[cfg(all(feature = "sampling", target_os = "linux", target_env = "gnu"))]
mod pipe;
#[cfg(feature = "lines")]
mod symbols;

use std::collections::HashMap;
use std::env;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use clr_metadata::{Headers, ImageLayout, Metadata};
use clr_profiler_il::token::HashTokens;

use crate::ids::ModuleId;
use crate::lifetimes::{InFlight, TargetState};
use crate::runtime::{Suspended, suspended};
use memory::Memory;
#[cfg(all(feature = "sampling", target_os = "linux", target_env = "gnu"))]
pub(crate) use memory::read_memory;
#[cfg(all(feature = "sampling", target_os = "linux", target_env = "gnu"))]
pub(crate) use pipe::CopyByPipe;
#[cfg(feature = "lines")]
pub(crate) use symbols::{AllSymbols, Found, Loaded, Symbols};

/// The environment variable that turns this off: with the value `native`, all metadata is that of the runtime.
const SWITCH: &str = "CLR_PROFILER_METADATA";

/// The metadata of a module.
pub(crate) struct ModuleImage {
    module: ModuleId,
    metadata: Metadata<'static>,
    is_current: AtomicBool,
}

impl ModuleImage {
    /// Calls `read` with the metadata, if it is current and the module loaded. The result is `None` if that of `read` is.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Metadata<'_>) -> Option<R>) -> Option<R> {
        // From here on an unload of the module waits.
        let _in_flight = InFlight::begin();
        let is_usable = self.is_current.load(Ordering::Acquire)
            && self.module.state() == TargetState::Live
            // Calls of the metadata are refused then, and so that each of them is, this is, too.
            && suspended() != Suspended::ForGc;
        is_usable.then(|| read(&self.metadata)).flatten()
    }
}

impl fmt::Debug for ModuleImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleImage({:?})", self.module)
    }
}

/// The image of a module whose load was seen.
#[derive(Debug)]
enum State {
    /// The address and the layout.
    Loaded(usize, ImageLayout),
    Read(Arc<ModuleImage>),
    Unreadable,
}

/// The images of a runtime's modules.
#[derive(Debug, Default)]
pub(crate) struct Images {
    modules: RwLock<HashMap<usize, State, HashTokens>>,
    is_off: OnceLock<bool>,
}

impl Images {
    fn is_off(&self) -> bool {
        *self.is_off.get_or_init(|| {
            let is = |name: &str, value: &str| {
                env::var_os(name).is_some_and(|it| it.eq_ignore_ascii_case(value))
            };
            is(SWITCH, "native")
                || is("DOTNET_MODIFIABLE_ASSEMBLIES", "debug")
                || is("DOTNET_ForceEnc", "1")
                || is("COMPlus_ForceEnc", "1")
        })
    }

    /// Records where a module was loaded.
    pub(crate) fn module_has_loaded(&self, module: ModuleId, base: usize, layout: ImageLayout) {
        if !self.is_off() {
            let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
            modules.insert(module.raw(), State::Loaded(base, layout));
        }
    }

    /// Removes a module that is being unloaded.
    pub(crate) fn module_goes(&self, module: ModuleId) {
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.remove(&module.raw());
    }

    /// Records that a module's rows can change from now on.
    pub(crate) fn is_written(&self, module: ModuleId) {
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(State::Read(image)) = modules.insert(module.raw(), State::Unreadable) {
            image.is_current.store(false, Ordering::Release);
        }
    }

    /// The image of a module as it was loaded, whatever writers change later.
    #[cfg(feature = "rewrite")]
    pub(crate) fn as_loaded(&self, module: ModuleId) -> Option<Arc<ModuleImage>> {
        let image = self.of(module)?;
        Some(Arc::new(ModuleImage {
            module,
            metadata: image.metadata.clone(),
            is_current: AtomicBool::new(true),
        }))
    }

    /// The image of a module, if it can be read.
    pub(crate) fn of(&self, module: ModuleId) -> Option<Arc<ModuleImage>> {
        {
            let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
            match modules.get(&module.raw())? {
                State::Read(image) => return Some(Arc::clone(image)),
                State::Unreadable => return None,
                State::Loaded(..) => {}
            }
        }
        // The module is not unloaded meanwhile.
        let _in_flight = InFlight::begin();
        if module.state() != TargetState::Live {
            return None;
        }
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        let state = modules.get_mut(&module.raw())?;
        if let State::Loaded(base, layout) = *state {
            *state = match read(base, layout) {
                Some(metadata) => State::Read(Arc::new(ModuleImage {
                    module,
                    metadata,
                    is_current: AtomicBool::new(true),
                })),
                None => State::Unreadable,
            };
        }
        match state {
            State::Read(image) => Some(Arc::clone(image)),
            _ => None,
        }
    }
}

/// The metadata of a loaded image.
fn read(base: usize, layout: ImageLayout) -> Option<Metadata<'static>> {
    let memory = Memory::at(base);
    let headers = Headers::read(&memory, layout).ok()?;
    let range = headers.cli?.metadata;
    let at = headers.locate(range.rva).ok()?;
    if range.size > at.size {
        return None;
    }
    // SAFETY: the headers are those of a loaded module. `ModuleImage::read` passes the metadata on only while the
    // module is loaded, and its unload waits for that.
    let bytes = unsafe { memory.slice(at.offset, range.size as usize) }?;
    Metadata::parse(bytes).ok()
}
