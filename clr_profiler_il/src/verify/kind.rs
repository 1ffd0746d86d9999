use std::collections::HashMap;

use crate::messages::messages;
use crate::signature::{TokenNames, TypeSig};
use crate::symbol::{Reference, Resolver, TypeKind};

messages! {
    /// The kinds of values on the evaluation stack (ECMA-335 III.1.1, I.12.3.2.1).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum StackKind {
        /// `int32`: every integer up to that size, `bool`, `char`, and enumerations of these.
        Int32 => "int32";
        /// `int64`, and enumerations of it.
        Int64 => "int64";
        /// A native integer, an unmanaged pointer or a function pointer.
        NativeInt => "native int";
        /// `float32` or `float64`.
        Float => "float";
        /// A reference to an object, or null.
        Object => "object";
        /// A managed pointer.
        ManagedPointer => "managed pointer";
        /// A value of this type: a structure other than an enumeration, or a generic parameter.
        Value(of: TypeSig) => "value of {}", of.display(&TokenNames);
        /// A value of a type that the instruction does not name, such as a runtime handle.
        SomeValue => "value of a structure";
        /// Not known to the resolver.
        Unknown => "unknown";
    }
}

/// A [`StackKind`] whose type, if any, is an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int32,
    Int64,
    NativeInt,
    Float,
    Object,
    ByRef,
    Value(u32),
    SomeValue,
    Unknown,
}

/// The requirement of an instruction for an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Anything,
    Kind(Kind),
    /// The address of a value: a managed pointer or a native integer.
    Address,
    /// An `int32` or a native integer.
    Index,
    /// A condition: zero or not.
    Condition,
    /// An operand of `conv`.
    Convertible,
    /// As `Convertible`, or the object of a pinned local, whose address is taken.
    Pinnable,
    /// The owner of a field or method: an object or an address.
    Instance,
    /// As `Instance`, or a value of a structure.
    InstanceOrValue(Kind),
}

impl Want {
    /// Whether a value is accepted, with the implicit conversions of III.1.6.
    pub(super) fn accepts(self, found: Kind) -> bool {
        use Kind as K;
        if found == K::Unknown {
            return true;
        }
        match self {
            Self::Anything => true,
            Self::Kind(wanted) => wanted.takes(found),
            Self::Address => matches!(found, K::ByRef | K::NativeInt),
            Self::Index => matches!(found, K::Int32 | K::NativeInt),
            Self::Condition => !matches!(found, K::Float | K::Value(_) | K::SomeValue),
            Self::Convertible => {
                matches!(
                    found,
                    K::Int32 | K::Int64 | K::NativeInt | K::Float | K::ByRef
                )
            }
            Self::Pinnable => found == K::Object || Self::Convertible.accepts(found),
            Self::Instance => matches!(found, K::Object | K::ByRef | K::NativeInt),
            Self::InstanceOrValue(value) => Self::Address.accepts(found) || value.takes(found),
        }
    }
}

impl Kind {
    /// Whether a value of another kind can be stored in a location of this kind (III.1.6).
    pub(super) fn takes(self, found: Self) -> bool {
        use Kind as K;
        self == found
            || matches!(
                (self, found),
                (K::Unknown, _)
                    | (_, K::Unknown)
                    | (K::NativeInt, K::Int32 | K::ByRef)
                    | (K::Int32 | K::ByRef, K::NativeInt)
                    | (K::Value(_), K::SomeValue)
                    | (K::SomeValue, K::Value(_))
            )
    }

    /// The join of two kinds where paths meet (III.1.8.1.3); `None` if there is none.
    pub(super) fn join(self, other: Self) -> Option<Self> {
        use Kind as K;
        Some(match (self, other) {
            (one, another) if one == another => one,
            (K::Unknown, _) | (_, K::Unknown) => K::Unknown,
            (K::Int32, K::NativeInt) | (K::NativeInt, K::Int32) => K::NativeInt,
            (K::ByRef, K::NativeInt) | (K::NativeInt, K::ByRef) => K::ByRef,
            (K::Value(_), K::SomeValue) | (K::SomeValue, K::Value(_)) => K::SomeValue,
            _ => return None,
        })
    }
}

/// The types of values on the stack, and the resolver for them.
pub(super) struct Kinds<'r> {
    pub(super) resolver: &'r dyn Resolver,
    /// The generic parameters whose values are objects.
    references: &'r [TypeSig],
    memory: KindsMemory,
    /// The kinds of values of the types after the first ones.
    others: HashMap<TypeSig, Kind>,
}

/// The reusable memory of [`Kinds`].
#[derive(Clone, Debug, Default)]
pub(super) struct KindsMemory {
    types: Vec<TypeSig>,
    /// The kinds of values of the first types. Most bodies have few.
    first: Vec<(TypeSig, Kind)>,
}

