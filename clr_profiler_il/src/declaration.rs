//! The metadata of new types and members (ECMA-335 II.23.1): all are public.
//!
//! ```
//! use clr_profiler_il::attributes::MemberAccess;
//! use clr_profiler_il::declaration::{NewField, NewType};
//!
//! assert_eq!(NewType::Struct.base(), "[corelib]System.ValueType");
//! assert_eq!(NewField::Static.attributes().access(), MemberAccess::Public);
//! ```

use crate::attributes::{
    FieldAttributes, MemberAccess, MethodAttributes, TypeAttributes, TypeLayout, TypeVisibility,
};
use crate::signature::MethodSig;

/// The kind of an added type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewType {
    /// A class without instances, such as one for helpers and counters.
    Static,
    /// A class that derives from `System.Object`.
    Class,
    /// A value type.
    Struct,
}

impl NewType {
    /// The base type.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Self::Static | Self::Class => "[corelib]System.Object",
            Self::Struct => "[corelib]System.ValueType",
        }
    }

    /// Its attributes.
    #[must_use]
    pub const fn attributes(self) -> TypeAttributes {
        let all = TypeAttributes::SEALED
            .union(TypeAttributes::BEFORE_FIELD_INIT)
            .with_visibility(TypeVisibility::Public);
        match self {
            Self::Static => all.union(TypeAttributes::ABSTRACT),
            Self::Class => all,
            Self::Struct => all.with_layout(TypeLayout::Sequential),
        }
    }
}

/// Where the value of a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewField {
    /// In the type.
    Static,
    /// In each instance.
    Instance,
}

impl NewField {
    /// Its attributes.
    #[must_use]
    pub const fn attributes(self) -> FieldAttributes {
        let place = match self {
            Self::Static => FieldAttributes::STATIC,
            Self::Instance => FieldAttributes::empty(),
        };
        place.with_access(MemberAccess::Public)
    }
}

/// Marks a method whose name has a meaning for the runtime: `specialname rtspecialname`.
pub const SPECIAL: MethodAttributes =
    MethodAttributes::SPECIAL_NAME.union(MethodAttributes::RT_SPECIAL_NAME);

/// The attributes of a method with this name.
#[must_use]
pub fn method_attributes(name: &str, signature: &MethodSig) -> MethodAttributes {
    let mut attributes = MethodAttributes::HIDE_BY_SIG.with_access(MemberAccess::Public);
    if !signature.has_this {
        attributes |= MethodAttributes::STATIC;
    }
    if name == ".ctor" || name == ".cctor" {
        attributes |= SPECIAL;
    }
    attributes
}

/// The placeholder body of a method with this name: it throws. That of a type initialiser does
/// nothing, because the runtime calls it by itself.
#[must_use]
pub fn body_without_code(name: &str) -> &'static [u8] {
    /// `ldnull; throw`
    const THROWS: [u8; 3] = [0x0a, 0x14, 0x7a];
    /// `ret`
    const RETURNS: [u8; 2] = [0x06, 0x2a];
    match name {
        ".cctor" => &RETURNS,
        _ => &THROWS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::MethodBody;
    use crate::signature::TypeSig;

    #[test]
    fn types_are_sealed_and_say_what_they_are() {
        let attributes =
            [NewType::Static, NewType::Class, NewType::Struct].map(|kind| kind.attributes().bits());
        assert_eq!(attributes, [0x0010_0181, 0x0010_0101, 0x0010_0109]);
    }

    #[test]
    fn methods_say_whether_they_are_static_or_special() {
        let of_type = MethodSig::new(TypeSig::Void, Vec::new());
        let of_instance = MethodSig {
            has_this: true,
            ..of_type.clone()
        };
        for (name, signature, attributes) in [
            ("M", &of_type, 0x0096),
            ("M", &of_instance, 0x0086),
            (".ctor", &of_instance, 0x1886),
            (".cctor", &of_type, 0x1896),
        ] {
            let found = method_attributes(name, signature);
            assert_eq!(found.bits(), attributes, "{name}");
        }
    }

    #[test]
    fn a_body_without_code_is_one() {
        for (name, last) in [("M", "throw"), (".cctor", "ret")] {
            let body = MethodBody::decode(body_without_code(name)).unwrap();
            assert!(body.to_string().trim_end().ends_with(last), "{body}");
        }
    }
}
