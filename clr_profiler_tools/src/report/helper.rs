//! Methods of a managed helper that call functions of the profiler.

use std::fmt;
use std::sync::{Arc, Mutex};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NativeCall};
use clr_profiler::{Component, component};

use crate::report::{Output, lock};

/// The function of a method of a helper.
type Functions = dyn Fn(&str) -> Option<NativeCall> + Send + Sync;

/// A component that replaces bodies of methods of a helper by calls of functions of the profiler.
///
/// ```no_run
/// use clr_profiler::prelude::*;
/// use clr_profiler::rewrite::{HelperAssembly, NativeCall};
/// use clr_profiler_tools::report::helper::NativeMethods;
///
/// fn began(method: i32) {
///     let _ = method;
/// }
///
/// fn attach(setup: &mut Setup, helper: &HelperAssembly) -> Result<()> {
///     setup.attach(NativeMethods::new(helper, |method| match method {
///         "Began" => Some(NativeCall::new(began)),
///         _ => None,
///     }))?;
///     Ok(())
/// }
/// ```
pub struct NativeMethods {
    /// The name of the helper.
    helper: String,
    functions: Box<Functions>,
    /// Passed before the arguments of the method.
    first: Option<i32>,
    modules: Mutex<Vec<ModuleId>>,
}

impl fmt::Debug for NativeMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeMethods")
            .field("helper", &self.helper)
            .finish_non_exhaustive()
    }
}

/// The outputs of all helpers that write lines, by number.
static OUTPUTS: Mutex<Vec<Arc<Output>>> = Mutex::new(Vec::new());

fn write_line(output: i32, line: *const u16, length: i32) {
    let output = lock(&OUTPUTS).get(output as usize).cloned();
    if let Some(output) = output {
        // SAFETY: as whoever has called `NativeMethods::lines` has promised.
        let mut line = unsafe { text(line, length) };
        line.push('\n');
        output.append(&line);
    }
}

impl NativeMethods {
    /// The functions by the names of the methods, with their parameter types.
    #[must_use]
    pub fn new(
        helper: &HelperAssembly,
        functions: impl Fn(&str) -> Option<NativeCall> + Send + Sync + 'static,
    ) -> Self {
        Self {
            helper: helper.props().name.clone(),
            functions: Box::new(functions),
            first: None,
            modules: Mutex::default(),
        }
    }

    /// The method `WriteLine(char* text, int length)` of a helper: it appends lines to an output. A write that fails in
    /// managed code would throw into the program.
    ///
    /// # Safety
    ///
    /// The helper passes text as for [`text`].
    #[must_use]
    pub unsafe fn lines(helper: &HelperAssembly, output: &Arc<Output>) -> Self {
        let mut outputs = lock(&OUTPUTS);
        outputs.push(Arc::clone(output));
        let write = |method: &str| (method == "WriteLine").then(|| NativeCall::new(write_line));
        Self {
            first: Some(outputs.len() as i32 - 1),
            ..Self::new(helper, write)
        }
    }

    /// Replaces the body of a method: it passes its arguments to the function.
    fn pass_on(&self, method: &Method<'_>, call: &NativeCall) -> Result<()> {
        method.rewrite(|body, cx| {
            let mut code = Fragment::new();
            if let Some(first) = self.first {
                code.ldc_i4(first);
            }
            let arguments = call.params().len() - usize::from(self.first.is_some());
            for number in 0..arguments as u16 {
                code.ldarg(number);
            }
            code.append(&cx.call_native(call)?).ret();
            body.prologue(&code)?;
            Ok(())
        })?;
        Ok(())
    }
}

#[component]
impl Component for NativeMethods {
    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        if let Some(assembly) = info.module_info(module)?.assembly
            && info.assembly_info(assembly)?.name == self.helper
        {
            lock(&self.modules).push(module);
        }
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        lock(&self.modules).retain(|loaded| *loaded != module);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if lock(&self.modules).is_empty() {
            return Ok(());
        }
        let module = info.function_info(function)?.module;
        if !lock(&self.modules).contains(&module) {
            return Ok(());
        }
        let method = info.method(function)?;
        match (self.functions)(&method.name()?) {
            Some(call) => self.pass_on(&method, &call),
            None => Ok(()),
        }
    }
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
