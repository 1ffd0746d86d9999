//! Methods of a managed helper that call functions of the profiler.

use std::sync::Mutex;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;

use crate::lock;

/// The modules of a helper whose method `WriteLine(char*, int)` has the profiler write a line: a write
/// that fails in managed code would be an exception in the program.
#[derive(Debug)]
pub struct LineWriter {
    call: NativeCall,
    modules: Mutex<Vec<ModuleId>>,
}

impl LineWriter {
    /// The function that writes, with the parameter types of that method.
    #[must_use]
    pub fn new(call: NativeCall) -> Self {
        Self {
            call,
            modules: Mutex::default(),
        }
    }

    /// The helper is loaded.
    pub fn loaded(&self, module: ModuleId) {
        lock(&self.modules).push(module);
    }

    /// A module is unloaded.
    pub fn unloaded(&self, module: ModuleId) {
        lock(&self.modules).retain(|loaded| *loaded != module);
    }

    /// Replaces the body of the method, and returns whether a method is the helper's.
    ///
    /// # Errors
    ///
    /// Those of rewriting.
    pub fn compiled(&self, method: &Method<'_>) -> Result<bool> {
        if !lock(&self.modules).contains(&method.module()) {
            return Ok(false);
        }
        if method.name()? == "WriteLine" {
            pass_on(method, &self.call)?;
        }
        Ok(true)
    }
}

/// Replaces the body of a helper's method: it passes its arguments to the function.
///
/// # Errors
///
/// Those of rewriting.
pub fn pass_on(method: &Method<'_>, call: &NativeCall) -> Result<()> {
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
