//! Values for the answers of a fake runtime: of the right kind, and distinct.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

use clr_profiler::il::attributes::*;
use clr_profiler::metadata::PeFlags;
use clr_profiler_sys::facts::{ALIASES, STRUCTURES, StructureRow};

/// The tables of tokens, by the type of the token.
const TABLES: &[(&str, u32)] = &[
    ("mdModule", 0x00),
    ("mdTypeRef", 0x01),
    ("mdTypeDef", 0x02),
    ("mdFieldDef", 0x04),
    ("mdMethodDef", 0x06),
    ("mdParamDef", 0x08),
    ("mdInterfaceImpl", 0x09),
    ("mdMemberRef", 0x0A),
    ("mdCustomAttribute", 0x0C),
    ("mdPermission", 0x0E),
    ("mdSignature", 0x11),
    ("mdEvent", 0x14),
    ("mdProperty", 0x17),
    ("mdModuleRef", 0x1A),
    ("mdTypeSpec", 0x1B),
    ("mdAssembly", 0x20),
    ("mdAssemblyRef", 0x23),
    ("mdFile", 0x26),
    ("mdExportedType", 0x27),
    ("mdManifestResource", 0x28),
    ("mdGenericParam", 0x2A),
    ("mdMethodSpec", 0x2B),
    ("mdGenericParamConstraint", 0x2C),
    ("mdString", 0x70),
    // Of any kind: most often a method.
    ("mdToken", 0x06),
];

/// Memory that every pointer in an answer points to: longer than any reported length.
///
/// It begins like the signature of a method without parameters that returns nothing, and like the
/// empty string.
fn memory() -> *mut c_void {
    static MEMORY: OnceLock<usize> = OnceLock::new();
    let address = MEMORY.get_or_init(|| {
        let mut bytes = vec![0_u8; 1 << 20];
        bytes[..3].copy_from_slice(&[0, 0, 1]);
        bytes.leak().as_mut_ptr().expose_provenance()
    });
    ptr::with_exposed_provenance_mut(*address)
}

/// Whether a type is a pointer, whatever its name.
pub(crate) fn is_pointer(type_name: &str) -> bool {
    type_name.starts_with('*')
        || ALIASES
            .iter()
            .copied()
            .flatten()
            .any(|alias| alias.name == type_name && is_pointer(alias.type_name))
}

pub(crate) fn structure(type_name: &str) -> Option<&'static StructureRow> {
    STRUCTURES
        .iter()
        .copied()
        .flatten()
        .find(|row| row.name == type_name)
}

/// Whether a type is a token, and not only a number.
pub(crate) fn is_token(type_name: &str) -> bool {
    TABLES.iter().any(|(name, _)| *name == type_name)
}

/// The bytes of a value of this type; different seeds give different values.
pub(crate) fn bytes_of(type_name: &str, size: usize, seed: u32) -> Vec<u8> {
    let number = |value: u64| value.to_ne_bytes()[..size.min(8)].to_vec();
    if let Some(row) = structure(type_name) {
        let mut bytes = vec![0; row.size];
        for (index, field) in row.fields.iter().enumerate() {
            // The first field distinguishes the elements of an array.
            let value = bytes_of(field.type_name, field.size, seed + 0x1_0000 * index as u32);
            bytes[field.offset..][..value.len()].copy_from_slice(&value);
        }
        bytes
    } else if let Some((_, table)) = TABLES.iter().find(|(name, _)| *name == type_name) {
        number(u64::from(table << 24 | seed))
    } else if is_pointer(type_name) && size == 8 {
        number(memory().expose_provenance() as u64)
    } else if matches!(type_name, "BOOL" | "HRESULT") {
        number(u64::from(type_name == "BOOL"))
    } else if size > 8 {
        vec![7; size]
    } else {
        number(u64::from(seed))
    }
}

/// A number as the types of attributes print it.
pub(crate) fn attributes_of(value: u64) -> Vec<String> {
    let Ok(bits) = u32::try_from(value) else {
        return Vec::new();
    };
    macro_rules! texts {
        ($($type:ident)*) => {
            vec![
                $(format!("{:?}", $type::from_bits_retain(bits)),)*
                format!("{:?}", PInvokeAttributes::from_bits_retain(bits).call_conv()),
            ]
        };
    }
    texts! {
        AssemblyFlags EventAttributes FieldAttributes FileAttributes GenericParamAttributes
        ManifestResourceAttributes MemberAttributes MethodAttributes MethodImplAttributes
        MethodSemanticsAttributes PInvokeAttributes ParamAttributes PeFlags PropertyAttributes
        TypeAttributes
    }
}

/// Every number in a text: decimal, or hexadecimal with `0x`.
pub(crate) fn numbers_in(text: &str) -> Vec<u64> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .filter_map(|word| match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        })
        .collect()
}
