//! `ICorProfilerInfo11`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Result};
use crate::native::{Argument, CallContext, Text, utf16};

table! { ($) __cor_profiler_info11:
    CorProfilerInfo11 = ICorProfilerInfo11 from info;

    /// The value of an environment variable as the program sees it; `None` if it is not set.
    ///
    /// It can differ from [`std::env::var`]: outside Windows, the runtime has its own copy of the
    /// environment that the process was started with.
    fn environment_variable(name: &str as variable) -> String
        = [notrigger] GetEnvironmentVariable(name.as_ptr(), @{value}) none on ENVVAR_NOT_FOUND;

    /// Sets an environment variable as the program sees it; `None` removes it.
    ///
    /// A program copies the environment when it first reads a variable, so set variables for it in
    /// `initialize`. The runtime has read its own settings before.
    fn set_environment_variable(name: &str as variable, value: Option<&str> as value_of_variable) -> ()
        = [notrigger] SetEnvironmentVariable(name.as_ptr(), value.as_ptr())
        fails "A name or value that no variable can have; the error of the native call.";
}

/// The calls of `ICorProfilerInfo11`: environment variables as the program sees them (.NET Core 3.1).
#[doc(alias = "ICorProfilerInfo11")]
pub trait CorProfilerInfo11: Sealed {
    __cor_profiler_info11! { calls }
}

impl CorProfilerInfo11 for ProfilerInfo {}

fn variable(name: &str, context: &CallContext<'_>) -> Result<Vec<u16>> {
    if name.is_empty() || name.contains(['\0', '=']) {
        return Err(Error::invalid(
            context.call,
            format_args!("`{}` is not the name of a variable", name.escape_debug()),
        ));
    }
    Ok(utf16(name))
}

fn value_of_variable(value: Option<&str>, context: &CallContext<'_>) -> Result<Text> {
    if value.is_some_and(|value| value.contains('\0')) {
        return Err(Error::invalid(
            context.call,
            "the value contains a zero character",
        ));
    }
    value.to_native(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_variable_has() {
        for name in ["", "A=B", "A\0B"] {
            let error = variable(name, &CallContext::of("X::Y"))
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("X::Y: `"), "{error}");
        }
        assert_eq!(variable("A", &CallContext::of("X::Y")).unwrap(), [0x41, 0]);
    }
}
