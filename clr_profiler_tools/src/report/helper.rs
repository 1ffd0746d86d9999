//! Methods of a managed helper that call functions of the profiler.

use std::sync::Mutex;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NativeCall};

use crate::report::lock;

/// The methods of a helper that call functions of the profiler, and its modules.
#[derive(Debug)]
pub struct NativeMethods {
    functions: fn(&str) -> Option<NativeCall>,
    modules: Mutex<Vec<ModuleId>>,
}

impl NativeMethods {
    /// The functions by the names of the methods, with their parameter types.
    #[must_use]
    pub fn new(functions: fn(&str) -> Option<NativeCall>) -> Self {
        Self {
            functions,
            modules: Mutex::default(),
        }
    }

    /// Takes a module that is loaded if it is the helper's, and returns whether it is.
    ///
    /// # Errors
    ///
    /// Those of the native calls.
    pub fn find(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        helper: Option<&HelperAssembly>,
    ) -> Result<bool> {
        let (Some(helper), Some(assembly)) = (helper, info.module_info(module)?.assembly) else {
            return Ok(false);
        };
        let is_helper = info.assembly_info(assembly)?.name == helper.props().name;
        if is_helper {
            self.loaded(module);
        }
        Ok(is_helper)
    }

    /// The helper is loaded.
    pub fn loaded(&self, module: ModuleId) {
        lock(&self.modules).push(module);
    }

    /// A module is unloaded.
    pub fn unloaded(&self, module: ModuleId) {
        lock(&self.modules).retain(|loaded| *loaded != module);
    }

    /// Replaces the body of a method with a function, and returns whether it is the helper's.
    ///
    /// # Errors
    ///
    /// Those of rewriting.
    pub fn compiled(&self, method: &Method<'_>) -> Result<bool> {
        if !lock(&self.modules).contains(&method.module()) {
            return Ok(false);
        }
        if let Some(call) = (self.functions)(&method.name()?) {
            pass_on(method, &call)?;
        }
        Ok(true)
    }
}

/// Replaces the body of a helper's method: it passes its arguments to the function.
///
/// # Errors
///
/// Those of rewriting.
fn pass_on(method: &Method<'_>, call: &NativeCall) -> Result<()> {
    method.rewrite(|body, cx| {
        let mut code = Fragment::new();
        for number in 0..call.params().len() as u16 {
            code.ldarg(number);
        }
        code.append(&cx.call_native(call)?).ret();
        body.prologue(&code)?;
        Ok(())
    })?;
    Ok(())
}

/// The text that a helper passes as a pointer and a length.
///
/// # Safety
///
/// Unless it is null, `text` points to `length` characters that do not change during the call, such as
/// those of a string that the helper has pinned.
#[must_use]
pub unsafe fn text(text: *const u16, length: i32) -> String {
    match usize::try_from(length) {
        Ok(length @ 1..) if !text.is_null() => {
            // SAFETY: as the caller promises.
            String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(text, length) })
        }
        _ => String::new(),
    }
}
