//! [`Error`]: the call that failed, the cause, and a remedy.

use std::borrow::Cow;
use std::fmt;

use clr_profiler_sys as sys;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A COM result code, by which the runtime reports success or failure.
///
/// Negative values are failures. Printed as the name that the .NET headers give to the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Hresult(pub i32);

/// Declares a constant for each code.
macro_rules! constants {
    ($($name:ident = $value:literal;)*) => {
        /// The codes of COM and of the .NET headers, by their names.
        impl Hresult {
            $(
                #[doc = concat!("`", stringify!($value), "`.")]
                pub const $name: Self = {
                    let value: u32 = $value;
                    Self(value.cast_signed())
                };
            )*
        }
    };
}
sys::for_each_hresult!(constants);

impl Hresult {
    /// Whether this value means success, as `S_FALSE` does.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        self.0 >= 0
    }

    /// The name that the .NET headers give to this value, if any.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        sys::HRESULTS
            .iter()
            .find(|(value, _)| value.0 == self.0)
            .map(|(_, name)| *name)
    }
}

impl fmt::Display for Hresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (0x{:08X})", self.0),
            None => write!(f, "0x{:08X}", self.0),
        }
    }
}

impl fmt::Debug for Hresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason for a failure: the name of the native call, the name of the result code, and a remedy.
///
/// An error has the size of a pointer, and success allocates nothing. Other errors, such as those of I/O or
/// of a parser, are converted by [`Error::other`] or `From<std::io::Error>`, so that a callback can return
/// any error with `?`.
pub struct Error(Box<ErrorKind>);

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The native call returned a failure code.
    Call {
        /// The native call, such as `ICorProfilerInfo::GetFunctionInfo`.
        call: &'static str,
        /// The code that the call returned.
        hresult: Hresult,
    },
    /// The runtime is older than the call.
    Unsupported {
        /// The native call.
        call: &'static str,
        /// The version of `ICorProfilerInfo` that has it.
        needs: u8,
        /// The version of `ICorProfilerInfo` that this runtime offers.
        has: u8,
    },
    /// A rule of the profiling API forbids the call here; the native call was not made.
    Rule {
        /// The native call.
        call: &'static str,
        /// The rule.
        rule: Cow<'static, str>,
        /// The corresponding code for the runtime.
        hresult: Hresult,
    },
    /// An argument is invalid, or the native call succeeded with an unusable result.
    Invalid {
        /// The native call.
        call: &'static str,
        /// The problem with the argument or the result.
        problem: String,
    },
    /// A component of the profiler cannot do its work.
    Component {
        /// Its name.
        name: String,
        /// The cause.
        error: Error,
    },
    /// The profiler chose not to be active in this process; see [`Error::cancel_activation`].
    Cancelled,
    /// An error of the profiler's own.
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Wraps an error of your own, or a message.
    ///
    /// ```
    /// let error = clr_profiler::Error::other("the collector refused the connection");
    /// assert_eq!(error.to_string(), "the collector refused the connection");
    /// ```
    #[cold]
    #[must_use]
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Other(error.into()))
    }

    /// The error with which `initialize` leaves this process unprofiled, without reporting a failure.
    ///
    /// The runtime receives `CORPROF_E_PROFILER_CANCEL_ACTIVATION`, unloads the profiler and continues.
    #[cold]
    #[must_use]
    pub fn cancel_activation() -> Self {
        Self::new(ErrorKind::Cancelled)
    }

    /// The kind of this error, with its details.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The corresponding code for the runtime.
    #[must_use]
    pub fn hresult(&self) -> Hresult {
        match &*self.0 {
            ErrorKind::Call { hresult, .. } | ErrorKind::Rule { hresult, .. } => *hresult,
            ErrorKind::Unsupported { .. } => Hresult::E_NOTIMPL,
            ErrorKind::Component { error, .. } => error.hresult(),
            ErrorKind::Cancelled => Hresult::CORPROF_E_PROFILER_CANCEL_ACTIVATION,
            ErrorKind::Invalid { .. } | ErrorKind::Other(_) => Hresult::E_FAIL,
        }
    }

    /// Whether [`hresult`](Self::hresult) is this code.
    ///
    /// ```
    /// use clr_profiler::{Error, Hresult};
    ///
    /// let error = Error::cancel_activation();
    /// assert!(error.is(Hresult::CORPROF_E_PROFILER_CANCEL_ACTIVATION));
    /// ```
    #[must_use]
    pub fn is(&self, hresult: Hresult) -> bool {
        self.hresult() == hresult
    }

    #[cold]
    fn new(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }

    #[cold]
    pub(crate) fn call(call: &'static str, hresult: Hresult) -> Self {
        Self::new(ErrorKind::Call { call, hresult })
    }

    #[cold]
    pub(crate) fn unsupported(call: &'static str, needs: u8, has: u8) -> Self {
        Self::new(ErrorKind::Unsupported { call, needs, has })
    }

    #[cold]
    pub(crate) fn rule(call: &'static str, rule: impl Into<Cow<'static, str>>) -> Self {
        Self::rule_with_code(call, rule, Hresult::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE)
    }

    /// An error of the kind `Rule` with a specific code.
    #[cold]
    pub(crate) fn rule_with_code(
        call: &'static str,
        rule: impl Into<Cow<'static, str>>,
        hresult: Hresult,
    ) -> Self {
        Self::new(ErrorKind::Rule {
            call,
            rule: rule.into(),
            hresult,
        })
    }

    /// The error of a component, with its name.
    #[cold]
    pub(crate) fn of_component(name: &str, error: Self) -> Self {
        Self::new(ErrorKind::Component {
            name: name.to_owned(),
            error,
        })
    }

    #[cold]
    pub(crate) fn invalid(call: &'static str, problem: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid {
            call,
            problem: problem.to_string(),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorKind::Call { call, hresult } => {
                write!(f, "{call} failed with {hresult}")?;
                match hint(*hresult) {
                    Some(hint) => write!(f, ": {hint}"),
                    None => Ok(()),
                }
            }
            ErrorKind::Unsupported { call, needs, has } => write!(
                f,
                "{call} needs ICorProfilerInfo{needs} ({}); this runtime offers {}",
                first_runtime_with(*needs),
                match has {
                    0 | 1 => "ICorProfilerInfo".to_owned(),
                    has => format!("ICorProfilerInfo{has}"),
                },
            ),
            ErrorKind::Rule { call, rule, .. } => write!(f, "{call} was not called: {rule}"),
            ErrorKind::Invalid { call, problem } => write!(f, "{call}: {problem}"),
            ErrorKind::Component { name, error } => write!(f, "the component `{name}`: {error}"),
            ErrorKind::Cancelled => f.write_str("the profiler chose not to be active here"),
            ErrorKind::Other(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Other(error) => error.source(),
            ErrorKind::Component { error, .. } => error.source(),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::other(error)
    }
}

