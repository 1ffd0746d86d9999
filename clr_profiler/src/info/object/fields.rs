//! The fields of types, by name.

use super::region::Region;
use super::value::{Kind, ObjectValue};
use crate::error::OptionalExt;
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::info::{CorProfilerInfo, CorProfilerInfo2};
use crate::metadata::{AnySignature, Metadata, MetadataImport, type_def_name};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::signature::{FieldSig, TypeSig};
use clr_profiler_il::token::{FieldDef, TypeDef};

/// A field of an object: its name, offset and kind.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) offset: usize,
    pub(super) kind: Kind,
}

impl Field {
    /// The value of the field in the region of an object or a structure.
    pub(super) fn read<'a>(
        &self,
        info: &'a ProfilerInfo,
        of: Region<'a>,
    ) -> Result<ObjectValue<'a>> {
        self.kind.read(info, of.part(self.offset, None)?)
    }
}

/// The fields that a type itself declares.
pub(super) fn instance_fields(info: &ProfilerInfo, class: ClassId) -> Result<Vec<Field>> {
    let facts = info.class_id_info2(class)?;
    let Some(module) = facts.module else {
        return Ok(Vec::new());
    };
    let metadata = info.module_metadata(module)?;
    let mut declared = Vec::new();
    for (token, offset) in info.class_layout(class)?.fields {
        let (name, signature) = field(&metadata, token)?;
        if let Some(kind) = kind_of(info, &signature, &facts.type_arguments)? {
            declared.push(Field {
                name,
                offset: offset as usize,
                kind,
            });
        }
    }
    Ok(declared)
}

/// A static field of a type: its token and its type.
pub(super) fn static_field(
    info: &ProfilerInfo,
    class: ClassId,
    name: &str,
) -> Result<Option<(FieldDef, Kind)>> {
    let facts = info.class_id_info2(class)?;
    let Some(module) = facts.module else {
        return Ok(None);
    };
    let metadata = info.module_metadata(module)?;
    let found = metadata.find_field(Some(facts.token), name, AnySignature);
    let Some(token) = found.optional()? else {
        return Ok(None);
    };
    let (_, signature) = field(&metadata, token)?;
    let kind = match signature.unmodified() {
        // The size of the structure must be known, because no object bounds a static field.
        TypeSig::ValueType(definition) => {
            let definition = TypeDef::try_from(definition.token()).map_err(|_| {
                Error::invalid(
                    "reading a static field",
                    "its type is a structure of another module",
                )
            })?;
            Some(Kind::Struct(Some(
                info.class_from_token(module, definition)?,
            )))
        }
        signature => kind_of(info, signature, &facts.type_arguments)?,
    };
    match kind {
        None | Some(Kind::Struct(None)) => Err(Error::invalid(
            "reading a static field",
            "values of its type cannot be read",
        )),
        Some(kind) => Ok(Some((token, kind))),
    }
}

fn kind_of(
    info: &ProfilerInfo,
    signature: &TypeSig,
    arguments: &[ClassId],
) -> Result<Option<Kind>> {
    match signature.unmodified() {
        TypeSig::Var(index) => match arguments.get(*index as usize) {
            Some(class) => kind_of_class(info, *class).map(Some),
            None => Ok(None),
        },
        signature => Ok(Kind::of_signature(signature)),
    }
}

/// The representation of values of a loaded type.
pub(super) fn kind_of_class(info: &ProfilerInfo, class: ClassId) -> Result<Kind> {
    if info.array_class_info(class)?.is_some() || info.box_class_layout(class).is_err() {
        return Ok(Kind::Reference);
    }
    let facts = info.class_id_info2(class)?;
    let name = match facts.module {
        Some(module) => type_def_name(&info.module_metadata(module)?, facts.token, &[])?,
        None => String::new(),
    };
    Ok(Kind::of_name(&name, class))
}

/// The name and type of a field.
fn field(metadata: &Metadata<'_>, token: FieldDef) -> Result<(String, TypeSig)> {
    let (_, name, signature) = metadata.field_parts(token)?;
    let signature = FieldSig::parse(&signature)
        .map_err(|error| Error::invalid("the signature of the field", error))?;
    Ok((name, signature.field_type))
}