/// The number of types that are found faster one by one than by their hashes.
const FIRST: usize = 8;

impl<'r> Kinds<'r> {
    pub(super) fn new(
        resolver: &'r dyn Resolver,
        references: &'r [TypeSig],
        mut memory: KindsMemory,
    ) -> Self {
        memory.types.clear();
        memory.first.clear();
        Self {
            resolver,
            references,
            memory,
            others: HashMap::new(),
        }
    }

    pub(super) fn into_memory(self) -> KindsMemory {
        self.memory
    }

    /// The kind of a loaded variable, field, parameter or array element of a type.
    pub(super) fn of(&mut self, sig: &TypeSig) -> Kind {
        match sig {
            TypeSig::Bool
            | TypeSig::Char
            | TypeSig::I1
            | TypeSig::U1
            | TypeSig::I2
            | TypeSig::U2
            | TypeSig::I4
            | TypeSig::U4 => Kind::Int32,
            TypeSig::I8 | TypeSig::U8 => Kind::Int64,
            TypeSig::R4 | TypeSig::R8 => Kind::Float,
            TypeSig::NativeInt
            | TypeSig::NativeUint
            | TypeSig::Pointer(_)
            | TypeSig::FunctionPointer(_) => Kind::NativeInt,
            TypeSig::String
            | TypeSig::Object
            | TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. } => Kind::Object,
            TypeSig::Var(_) | TypeSig::MVar(_) if self.references.contains(sig) => Kind::Object,
            TypeSig::ByRef(_) => Kind::ByRef,
            TypeSig::Modified { inner, .. } | TypeSig::Pinned(inner) => self.of(inner),
            TypeSig::GenericInstance {
                is_value_type: false,
                ..
            } => Kind::Object,
            TypeSig::ValueType(_)
            | TypeSig::GenericInstance { .. }
            | TypeSig::Var(_)
            | TypeSig::MVar(_)
            | TypeSig::TypedReference => self.value(sig),
            // `void` has no value; an internal type is known only to its running process.
            _ => Kind::Unknown,
        }
    }

    /// The kind of a value of a structure, an enumeration or a generic parameter.
    fn value(&mut self, sig: &TypeSig) -> Kind {
        if let Some((_, kind)) = self.memory.first.iter().find(|(known, _)| known == sig) {
            return *kind;
        }
        if self.memory.first.len() == FIRST
            && let Some(&kind) = self.others.get(sig)
        {
            return kind;
        }
        let of_token = match sig {
            TypeSig::ValueType(token) => Some(*token),
            // An enumeration nested in a generic type is generic, too.
            TypeSig::GenericInstance { definition, .. } => Some(*definition),
            _ => None,
        };
        let kind = match of_token.map(|token| self.resolver.type_kind(token)) {
            Some(Some(TypeKind::Enum(values))) if !matches!(values, TypeSig::ValueType(_)) => {
                self.of(&values)
            }
            None | Some(Some(TypeKind::ValueType)) => {
                self.memory.types.push(sig.clone());
                Kind::Value(self.memory.types.len() as u32 - 1)
            }
            // It may be an enumeration.
            _ => Kind::Unknown,
        };
        if self.memory.first.len() < FIRST {
            self.memory.first.push((sig.clone(), kind));
        } else {
            self.others.insert(sig.clone(), kind);
        }
        kind
    }

    /// The kind of the type of a type operand.
    pub(super) fn named(&mut self, name: Reference<'_>) -> Kind {
        match self.resolver.type_sig(name) {
            Some(sig) => self.of(&sig),
            None => Kind::Unknown,
        }
    }

    /// Whether it is the kind of a generic parameter, whose type arguments may be objects.
    pub(super) fn is_parameter(&self, kind: Kind) -> bool {
        let Kind::Value(index) = kind else {
            return false;
        };
        let sig = self.memory.types.get(index as usize);
        matches!(sig, Some(TypeSig::Var(_) | TypeSig::MVar(_)))
    }

    /// The public kind, with its type.
    pub(super) fn public(&self, kind: Kind) -> StackKind {
        match kind {
            Kind::Int32 => StackKind::Int32,
            Kind::Int64 => StackKind::Int64,
            Kind::NativeInt => StackKind::NativeInt,
            Kind::Float => StackKind::Float,
            Kind::Object => StackKind::Object,
            Kind::ByRef => StackKind::ManagedPointer,
            Kind::Value(index) => match self.memory.types.get(index as usize) {
                Some(sig) => StackKind::Value(sig.clone()),
                None => StackKind::SomeValue,
            },
            Kind::SomeValue => StackKind::SomeValue,
            Kind::Unknown => StackKind::Unknown,
        }
    }
}
