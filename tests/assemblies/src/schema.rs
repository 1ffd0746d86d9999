//! The columns of the metadata tables (ECMA-335 II.22), and the coded indexes (II.24.2.6).

/// The type of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// An offset in the heap of names.
    Name,
    /// An index in the heap of GUIDs.
    Guid,
    /// An offset in the heap of blobs.
    Blob,
    /// A row of a table.
    Row(u8),
    /// A row of one of several tables.
    Coded(&'static Coded),
}

/// A coded index: the tables by the tag in its lowest bits.
#[derive(Debug)]
pub(crate) struct Coded {
    pub(crate) bits: u32,
    pub(crate) tables: &'static [u8],
}

/// The number in place of a table where a tag is not used.
pub(crate) const UNUSED: u8 = 0xff;

const fn coded(bits: u32, tables: &'static [u8]) -> Coded {
    Coded { bits, tables }
}

pub(crate) static TYPE_DEF_OR_REF: Coded = coded(2, &[0x02, 0x01, 0x1b]);
static HAS_CONSTANT: Coded = coded(2, &[0x04, 0x08, 0x17]);
static HAS_CUSTOM_ATTRIBUTE: Coded = coded(
    5,
    &[
        0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20,
        0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b,
    ],
);
static HAS_FIELD_MARSHAL: Coded = coded(1, &[0x04, 0x08]);
static HAS_DECL_SECURITY: Coded = coded(2, &[0x02, 0x06, 0x20]);
static MEMBER_REF_PARENT: Coded = coded(3, &[0x02, 0x01, 0x1a, 0x06, 0x1b]);
static HAS_SEMANTICS: Coded = coded(1, &[0x14, 0x17]);
static METHOD_DEF_OR_REF: Coded = coded(1, &[0x06, 0x0a]);
static MEMBER_FORWARDED: Coded = coded(1, &[0x04, 0x06]);
static IMPLEMENTATION: Coded = coded(2, &[0x26, 0x23, 0x27]);
static CUSTOM_ATTRIBUTE_TYPE: Coded = coded(3, &[UNUSED, UNUSED, 0x06, 0x0a]);
static RESOLUTION_SCOPE: Coded = coded(2, &[0x00, 0x1a, 0x23, 0x01]);
static TYPE_OR_METHOD_DEF: Coded = coded(1, &[0x02, 0x06]);

use Column::{Blob, Coded as Tag, Guid, Name, Row, U16, U32};

/// The columns of each table by its number.
pub(crate) static TABLES: [&[Column]; 0x2d] = [
    /* 00 Module */ &[U16, Name, Guid, Guid, Guid],
    /* 01 TypeRef */ &[Tag(&RESOLUTION_SCOPE), Name, Name],
    /* 02 TypeDef */
    &[U32, Name, Name, Tag(&TYPE_DEF_OR_REF), Row(0x04), Row(0x06)],
    /* 03 FieldPtr */ &[Row(0x04)],
    /* 04 Field */ &[U16, Name, Blob],
    /* 05 MethodPtr */ &[Row(0x06)],
    /* 06 MethodDef */ &[U32, U16, U16, Name, Blob, Row(0x08)],
    /* 07 ParamPtr */ &[Row(0x08)],
    /* 08 Param */ &[U16, U16, Name],
    /* 09 InterfaceImpl */ &[Row(0x02), Tag(&TYPE_DEF_OR_REF)],
    /* 0a MemberRef */ &[Tag(&MEMBER_REF_PARENT), Name, Blob],
    /* 0b Constant */ &[U16, Tag(&HAS_CONSTANT), Blob],
    /* 0c CustomAttribute */
    &[
        Tag(&HAS_CUSTOM_ATTRIBUTE),
        Tag(&CUSTOM_ATTRIBUTE_TYPE),
        Blob,
    ],
    /* 0d FieldMarshal */ &[Tag(&HAS_FIELD_MARSHAL), Blob],
    /* 0e DeclSecurity */ &[U16, Tag(&HAS_DECL_SECURITY), Blob],
    /* 0f ClassLayout */ &[U16, U32, Row(0x02)],
    /* 10 FieldLayout */ &[U32, Row(0x04)],
    /* 11 StandAloneSig */ &[Blob],
    /* 12 EventMap */ &[Row(0x02), Row(0x14)],
    /* 13 EventPtr */ &[Row(0x14)],
    /* 14 Event */ &[U16, Name, Tag(&TYPE_DEF_OR_REF)],
    /* 15 PropertyMap */ &[Row(0x02), Row(0x17)],
    /* 16 PropertyPtr */ &[Row(0x17)],
    /* 17 Property */ &[U16, Name, Blob],
    /* 18 MethodSemantics */ &[U16, Row(0x06), Tag(&HAS_SEMANTICS)],
    /* 19 MethodImpl */
    &[Row(0x02), Tag(&METHOD_DEF_OR_REF), Tag(&METHOD_DEF_OR_REF)],
    /* 1a ModuleRef */ &[Name],
    /* 1b TypeSpec */ &[Blob],
    /* 1c ImplMap */ &[U16, Tag(&MEMBER_FORWARDED), Name, Row(0x1a)],
    /* 1d FieldRVA */ &[U32, Row(0x04)],
    /* 1e EncLog */ &[U32, U32],
    /* 1f EncMap */ &[U32],
    /* 20 Assembly */ &[U32, U16, U16, U16, U16, U32, Blob, Name, Name],
    /* 21 AssemblyProcessor */ &[U32],
    /* 22 AssemblyOS */ &[U32, U32, U32],
    /* 23 AssemblyRef */ &[U16, U16, U16, U16, U32, Blob, Name, Name, Blob],
    /* 24 AssemblyRefProcessor */ &[U32, Row(0x23)],
    /* 25 AssemblyRefOS */ &[U32, U32, U32, Row(0x23)],
    /* 26 File */ &[U32, Name, Blob],
    /* 27 ExportedType */ &[U32, U32, Name, Name, Tag(&IMPLEMENTATION)],
    /* 28 ManifestResource */ &[U32, U32, Name, Tag(&IMPLEMENTATION)],
    /* 29 NestedClass */ &[Row(0x02), Row(0x02)],
    /* 2a GenericParam */ &[U16, U16, Tag(&TYPE_OR_METHOD_DEF), Name],
    /* 2b MethodSpec */ &[Tag(&METHOD_DEF_OR_REF), Blob],
    /* 2c GenericParamConstraint */ &[Row(0x2a), Tag(&TYPE_DEF_OR_REF)],
];
