//! The types of columns (ECMA-335 II.22), and the coded indexes (II.24.2.6).

use clr_profiler_il::attributes::{
    AssemblyFlags, AssemblyHashAlgorithm, EventAttributes, FieldAttributes, FileAttributes,
    GenericParamAttributes, ManifestResourceAttributes, MethodAttributes, MethodImplAttributes,
    MethodSemanticsAttributes, PInvokeAttributes, ParamAttributes, PropertyAttributes,
    SecurityAction, TypeAttributes,
};
use clr_profiler_il::token::{
    Assembly, AssemblyRef, Document, Event, ExportedType, FieldDef, File, GenericParam,
    GenericParamConstraint, ImportScope, InterfaceImpl, LocalConstant, LocalScope, LocalVariable,
    ManifestResource, MemberRef, MethodDef, MethodSpec, Module, ModuleRef, ParamDef, Permission,
    Property, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec, TypeToken,
};

use crate::heaps::{BlobIndex, GuidIndex, StringIndex};

/// The contents of a column, which decide on its width.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    U16,
    U32,
    String,
    Guid,
    Blob,
    /// A row of the table with this number.
    Row(u8),
    /// A row of one of these tables; its lowest bits are the position of the table in the list.
    Coded {
        bits: u8,
        tables: &'static [u8],
    },
}

/// A position in a [`Column::Coded`] that is not used.
pub(crate) const UNUSED: u8 = 0xff;

/// A type of a column.
#[allow(
    unreachable_pub,
    reason = "a bound of public items, which Rust 1.88 does not see"
)]
pub trait Cell: Sized {
    const COLUMN: Column;

    /// The value with this number in the table; `None` if there is none.
    fn from_number(number: u32) -> Option<Self>;
}

/// The number of a value in its column, without the tag of a coded index: the inverse of
/// [`Cell::from_number`].
#[allow(
    unreachable_pub,
    reason = "a bound of public items, which Rust 1.88 does not see"
)]
pub trait Key: Cell + Copy + Eq {
    fn number(self) -> Option<u32>;
}

macro_rules! cells {
    ($($type:ty: $column:expr, $from:expr;)*) => {$(
        impl Cell for $type {
            const COLUMN: Column = $column;

            fn from_number(number: u32) -> Option<Self> {
                let from: fn(u32) -> Option<Self> = $from;
                from(number)
            }
        }
    )*};
}

cells! {
    u16: Column::U16, |number| u16::try_from(number).ok();
    u32: Column::U32, Some;
    StringIndex: Column::String, |index| Some(Self(index));
    GuidIndex: Column::Guid, |index| Some(Self(index));
    BlobIndex: Column::Blob, |index| Some(Self(index));
    TypeAttributes: Column::U32, |bits| Some(Self::from_bits_retain(bits));
    AssemblyFlags: Column::U32, |bits| Some(Self::from_bits_retain(bits));
    AssemblyHashAlgorithm: Column::U32, |number| Some(Self::from_number(number));
    FileAttributes: Column::U32, |bits| Some(Self::from_bits_retain(bits));
    ManifestResourceAttributes: Column::U32, |bits| Some(Self::from_bits_retain(bits));
    FieldAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    MethodAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    MethodImplAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    ParamAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    EventAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    PropertyAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    MethodSemanticsAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    PInvokeAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    GenericParamAttributes: Column::U16, |bits| Some(Self::from_bits_retain(bits));
    SecurityAction: Column::U16, |number| Some(Self::from_number(number));
}

/// A column with rows of one table.
macro_rules! row_cells {
    ($($token:ident)*) => {$(
        impl Cell for $token {
            const COLUMN: Column = Column::Row(Self::TABLE.0);

            fn from_number(number: u32) -> Option<Self> {
                Self::from_row(number)
            }
        }

        impl Key for $token {
            fn number(self) -> Option<u32> {
                Some(self.row())
            }
        }
    )*};
}

row_cells! {
    AssemblyRef Document Event FieldDef GenericParam ImportScope LocalConstant LocalVariable
    MethodDef ModuleRef ParamDef Property TypeDef
}

