//! Flags and enumerations of native constants. Values of newer runtimes, which this crate does not know,
//! are preserved.

/// Declares flags that calls take and return as bits.
///
/// ```text
/// /// Properties of a module.
/// ModuleFlags = COR_PRF_MODULE_FLAGS {
///     /// It comes from a file.
///     DISK = COR_PRF_MODULE_DISK,
///     _ = !0, // preserves unknown flags of the runtime
/// }
/// ```
macro_rules! native_flags {
    ($(
        $(#[$doc:meta])*
        $name:ident = $native_type:ident {
            $($(#[$($flag_doc:tt)*])* $flag:ident = $native:ident,)*
            $(_ = !$none:literal,)?
        }
    )*) => {$(
        bitflags::bitflags! {
            $(#[$doc])*
            #[clr_profiler_macros::native($native_type)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $name: u32 {
                $($(#[$($flag_doc)*])* const $flag = clr_profiler_sys::$native;)*
                $(const _ = !$none;)?
            }
        }

        $crate::native::arguments! { $name => u32 = |flags, _| Ok(flags.bits()); }
        $crate::native::results! { u32 => $name = |bits, _| Ok(Self::from_bits_retain(bits)); }
    )*};
}
pub(crate) use native_flags;

/// Declares enumerations that calls return and callbacks receive; other values are `Unknown`.
///
/// ```text
/// /// The kind of a runtime.
/// RuntimeKind = COR_PRF_RUNTIME_TYPE {
///     /// .NET Framework.
///     Framework = COR_PRF_DESKTOP_CLR,
/// }
/// ```
macro_rules! native_enums {
    ($(
        $(#[$doc:meta])*
        $name:ident = $native_type:ident {
            $($(#[$variant_doc:meta])* $variant:ident = $native:ident,)*
        }
    )*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("Native type: `", stringify!($native_type), "`.")]
        #[clr_profiler_macros::native($native_type)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A value that this version of the crate does not know.
            Unknown(u32),
        }

        impl $name {
            pub(crate) fn from_native(value: clr_profiler_sys::$native_type) -> Self {
                match value {
                    $(clr_profiler_sys::$native => Self::$variant,)*
                    other => Self::Unknown(other),
                }
            }
        }

        $crate::native::results! { u32 => $name = |value, _| Ok(Self::from_native(value)); }
    )*};
}
pub(crate) use native_enums;
