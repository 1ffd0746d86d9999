//! The accessibility of types and members (ECMA-335 I.8.5.3): a JIT refuses code that names an
//! inaccessible one.
//!
//! ```
//! use clr_profiler_il::access::Accessibility;
//!
//! // `private static`, and `public static`.
//! let of_field = |attributes| Accessibility::of_member("count", attributes);
//! assert_eq!(of_field(0x0011), Some(Accessibility::Type));
//! assert_eq!(of_field(0x0016), None);
//! ```

use crate::messages::messages;

/// `tdVisibilityMask` and `mdMemberAccessMask`.
const VISIBILITY: u32 = 0x0007;

messages! {
    /// The code that may use a type or member; a public one has no restriction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Accessibility {
        /// No code: a type initialiser, which only the runtime calls.
        Nobody => "is a type initialiser, which only the runtime calls";
        /// Code of the same module (`privatescope`).
        Module => "is accessible only in its module";
        /// Code of the declaring type and of types nested in it.
        Type => "is private";
        /// Code of derived types in the same assembly.
        FamilyInAssembly => "is private protected";
        /// Code of the same assembly.
        Assembly => "is internal";
        /// Code of derived types.
        Family => "is protected";
        /// Code of derived types, and code of the same assembly.
        FamilyOrAssembly => "is protected internal";
    }
}

/// The code that uses a type or member, relative to the used item. Only the questions that matter
/// are asked.
pub trait AccessContext {
    /// Whether both are in the same module.
    fn is_in_module(&self) -> bool;

    /// Whether the code is in the type that declares the used item, or in a type nested in it.
    fn is_in_type(&self) -> bool;

    /// Whether both are in the same assembly, or the code's assembly is a friend of the other
    /// (`InternalsVisibleTo`).
    fn is_in_assembly(&self) -> bool;

    /// Whether the type of the code, or a type that encloses it, derives from the type that
    /// declares the used item.
    fn is_derived(&self) -> bool;

    /// Whether the assembly of the code turns access checks off (`IgnoresAccessChecksTo`).
    fn ignores_checks(&self) -> bool;
}

impl Accessibility {
    /// The accessibility of a method or field, by its name and attributes (II.23.1.5, II.23.1.10).
    #[must_use]
    pub fn of_member(name: &str, attributes: u32) -> Option<Self> {
        Some(match attributes & VISIBILITY {
            _ if name == ".cctor" => Self::Nobody,
            0 => Self::Module,
            1 => Self::Type,
            2 => Self::FamilyInAssembly,
            3 => Self::Assembly,
            4 => Self::Family,
            5 => Self::FamilyOrAssembly,
            _ => return None,
        })
    }

    /// The accessibility of a type, by its attributes (II.23.1.15). That of a nested type is
    /// relative to its enclosing type.
    #[must_use]
    pub fn of_type(attributes: u32) -> Option<Self> {
        Some(match attributes & VISIBILITY {
            0 | 5 => Self::Assembly,
            3 => Self::Type,
            4 => Self::Family,
            6 => Self::FamilyInAssembly,
            7 => Self::FamilyOrAssembly,
            _ => return None,
        })
    }

    /// Whether code in this context may use the item.
    pub fn permits(self, code: &impl AccessContext) -> bool {
        let is_family = || code.is_in_type() || code.is_derived();
        let is_admitted = match self {
            Self::Nobody => return false,
            Self::Module => code.is_in_module(),
            Self::Type => code.is_in_type(),
            Self::FamilyInAssembly => code.is_in_assembly() && is_family(),
            Self::Assembly => code.is_in_assembly(),
            Self::Family => is_family(),
            Self::FamilyOrAssembly => code.is_in_assembly() || is_family(),
        };
        is_admitted || code.ignores_checks()
    }
}

#[cfg(test)]
mod tests {
    use super::Accessibility::{
        Assembly, Family, FamilyInAssembly, FamilyOrAssembly, Module, Nobody, Type,
    };
    use super::*;

    /// The answers of an [`AccessContext`], in the order of its functions.
    struct At([bool; 5]);

    impl AccessContext for At {
        fn is_in_module(&self) -> bool {
            self.0[0]
        }

        fn is_in_type(&self) -> bool {
            self.0[1]
        }

        fn is_in_assembly(&self) -> bool {
            self.0[2]
        }

        fn is_derived(&self) -> bool {
            self.0[3]
        }

        fn ignores_checks(&self) -> bool {
            self.0[4]
        }
    }

    #[test]
    fn what_is_limited_admits_those_whom_it_names() {
        const ALL: [Accessibility; 7] = [
            Nobody,
            Module,
            Type,
            FamilyInAssembly,
            Assembly,
            Family,
            FamilyOrAssembly,
        ];
        let (yes, no) = (true, false);
        for (at, admitted) in [
            (At([yes, yes, yes, no, no]), &ALL[1..]),
            (
                At([yes, no, yes, no, no]),
                &[Module, Assembly, FamilyOrAssembly],
            ),
            (
                At([yes, no, yes, yes, no]),
                &[Module, FamilyInAssembly, Assembly, Family, FamilyOrAssembly],
            ),
            (At([no, no, yes, no, no]), &[Assembly, FamilyOrAssembly]),
            (At([no, no, no, yes, no]), &[Family, FamilyOrAssembly]),
            (At([no, no, no, no, no]), &[]),
            (At([no, no, no, no, yes]), &ALL[1..]),
        ] {
            let permits = ALL.into_iter().filter(|limit| limit.permits(&at));
            assert_eq!(permits.collect::<Vec<_>>(), admitted, "{:?}", at.0);
        }
    }

    #[test]
    fn attributes_tell_the_limit() {
        let members = (0..8).map(|attributes| Accessibility::of_member("M", attributes));
        let of_types = (0..8).map(Accessibility::of_type);
        let limits = [
            Module,
            Type,
            FamilyInAssembly,
            Assembly,
            Family,
            FamilyOrAssembly,
        ];
        let expected = limits.into_iter().map(Some).chain([None, None]);
        assert!(members.eq(expected));
        let expected = [
            Some(Assembly),
            None,
            None,
            Some(Type),
            Some(Family),
            Some(Assembly),
            Some(FamilyInAssembly),
            Some(FamilyOrAssembly),
        ];
        assert!(of_types.eq(expected));
        assert_eq!(Accessibility::of_member(".cctor", 6), Some(Nobody));
    }
}