#[cfg(feature = "patterns")]
impl From<clr_profiler_il::pattern::PatternError> for Error {
    fn from(error: clr_profiler_il::pattern::PatternError) -> Self {
        Self::other(error)
    }
}

/// `optional` on results of metadata calls.
pub trait OptionalExt<T>: sealed::Sealed {
    /// Converts the error `CLDB_E_RECORD_NOTFOUND`, by which the metadata reports a missing record, to
    /// `None`.
    ///
    /// # Errors
    ///
    /// All other errors.
    ///
    /// ```
    /// use clr_profiler::metadata::AnySignature;
    /// use clr_profiler::prelude::*;
    ///
    /// fn has_main(metadata: &Metadata<'_>, class: TypeDef) -> Result<bool> {
    ///     let main = metadata.find_method(Some(class), "Main", AnySignature);
    ///     Ok(main.optional()?.is_some())
    /// }
    /// ```
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExt<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Err(error) if error.is(Hresult::CLDB_E_RECORD_NOTFOUND) => Ok(None),
            result => result.map(Some),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Result<T> {}
}

/// Converts the code of a native call to a `Result`; success codes such as `S_FALSE` are preserved.
#[inline]
pub(crate) fn check(call: &'static str, hresult: sys::HRESULT) -> Result<Hresult> {
    if hresult.0 >= 0 {
        Ok(Hresult(hresult.0))
    } else {
        Err(Error::call(call, Hresult(hresult.0)))
    }
}

/// Remedies for result codes whose name is not enough.
macro_rules! hints {
    ($($code:ident => $hint:literal,)*) => {
        fn hint(hresult: Hresult) -> Option<&'static str> {
            match hresult {
                $(Hresult::$code => Some($hint),)*
                _ => None,
            }
        }
    };
}

