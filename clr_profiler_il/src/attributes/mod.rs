//! The attributes of types, members, parameters and assemblies (ECMA-335 II.23.1), under their names
//! in ECMA-335.
//!
//! Single bits are [flags](bitflags). A field of several bits, such as the accessibility of a method, is
//! an enumeration with a getter and a `with_..` function. Bits that this crate does not know are kept.
//!
//! ```
//! use clr_profiler_il::attributes::{MemberAccess, MethodAttributes};
//!
//! // `public static` in metadata.
//! let attributes = MethodAttributes::from_bits_retain(0x0016);
//! assert!(attributes.contains(MethodAttributes::STATIC));
//! assert_eq!(attributes.access(), MemberAccess::Public);
//! assert_eq!(format!("{attributes:?}"), "MethodAttributes(Public | STATIC)");
//!
//! assert_eq!(MethodAttributes::STATIC.with_access(MemberAccess::Public), attributes);
//! ```

use std::fmt::{self, Debug};

use bitflags::Flags;

mod assembly;
mod members;
mod types;

pub use assembly::{
    AssemblyContentType, AssemblyFlags, AssemblyHashAlgorithm, FileAttributes,
    ManifestResourceAttributes, ProcessorArchitecture, ResourceVisibility, SecurityAction,
};
pub use members::{
    CallConv, CharSet, CodeType, EventAttributes, FieldAttributes, MemberAccess, MemberAttributes,
    MethodAttributes, MethodImplAttributes, MethodSemanticsAttributes, PInvokeAttributes,
    PInvokeOption, ParamAttributes, PropertyAttributes,
};
pub use types::{
    GenericParamAttributes, StringFormat, TypeAttributes, TypeLayout, TypeVisibility, Variance,
};

/// Declares a type for the values of a field of several bits. With `, ..` at the end, numbers
/// without a value are `Unknown`.
///
/// ```text
/// /// The layout of the fields of a type.
/// TypeLayout {
///     /// The runtime chooses the layout.
///     Auto = 0,
///     ..
/// }
/// ```
macro_rules! values {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$value_doc:meta])* $value:ident = $number:literal,)* .. }
        $($others:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
            /// A number that this version of the crate does not know.
            Unknown(u32),
        }

        impl $name {
            /// The value with this number.
            #[must_use]
            pub const fn from_number(number: u32) -> Self {
                match number {
                    $($number => Self::$value,)*
                    other => Self::Unknown(other),
                }
            }

            /// The number in the metadata.
            #[must_use]
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$value => $number,)*
                    Self::Unknown(other) => other,
                }
            }
        }

        $crate::attributes::values! { $($others)* }
    };
    (
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$value_doc:meta])* $value:ident = $number:literal,)*
            ; $(#[$last_doc:meta])* $last:ident = $last_number:literal,
        }
        $($others:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
            $(#[$last_doc])* $last,
        }

        impl $name {
            /// Every number of the field has a value.
            const fn from_number(number: u32) -> Self {
                match number {
                    $($number => Self::$value,)*
                    _ => Self::$last,
                }
            }

            /// The number in the metadata.
            #[must_use]
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$value => $number,)*
                    Self::$last => $last_number,
                }
            }
        }

        $crate::attributes::values! { $($others)* }
    };
    () => {};
}
use values;

