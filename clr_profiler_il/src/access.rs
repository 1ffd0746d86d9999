//! The accessibility of types and members (ECMA-335 I.8.5.3): a JIT refuses code that names an
//! inaccessible one.
//!
//! ```
//! use clr_profiler_il::access::Accessibility;
//! use clr_profiler_il::attributes::MemberAccess;
//!
//! let of_field = |access| Accessibility::of_member("count", access);
//! assert_eq!(of_field(MemberAccess::Private), Some(Accessibility::Private));
//! assert_eq!(of_field(MemberAccess::Public), None);
//! ```

use crate::attributes::{MemberAccess, TypeVisibility};
use crate::messages::messages;

messages! {
    /// The code that may use a type or member; a public one has no restriction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Accessibility {
        /// No code: a type initialiser, which only the runtime calls.
        RuntimeOnly => "is a type initialiser, which only the runtime calls";
        /// Code of the same module (`privatescope`).
        PrivateScope => "is accessible only in its module";
        /// Code of the declaring type and of types nested in it.
        Private => "is private";
        /// Code of derived types in the same assembly.
        FamAndAssem => "is private protected";
        /// Code of the same assembly.
        Assembly => "is internal";
        /// Code of derived types.
        Family => "is protected";
        /// Code of derived types, and code of the same assembly.
        FamOrAssem => "is protected internal";
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
    /// The accessibility of a method or field, by its name and access (II.23.1.5, II.23.1.10).
    #[must_use]
    pub fn of_member(name: &str, access: MemberAccess) -> Option<Self> {
        Some(match access {
            _ if name == ".cctor" => Self::RuntimeOnly,
            MemberAccess::PrivateScope => Self::PrivateScope,
            MemberAccess::Private => Self::Private,
            MemberAccess::FamAndAssem => Self::FamAndAssem,
            MemberAccess::Assembly => Self::Assembly,
            MemberAccess::Family => Self::Family,
            MemberAccess::FamOrAssem => Self::FamOrAssem,
            MemberAccess::Public | MemberAccess::Unknown(_) => return None,
        })
    }

    /// The accessibility of a type, by its visibility (II.23.1.15). That of a nested type is
    /// relative to its enclosing type.
    #[must_use]
    pub const fn of_type(visibility: TypeVisibility) -> Option<Self> {
        Some(match visibility {
            TypeVisibility::NotPublic | TypeVisibility::NestedAssembly => Self::Assembly,
            TypeVisibility::NestedPrivate => Self::Private,
            TypeVisibility::NestedFamily => Self::Family,
            TypeVisibility::NestedFamAndAssem => Self::FamAndAssem,
            TypeVisibility::NestedFamOrAssem => Self::FamOrAssem,
            TypeVisibility::Public | TypeVisibility::NestedPublic => return None,
        })
    }

    /// Whether code in this context may use the item.
    #[must_use]
    pub fn permits(self, code: &impl AccessContext) -> bool {
        let is_family = || code.is_in_type() || code.is_derived();
        let is_permitted = match self {
            Self::RuntimeOnly => return false,
            Self::PrivateScope => code.is_in_module(),
            Self::Private => code.is_in_type(),
            Self::FamAndAssem => code.is_in_assembly() && is_family(),
            Self::Assembly => code.is_in_assembly(),
            Self::Family => is_family(),
            Self::FamOrAssem => code.is_in_assembly() || is_family(),
        };
        is_permitted || code.ignores_checks()
    }
}

#[cfg(test)]
mod tests {
    use super::Accessibility::{
        Assembly, FamAndAssem, FamOrAssem, Family, Private, PrivateScope, RuntimeOnly,
    };
    use super::*;
    use crate::attributes::{MethodAttributes, TypeAttributes};

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
            RuntimeOnly,
            PrivateScope,
            Private,
            FamAndAssem,
            Assembly,
            Family,
            FamOrAssem,
        ];
        let (yes, no) = (true, false);
        for (at, admitted) in [
            (At([yes, yes, yes, no, no]), &ALL[1..]),
            (
                At([yes, no, yes, no, no]),
                &[PrivateScope, Assembly, FamOrAssem],
            ),
            (
                At([yes, no, yes, yes, no]),
                &[PrivateScope, FamAndAssem, Assembly, Family, FamOrAssem],
            ),
            (At([no, no, yes, no, no]), &[Assembly, FamOrAssem]),
            (At([no, no, no, yes, no]), &[Family, FamOrAssem]),
            (At([no, no, no, no, no]), &[]),
            (At([no, no, no, no, yes]), &ALL[1..]),
        ] {
            let permits = ALL.into_iter().filter(|limit| limit.permits(&at));
            assert_eq!(permits.collect::<Vec<_>>(), admitted, "{:?}", at.0);
        }
    }

    #[test]
    fn attributes_tell_the_limit() {
        let members = (0..8).map(|bits| {
            let attributes = MethodAttributes::from_bits_retain(bits);
            Accessibility::of_member("M", attributes.access())
        });
        let of_types = (0..8).map(|bits| {
            let attributes = TypeAttributes::from_bits_retain(bits);
            Accessibility::of_type(attributes.visibility())
        });
        let limits = [
            PrivateScope,
            Private,
            FamAndAssem,
            Assembly,
            Family,
            FamOrAssem,
        ];
        let expected = limits.into_iter().map(Some).chain([None, None]);
        assert!(members.eq(expected));
        let expected = [
            Some(Assembly),
            None,
            None,
            Some(Private),
            Some(Family),
            Some(Assembly),
            Some(FamAndAssem),
            Some(FamOrAssem),
        ];
        assert!(of_types.eq(expected));
        assert_eq!(
            Accessibility::of_member(".cctor", MemberAccess::Public),
            Some(RuntimeOnly)
        );
    }
}
