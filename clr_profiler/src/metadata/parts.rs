//! Parts of the properties of an item, for callers that need many: the rest would double the cost.

use std::ptr::null_mut;

use super::handle::{Metadata, Sealed};
use super::own;
use clr_profiler_il::token::{Assembly, AssemblyRef, FieldDef, MethodDef, TypeDef};

impl Metadata<'_> {
    calls! { Metadata = IMetaDataImport from import;
    /// Returns type, name and signature.
    pub(crate) fn method_parts(method: MethodDef) -> (TypeDef, String, Vec<u8>)
        = [own] GetMethodProps(method, @class, ~{name}, null_mut(), @(signature), null_mut(), null_mut());

    /// Returns type, name and signature, but not the constant, which would take a search.
    pub(crate) fn field_parts(field: FieldDef) -> (TypeDef, String, Vec<u8>)
        = [own] GetFieldProps(
            field, @class, ~{name}, null_mut(), @(signature), null_mut(), null_mut(), null_mut());
    }

    calls! { Metadata = IMetaDataAssemblyImport from query_import;
    pub(crate) fn assembly_name(assembly: Assembly) -> String
        = GetAssemblyProps(
            assembly, null_mut(), null_mut(), null_mut(), ~{name}, null_mut(), null_mut());

    pub(crate) fn assembly_ref_name(reference: AssemblyRef) -> String
        = GetAssemblyRefProps(
            reference, null_mut(), null_mut(), ~{name}, null_mut(), null_mut(), null_mut(),
            null_mut());
    }
}
