//! Who may use what is not public (ECMA-335 I.8.5.3): a JIT refuses code that names what it may not use.
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
    /// Who alone may use a type or member.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Accessibility {
        /// Nobody: type initialisers.
        Nobody => "is a type initialiser, which the runtime alone calls";
        /// Code of the same module (`privatescope`).
        Module => "is for its module alone";
        /// Code of the type that declares it, and of types within that one.
        Type => "is private";
        /// Code of derived types that are in the same assembly.
        FamilyInAssembly => "is private protected";
        /// Code of the same assembly.
        Assembly => "is internal";
        /// Code of derived types.
        Family => "is protected";
        /// Code of derived types and of the same assembly.
        FamilyOrAssembly => "is protected internal";
    }
}

/// Where code stands that uses something, as seen from what it uses. Only what matters is asked.
pub trait AccessContext {
    /// Whether both are in the same module.
    fn is_in_module(&self) -> bool;

    /// Whether the code is in the type that declares what it uses, or in a type within that one.
    fn is_in_type(&self) -> bool;

    /// Whether both are in the same assembly, or that of the code is a friend of the other
    /// (`InternalsVisibleTo`).
    fn is_in_assembly(&self) -> bool;

    /// Whether the type of the code, or one around it, derives from the type that declares what it uses.
    fn is_derived(&self) -> bool;

    /// Whether the assembly of the code asks for no checks (`IgnoresAccessChecksTo`).
    fn ignores_checks(&self) -> bool;
}

impl Accessibility {
    /// Of a method or field, by its name and attributes (II.23.1.5, II.23.1.10).
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

    /// Of a type, by its attributes (II.23.1.15): those of a nested one are about the type around it.
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

    /// Whether code that stands there may use it.
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

    /// What of a [`AccessContext`] is so, in the order of its functions.
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