/// Declares attributes: first the fields of several bits, then the flags.
///
/// ```text
/// /// The attributes of a field (II.23.1.5).
/// FieldAttributes = "CorFieldAttr" {
///     /// Its accessibility.
///     access, with_access: MemberAccess in FIELD_ACCESS_MASK = 0x0007;
/// } {
///     /// The field is in the type, not in its instances.
///     STATIC = 0x0010;
/// }
/// ```
macro_rules! attributes {
    ($(
        $(#[$doc:meta])*
        $name:ident = $native:literal {
            $($(#[$field_doc:meta])*
            $get:ident, $with:ident: $value:ident in $mask:ident = $bits:literal;)*
        } {
            $($(#[$($flag_doc:tt)*])* $flag:ident = $bit:literal;)*
        }
    )*) => {$(
        bitflags::bitflags! {
            $(#[$doc])*
            #[doc(alias = $native)]
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
            pub struct $name: u32 {
                $($(#[$($flag_doc)*])* const $flag = $bit;)*
                const _ = !0;
            }
        }

        impl $name {
            $(
                #[doc = concat!("The bits of [`", stringify!($get), "`](Self::", stringify!($get), ").")]
                pub const $mask: Self = Self::from_bits_retain($bits);

                $(#[$field_doc])*
                #[must_use]
                pub const fn $get(self) -> $value {
                    let bits: u32 = $bits;
                    $value::from_number((self.bits() & bits) >> bits.trailing_zeros())
                }

                #[doc = concat!("The same with this [`", stringify!($get), "`](Self::", stringify!($get), ").")]
                #[must_use]
                pub const fn $with(self, $get: $value) -> Self {
                    let bits: u32 = $bits;
                    let field = $get.number() << bits.trailing_zeros() & bits;
                    Self::from_bits_retain(self.bits() & !bits | field)
                }
            )*
        }

        /// The fields of several bits that are not zero, and the flags.
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let fields: &[(u32, &dyn ::std::fmt::Debug)] = &[$(($bits, &self.$get())),*];
                $crate::attributes::write(stringify!($name), *self, fields, f)
            }
        }
    )*};
}
use attributes;

/// Writes the fields of several bits that are not zero, with their masks, and the flags.
fn write<F: Flags<Bits = u32>>(
    name: &str,
    attributes: F,
    fields: &[(u32, &dyn Debug)],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "{name}(")?;
    let mut flags = attributes.bits();
    let mut separator = "";
    for (mask, value) in fields {
        if flags & mask != 0 {
            write!(f, "{separator}{value:?}")?;
            separator = " | ";
            flags &= !mask;
        }
    }
    if flags != 0 {
        f.write_str(separator)?;
        bitflags::parser::to_writer(&F::from_bits_retain(flags), &mut *f)?;
    } else if separator.is_empty() {
        f.write_str("0x0")?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_flags_do_not_disturb_each_other() {
        let private = MethodAttributes::STATIC | MethodAttributes::VIRTUAL;
        assert_eq!(private.access(), MemberAccess::PrivateScope);
        let public = private.with_access(MemberAccess::Public);
        assert_eq!(public.bits(), 0x0056);
        assert_eq!(public.with_access(MemberAccess::PrivateScope), private);
        assert_eq!((public & MethodAttributes::MEMBER_ACCESS_MASK).bits(), 6);
    }

    #[test]
    fn fields_above_others_are_shifted() {
        let attributes = TypeAttributes::SEALED
            .with_visibility(TypeVisibility::NestedFamily)
            .with_layout(TypeLayout::Explicit)
            .with_string_format(StringFormat::Auto);
        assert_eq!(attributes.bits(), 0x0002_0114);
        assert_eq!(attributes.layout(), TypeLayout::Explicit);
        assert_eq!(attributes.string_format(), StringFormat::Auto);
        assert_eq!(attributes.visibility(), TypeVisibility::NestedFamily);
    }

    #[test]
    fn unknown_numbers_survive() {
        let attributes = MethodAttributes::from_bits_retain(0xffff_ffff);
        assert_eq!(attributes.access(), MemberAccess::Unknown(7));
        assert_eq!(attributes.with_access(attributes.access()), attributes);
        assert_eq!((!attributes).bits(), 0);
        assert_eq!((attributes & !MethodAttributes::STATIC).bits(), 0xffff_ffef);
        // A number with too many bits does not change other fields.
        let access = MemberAccess::Unknown(0xff);
        assert_eq!(MethodAttributes::empty().with_access(access).bits(), 7);
    }

    #[test]
    fn debug_shows_fields_flags_and_unknown_bits() {
        for (attributes, text) in [
            (0x0000, "MethodAttributes(0x0)"),
            (0x0006, "MethodAttributes(Public)"),
            (0x0010, "MethodAttributes(STATIC)"),
            (0x0096, "MethodAttributes(Public | STATIC | HIDE_BY_SIG)"),
            (0x1_0007, "MethodAttributes(Unknown(7) | 0x10000)"),
        ] {
            let attributes = MethodAttributes::from_bits_retain(attributes);
            assert_eq!(format!("{attributes:?}"), text);
        }
    }

    #[test]
    fn members_are_methods_or_fields() {
        let member = MemberAttributes::from_bits_retain(0x0816);
        assert!(member.contains(MemberAttributes::STATIC));
        assert_eq!(member.access(), MemberAccess::Public);
        assert!(member.of_method().contains(MethodAttributes::SPECIAL_NAME));
        assert!(!member.of_field().contains(FieldAttributes::SPECIAL_NAME));
    }
}
