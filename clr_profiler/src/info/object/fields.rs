//! The fields of types, by name.

use super::value::Kind;
use crate::error::{Error, Result};
use crate::ids::{ClassId, ModuleId};
use crate::info::{CorProfilerInfo, CorProfilerInfo2, ProfilerInfo};
use crate::metadata::type_def_name;
use crate::native::read_text;
use clr_profiler_il::signature::{FieldSig, TypeSig};
use clr_profiler_il::token::{FieldDef, TypeDef};
use clr_profiler_sys as sys;
use sys::Interface;

/// A field of an object: its name, where it is, and what it holds.
pub(super) struct FieldPlace {
    pub(super) name: String,
    pub(super) offset: usize,
    pub(super) kind: Kind,
}

/// The fields that a type itself declares.
pub(super) fn instance_fields(info: &ProfilerInfo, class: ClassId) -> Result<Vec<FieldPlace>> {
    let facts = info.class_id_info2(class)?;
    let Some(module) = facts.module else {
        return Ok(Vec::new());
    };
    let metadata = FieldMetadata::of(info, module)?;
    let mut places = Vec::new();
    for (token, offset) in info.class_layout(class)?.fields {
        let (name, signature) = metadata.field(token)?;
        if let Some(kind) = kind_of(info, &signature, &facts.type_arguments)? {
            places.push(FieldPlace {
                name,
                offset: offset as usize,
                kind,
            });
        }
    }
    Ok(places)
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
    let metadata = FieldMetadata::of(info, module)?;
    let Some(token) = metadata.find(facts.token, name)? else {
        return Ok(None);
    };
    let (_, signature) = metadata.field(token)?;
    let kind = match signature.unmodified() {
        // Where the structure ends has to be known: the value stands alone.
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
            "its type is not one that can be read",
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

/// How values of a loaded type are in memory.
pub(super) fn kind_of_class(info: &ProfilerInfo, class: ClassId) -> Result<Kind> {
    if info.array_class_info(class)?.is_some() || info.box_class_layout(class).is_err() {
        return Ok(Kind::Reference);
    }
    let facts = info.class_id_info2(class)?;
    let name = match facts.module {
        Some(module) => type_def_name(&info.module_metadata(module)?, facts.token, &[])?,
        None => String::new(),
    };
    Ok(match name.as_str() {
        "System.Boolean" => Kind::Bool,
        "System.Char" => Kind::Char,
        "System.SByte" => Kind::I1,
        "System.Byte" => Kind::U1,
        "System.Int16" => Kind::I2,
        "System.UInt16" => Kind::U2,
        "System.Int32" => Kind::I4,
        "System.UInt32" => Kind::U4,
        "System.Int64" => Kind::I8,
        "System.UInt64" => Kind::U8,
        "System.Single" => Kind::R4,
        "System.Double" => Kind::R8,
        "System.IntPtr" => Kind::NativeInt,
        "System.UIntPtr" => Kind::NativeUint,
        _ => Kind::Struct(Some(class)),
    })
}

/// Names and types of the fields of a module.
struct FieldMetadata(sys::IMetaDataImport2);

impl FieldMetadata {
    fn of(info: &ProfilerInfo, module: ModuleId) -> Result<Self> {
        let mut import = std::ptr::null_mut();
        ask!(
            steady info,
            ICorProfilerInfo::GetModuleMetaData(
                module.raw(),
                sys::ofRead,
                &sys::IMetaDataImport2::IID,
                &mut import,
            )
        )?;
        if import.is_null() {
            return Err(Error::invalid(
                "ICorProfilerInfo::GetModuleMetaData",
                "the module has no metadata",
            ));
        }
        // SAFETY: the runtime gives a reference to the interface that was asked for.
        Ok(Self(unsafe { sys::IMetaDataImport2::from_raw(import) }))
    }

    fn field(&self, token: FieldDef) -> Result<(String, TypeSig)> {
        let (mut class, mut attributes, mut flag, mut length) = (0, 0, 0, 0);
        let (mut blob, mut blob_length) = (std::ptr::null(), 0);
        let mut constant = std::ptr::null();
        let name = read_text(|capacity, needed, buffer| {
            native_call!(
                &self.0,
                IMetaDataImport2::GetFieldProps(
                    token.raw(),
                    &mut class,
                    buffer,
                    capacity,
                    needed,
                    &mut attributes,
                    &mut blob,
                    &mut blob_length,
                    &mut flag,
                    &mut constant,
                    &mut length,
                )
            )
        })?;
        let blob = if blob.is_null() {
            &[][..]
        } else {
            // SAFETY: the metadata says that the signature of that length stands there; it lives
            // as long as the module, about which questions are being asked.
            unsafe { std::slice::from_raw_parts(blob, blob_length as usize) }
        };
        let signature = FieldSig::parse(blob)
            .map_err(|error| Error::invalid("the signature of the field", error))?;
        Ok((name, signature.field_type))
    }

    fn find(&self, class: TypeDef, name: &str) -> Result<Option<FieldDef>> {
        let name = crate::native::utf16(name);
        let mut token = 0;
        let found = native_call!(
            &self.0,
            IMetaDataImport2::FindField(
                class.raw(),
                name.as_ptr(),
                std::ptr::null(),
                0,
                &mut token,
            )
        );
        match found {
            Ok(_) => crate::native::typed("IMetaDataImport::FindField", token).map(Some),
            Err(error) if error.hresult().0 == sys::CLDB_E_RECORD_NOTFOUND.0 => Ok(None),
            Err(error) => Err(error),
        }
    }
}
