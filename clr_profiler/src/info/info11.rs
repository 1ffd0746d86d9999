//! `ICorProfilerInfo11`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Hresult, Result};
use crate::native::{read_text, utf16};

/// What Windows calls ERROR_ENVVAR_NOT_FOUND, as a result code.
const NO_SUCH_VARIABLE: Hresult = Hresult(0x8007_00CB_u32 as i32);

/// What `ICorProfilerInfo11` offers: environment variables as the program sees them (.NET Core 3.1).
#[doc(alias = "ICorProfilerInfo11")]
pub trait CorProfilerInfo11: Sealed {
    /// The value of an environment variable as the program sees it; `None` where it is not set.
    ///
    /// That is not what [`std::env::var`] says: outside of Windows the runtime has a copy of its own
    /// of the environment that the process was started with.
    #[wraps(ICorProfilerInfo11::GetEnvironmentVariable)]
    fn environment_variable(&self, name: &str) -> Result<Option<String>> {
        let name = name_of("ICorProfilerInfo11::GetEnvironmentVariable", name)?;
        let info = self.handle();
        let value = read_text(|capacity, length, buffer| {
            ask!(
                steady info,
                ICorProfilerInfo11::GetEnvironmentVariable(name.as_ptr(), capacity, length, buffer)
            )
        });
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.hresult() == NO_SUCH_VARIABLE => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets an environment variable as the program sees it; `None` removes it.
    ///
    /// Programs take the environment over when they first ask for it: set variables for them in
    /// `initialize`. The runtime's own settings were read before.
    #[wraps(ICorProfilerInfo11::SetEnvironmentVariable
        fails "An error of its own for names and values that no variable can have, and what \
               the runtime answers.")]
    fn set_environment_variable(&self, name: &str, value: Option<&str>) -> Result<()> {
        const CALL: &str = "ICorProfilerInfo11::SetEnvironmentVariable";
        let name = name_of(CALL, name)?;
        if value.is_some_and(|value| value.contains('\0')) {
            return Err(Error::invalid(CALL, "the value has a zero character in it"));
        }
        let value = value.map(utf16);
        let value = value
            .as_ref()
            .map_or(std::ptr::null(), |value| value.as_ptr());
        let info = self.handle();
        ask!(
            steady info,
            ICorProfilerInfo11::SetEnvironmentVariable(name.as_ptr(), value)
        )?;
        Ok(())
    }
}

impl CorProfilerInfo11 for ProfilerInfo {}

fn name_of(call: &'static str, name: &str) -> Result<Vec<u16>> {
    if name.is_empty() || name.contains(['\0', '=']) {
        return Err(Error::invalid(
            call,
            format_args!("`{}` is no name of a variable", name.escape_debug()),
        ));
    }
    Ok(utf16(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_variable_has() {
        for name in ["", "A=B", "A\0B"] {
            let error = name_of("X::Y", name).unwrap_err().to_string();
            assert!(error.starts_with("X::Y: `"), "{error}");
        }
        assert_eq!(name_of("X::Y", "A").unwrap(), [0x41, 0]);
    }
}