hints! {
    E_INVALIDARG =>
        "an id or a token that this runtime does not know, or flags that do not go together",
    CORPROF_E_FUNCTION_NOT_COMPILED =>
        "the function is not compiled yet: make the call after its compilation has finished",
    CORPROF_E_DATAINCOMPLETE => "the runtime has not finished loading it: try again later",
    CORPROF_E_FUNCTION_NOT_IL =>
        "the method has no IL: it is abstract, a P/Invoke or implemented by the runtime",
    CORPROF_E_NOT_MANAGED_THREAD => "make the call on a thread that runs managed code",
    CORPROF_E_CALL_ONLY_FROM_INIT => "only `initialize` may do this",
    CORPROF_E_UNSUPPORTED_CALL_SEQUENCE =>
        "not from this callback: make the call from a thread of the profiler's own, or from a \
         callback that allows it",
    CORPROF_E_ASYNCHRONOUS_UNSAFE =>
        "the runtime cannot do this at this moment: make the call in a callback",
    CORPROF_E_PROFILER_DETACHING => "the profiler is being detached",
    CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER =>
        "a profiler that was attached to a running program cannot do this: load it at start-up",
    CORPROF_E_IMMUTABLE_FLAGS_SET => "events that are fixed after `initialize` prevent this",
    CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE =>
        "concurrent garbage collection is already on, and MONITOR_GC requires it to be off: set \
         MONITOR_GC in `initialize`, or use HIGH_BASIC_GC",
    CORPROF_E_REJIT_NOT_ENABLED => "add EventMask::ENABLE_REJIT in `initialize`",
    CORPROF_E_MODULE_IS_DYNAMIC => "the module is built at run time and has no file layout",
    CLDB_E_RECORD_NOTFOUND => "the metadata has no such record",
}

fn first_runtime_with(info: u8) -> &'static str {
    match info {
        0..=3 => "any .NET Core since 2.1, or .NET Framework 4.0 or newer",
        4 => "any .NET Core since 2.1, or .NET Framework 4.5 or newer",
        5 => "any .NET Core since 2.1, or .NET Framework 4.5.2 or newer",
        6 => "any .NET Core since 2.1, or .NET Framework 4.6 or newer",
        7 => "any .NET Core since 2.1, or .NET Framework 4.6.1 or newer",
        8 => "any .NET Core since 2.1, or .NET Framework 4.7.2 or newer",
        9 => "any .NET Core since 2.1",
        10 => ".NET Core 3.0 or newer",
        11 => ".NET Core 3.1 or newer",
        12 => ".NET 5 or newer",
        13 => ".NET 7 or newer",
        14 => ".NET 8 or newer",
        15 => ".NET 9 or newer",
        _ => "a newer runtime",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_call_the_code_and_the_way_out() {
        let error = Error::call(
            "ICorProfilerInfo::GetILFunctionBody",
            Hresult::CORPROF_E_FUNCTION_NOT_IL,
        );
        assert_eq!(
            error.to_string(),
            "ICorProfilerInfo::GetILFunctionBody failed with CORPROF_E_FUNCTION_NOT_IL \
             (0x80131354): the method has no IL: it is abstract, a P/Invoke or implemented by the \
             runtime"
        );
        assert_eq!(error.hresult().name(), Some("CORPROF_E_FUNCTION_NOT_IL"));
    }

    #[test]
    fn says_which_runtime_has_the_call() {
        let error = Error::unsupported("ICorProfilerInfo12::EventPipeStartSession", 12, 11);
        assert_eq!(
            error.to_string(),
            "ICorProfilerInfo12::EventPipeStartSession needs ICorProfilerInfo12 (.NET 5 or newer); this \
             runtime offers ICorProfilerInfo11"
        );
        assert_eq!(error.hresult().name(), Some("E_NOTIMPL"));
    }

    #[test]
    fn constants_are_those_of_the_native_definitions() {
        macro_rules! constants {
            ($($name:ident = $value:literal;)*) => {
                const ALL: &[(Hresult, &str)] = &[$((Hresult::$name, stringify!($name))),*];
            };
        }
        sys::for_each_hresult!(constants);
        let listed = sys::HRESULTS.iter();
        assert!(
            listed
                .map(|(value, name)| (Hresult(value.0), *name))
                .eq(ALL.iter().copied())
        );
    }

    #[test]
    fn only_a_missing_record_is_optional() {
        let failed = |hresult| Err::<(), _>(Error::call("X::Y", hresult));
        assert_eq!(Ok(()).optional().unwrap(), Some(()));
        let missing = failed(Hresult::CLDB_E_RECORD_NOTFOUND);
        assert_eq!(missing.optional().unwrap(), None);
        let other = failed(Hresult::E_FAIL).optional().unwrap_err();
        assert!(other.is(Hresult::E_FAIL) && !other.is(Hresult::S_FALSE));
    }

    #[test]
    fn codes_without_a_name_print_as_numbers() {
        assert_eq!(Hresult(-2).to_string(), "0xFFFFFFFE");
        assert!(Hresult::S_FALSE.is_ok() && !Hresult::E_FAIL.is_ok());
    }

    #[test]
    fn is_one_pointer_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn success_codes_survive_and_failures_do_not_allocate_names() {
        assert_eq!(check("X::Y", sys::S_FALSE).unwrap(), Hresult::S_FALSE);
        assert_eq!(
            check("X::Y", sys::E_FAIL).unwrap_err().hresult(),
            Hresult::E_FAIL
        );
    }
}
