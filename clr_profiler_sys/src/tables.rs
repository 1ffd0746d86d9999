//! The macros that declare types and constants, each with a table of its declarations.

/// Declares aliases and a table `ALIASES` of them.
macro_rules! aliases {
    ($($(#[$doc:meta])* $name:ident = $type:ty;)*) => {
        $($(#[$doc])* pub type $name = $type;)*

        pub(crate) const ALIASES: &[$crate::facts::AliasRow] = &[$($crate::facts::AliasRow {
            name: stringify!($name),
            type_name: stringify!($type),
            size: size_of::<$type>(),
        }),*];
    };
}
pub(crate) use aliases;

/// Declares enumerations and a table `ENUMERATIONS` of them.
///
/// ```text
/// enumerations! {
///     /// Why the runtime is suspended.
///     COR_PRF_SUSPEND_REASON: u32 {
///         COR_PRF_SUSPEND_OTHER = 0,
///     }
/// }
/// ```
///
/// becomes
///
/// ```text
/// pub type COR_PRF_SUSPEND_REASON = u32;
/// pub const COR_PRF_SUSPEND_OTHER: COR_PRF_SUSPEND_REASON = 0;
/// ```
///
/// Not a Rust enum: a runtime newer than this crate may pass a value that is not listed.
macro_rules! enumerations {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty { $($member:ident = $value:expr,)* }
    )*) => {
        $(
            $(#[$doc])*
            pub type $name = $type;

            $(
                #[allow(missing_docs, reason = "the name is the definition's")]
                pub const $member: $name = $value;
            )*
        )*

        pub(crate) const ENUMERATIONS: &[$crate::facts::EnumerationRow] = &[
            $($crate::facts::EnumerationRow {
                name: stringify!($name),
                type_name: stringify!($type),
                members: &[$((stringify!($member), $member as i64)),*],
            }),*
        ];
    };
}
pub(crate) use enumerations;

/// Declares structures and unions and a table `STRUCTURES` of them.
///
/// ```text
/// structures! {
///     /// A method by module and token.
///     struct COR_PRF_METHOD {
///         moduleId: ModuleID,
///         methodId: mdMethodDef,
///     }
/// }
/// ```
///
/// A `union` is a union and a `packed` a struct without padding, all with the layout of C.
macro_rules! structures {
    (@item struct $($item:tt)*) => { structures! { @layout (C) $($item)* } };
    (@item packed $($item:tt)*) => { structures! { @layout (C, packed(1)) $($item)* } };
    (
        @layout ($($layout:tt)*)
        $(#[$doc:meta])* $name:ident { $($(#[$note:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$doc])*
        #[repr($($layout)*)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(
                #[allow(missing_docs, reason = "the name is the definition's")]
                $(#[$note])*
                pub $field: $type,
            )*
        }
    };
    (
        @item union
        $(#[$doc:meta])* $name:ident { $($(#[$note:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub union $name {
            $(
                #[allow(missing_docs, reason = "the name is the definition's")]
                $(#[$note])*
                pub $field: $type,
            )*
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
    ($(
        $(#[$doc:meta])*
        $kind:ident $name:ident { $($(#[$note:meta])* $field:ident: $type:ty,)* }
    )*) => {
        $(structures! { @item $kind $(#[$doc])* $name { $($(#[$note])* $field: $type,)* } })*

        pub(crate) const STRUCTURES: &[$crate::facts::StructureRow] = &[
            $($crate::facts::StructureRow {
                name: stringify!($name),
                size: size_of::<$name>(),
                align: align_of::<$name>(),
                fields: &[$($crate::facts::Field {
                    name: stringify!($field),
                    type_name: stringify!($type),
                    offset: ::core::mem::offset_of!($name, $field),
                    size: size_of::<$type>(),
                }),*],
            }),*
        ];
    };
}
pub(crate) use structures;

/// Asserts layouts where 64-bit numbers have one of the given alignments.
///
/// ```text
/// layouts! {
///     COMMON: u64 aligned to 4 or 8;
///     COR_PRF_METHOD: 8, 4 {
///         moduleId: 0,
///         methodId: 4,
///     }
/// }
/// ```
///
/// becomes assertions at compile time: `COR_PRF_METHOD` has 8 bytes and an alignment of 4, and its
/// field `methodId` is at offset 4. The tests use the name of the table.
#[cfg(target_pointer_width = "32")]
macro_rules! layouts {
    (
        $table:ident: u64 aligned to $($bytes:literal)or+;
        $($name:ident: $size:literal, $align:literal { $($field:ident: $offset:literal,)* })*
    ) => {
        const _: () = if matches!(align_of::<u64>(), $($bytes)|+) {
            $(
                assert!(size_of::<$crate::$name>() == $size, stringify!($name));
                assert!(align_of::<$crate::$name>() == $align, stringify!($name));
                $(assert!(
                    ::core::mem::offset_of!($crate::$name, $field) == $offset,
                    concat!(stringify!($name), ".", stringify!($field))
                );)*
            )*
        };
    };
}
#[cfg(target_pointer_width = "32")]
pub(crate) use layouts;

/// Declares function typedefs and a table `FUNCTIONS` of them.
///
/// `fn FunctionEnter(funcID: FunctionID);` becomes
/// `pub type FunctionEnter = unsafe extern "system" fn(funcID: FunctionID);`.
macro_rules! functions {
    (@returns) => { () };
    (@returns $returns:ty) => { $returns };
    (@return_type) => { "()" };
    (@return_type $returns:ty) => { stringify!($returns) };
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($parameter:ident: $type:ty),* $(,)?) $(-> $returns:ty)?;
    )*) => {
        $(
            $(#[$doc])*
            pub type $name = unsafe extern "system" fn($($parameter: $type),*) $(-> $returns)?;
        )*

        pub(crate) const FUNCTIONS: &[$crate::facts::FunctionRow] = &[
            $($crate::facts::FunctionRow {
                name: stringify!($name),
                return_type: functions!(@return_type $($returns)?),
                returns: size_of::<functions!(@returns $($returns)?)>(),
                parameters: &[$($crate::facts::Parameter {
                    name: stringify!($parameter),
                    type_name: stringify!($type),
                    size: size_of::<$type>(),
                    pointee: <$type as $crate::facts::Argument>::POINTEE,
                }),*],
            }),*
        ];
    };
}
pub(crate) use functions;

/// Declares constants and a table of them under the given name.
macro_rules! constants {
    ($table:ident: $variant:ident; $($name:ident: $type:ty = $value:expr;)*) => {
        $(
            #[allow(missing_docs, reason = "the name is the definition's")]
            pub const $name: $type = $value;
        )*

        pub(crate) const $table: &[(&str, $crate::facts::Value)] =
            &[$((stringify!($name), $crate::facts::Value::$variant($name))),*];
    };
}
pub(crate) use constants;

/// Declares GUIDs and a table `GUIDS` of them.
macro_rules! guids {
    ($($name:ident = $text:literal;)*) => {
        $(
            #[doc = concat!("`{", $text, "}`.")]
            pub const $name: ::windows_core::GUID = $crate::interface::guid($text);
        )*

        pub(crate) const GUIDS: &[(&str, ::windows_core::GUID)] =
            &[$((stringify!($name), $name)),*];
    };
}
pub(crate) use guids;

/// Declares HRESULTs and a table `HRESULTS` of them.
macro_rules! hresults {
    ($($name:ident = $value:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($value), "`.")]
            pub const $name: ::windows_core::HRESULT =
                ::windows_core::HRESULT($value as u32 as i32);
        )*

        /// Every HRESULT of this crate with its name. Where several names share a value, the first is the
        /// one to show.
        pub const HRESULTS: &[(::windows_core::HRESULT, &str)] =
            &[$(($name, stringify!($name))),*];
    };
}
pub(crate) use hresults;