/// Declares the coded indexes: the tables by their tag. `_` is a tag that is not used.
///
/// ```text
/// /// The generic type or method of a generic parameter.
/// TypeOrMethodDef 1 [TypeDef MethodDef];
/// ```
///
/// becomes an enumeration with the variants `TypeDef(TypeDef)` and `MethodDef(MethodDef)`, `From` for each
/// of the two tokens, and the conversion from the number in a column, whose lowest bit is the tag.
macro_rules! coded {
    ($($(#[$doc:meta])* $name:ident $bits:literal [$($table:tt)*];)*) => {$(
        coded! { @variants [$(#[$doc])* $name $bits] [$($table)*] [] $($table)* }
    )*};
    (@variants $head:tt $all:tt [$($variant:ident)*] _ $($rest:tt)*) => {
        coded! { @variants $head $all [$($variant)*] $($rest)* }
    };
    (@variants $head:tt $all:tt [$($variant:ident)*] $next:ident $($rest:tt)*) => {
        coded! { @variants $head $all [$($variant)* $next] $($rest)* }
    };
    (
        @variants [$(#[$doc:meta])* $name:ident $bits:literal] [$($table:tt)*]
        [$($variant:ident)*]
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(
                #[doc = concat!("A row of `", stringify!($variant), "`.")]
                $variant($variant),
            )*
        }

        impl $name {
            const TABLES: &[u8] = &[$(coded!(@number $table)),*];

            /// The token of the row.
            #[must_use]
            pub const fn token(self) -> Token {
                match self {
                    $(Self::$variant(token) => token.token(),)*
                }
            }

            /// Whether there is no row.
            #[must_use]
            pub const fn is_nil(self) -> bool {
                self.token().is_nil()
            }
        }

        impl From<$name> for Token {
            fn from(index: $name) -> Self {
                index.token()
            }
        }

        $(
            impl From<$variant> for $name {
                fn from(token: $variant) -> Self {
                    Self::$variant(token)
                }
            }
        )*

        impl Cell for $name {
            const COLUMN: Column = Column::Coded { bits: $bits, tables: Self::TABLES };

            fn from_number(number: u32) -> Option<Self> {
                let tag = number & ((1 << $bits) - 1);
                let &table = Self::TABLES.get(tag as usize)?;
                let row = number >> $bits;
                $(if table == $variant::TABLE.0 {
                    return $variant::from_row(row).map(Self::$variant);
                })*
                None
            }
        }

        impl Key for $name {
            fn number(self) -> Option<u32> {
                encode($bits, Self::TABLES, self.token())
            }
        }
    };
    (@number _) => { UNUSED };
    (@number $table:ident) => { $table::TABLE.0 };
}

/// The number of a coded index. A row of 24 bits and a tag of at most 5 fit.
fn encode(bits: u8, tables: &[u8], token: Token) -> Option<u32> {
    let tag = tables.iter().position(|&table| table == token.table().0)?;
    Some(token.row() << bits | tag as u32)
}

const TYPE_DEF_OR_REF: &[u8] = &[TypeDef::TABLE.0, TypeRef::TABLE.0, TypeSpec::TABLE.0];

impl Cell for TypeToken {
    const COLUMN: Column = Column::Coded {
        bits: 2,
        tables: TYPE_DEF_OR_REF,
    };

    fn from_number(number: u32) -> Option<Self> {
        let row = number >> 2;
        match number & 3 {
            0 => TypeDef::from_row(row).map(Self::Def),
            1 => TypeRef::from_row(row).map(Self::Ref),
            2 => TypeSpec::from_row(row).map(Self::Spec),
            _ => None,
        }
    }
}

impl Key for TypeToken {
    fn number(self) -> Option<u32> {
        encode(2, TYPE_DEF_OR_REF, self.token())
    }
}

coded! {
    /// An item with a default value.
    HasConstant 2 [FieldDef ParamDef Property];
    /// An item with custom attributes.
    HasCustomAttribute 5 [
        MethodDef FieldDef TypeRef TypeDef ParamDef InterfaceImpl MemberRef Module Permission
        Property Event StandAloneSig ModuleRef TypeSpec Assembly AssemblyRef File ExportedType
        ManifestResource GenericParam GenericParamConstraint MethodSpec
    ];
    /// An item that is marshalled.
    HasFieldMarshal 1 [FieldDef ParamDef];
    /// An item with security permissions.
    HasDeclSecurity 2 [TypeDef MethodDef Assembly];
    /// The owner of a member that is referred to.
    MemberRefParent 3 [TypeDef TypeRef ModuleRef MethodDef TypeSpec];
    /// An event or a property, which methods belong to.
    HasSemantics 1 [Event Property];
    /// A method, defined here or elsewhere.
    MethodDefOrRef 1 [MethodDef MemberRef];
    /// A member that a native library implements.
    MemberForwarded 1 [FieldDef MethodDef];
    /// The file or assembly that contains an exported type or a resource, or the type that encloses
    /// an exported type.
    Implementation 2 [File AssemblyRef ExportedType];
    /// The constructor of a custom attribute.
    CustomAttributeType 3 [_ _ MethodDef MemberRef];
    /// The definition of a type that is referred to: a module, an assembly, or the type that encloses it.
    ResolutionScope 2 [Module ModuleRef AssemblyRef TypeRef];
    /// The type or method of a generic parameter.
    TypeOrMethodDef 1 [TypeDef MethodDef];
    /// An item with custom debug information, in a portable PDB.
    HasCustomDebugInformation 5 [
        MethodDef FieldDef TypeRef TypeDef ParamDef InterfaceImpl MemberRef Module Permission
        Property Event StandAloneSig ModuleRef TypeSpec Assembly AssemblyRef File ExportedType
        ManifestResource GenericParam GenericParamConstraint MethodSpec Document LocalScope
        LocalVariable LocalConstant ImportScope
    ];
}
