//! The element types that start or extend a type (ECMA-335 II.23.1.16), except the primitives,
//! which are in a table next to `TypeSig`.

pub(super) const PTR: u8 = 0x0f;
pub(super) const BYREF: u8 = 0x10;
pub(super) const VALUETYPE: u8 = 0x11;
pub(super) const CLASS: u8 = 0x12;
pub(super) const VAR: u8 = 0x13;
pub(super) const ARRAY: u8 = 0x14;
pub(super) const GENERICINST: u8 = 0x15;
pub(super) const FNPTR: u8 = 0x1b;
pub(super) const SZARRAY: u8 = 0x1d;
pub(super) const MVAR: u8 = 0x1e;
pub(super) const CMOD_REQD: u8 = 0x1f;
pub(super) const CMOD_OPT: u8 = 0x20;
pub(super) const INTERNAL: u8 = 0x21;
pub(super) const SENTINEL: u8 = 0x41;
pub(super) const PINNED: u8 = 0x45;
