//! `IMetaDataImport`.

use uuid::Uuid;

use super::handle::{Metadata, Sealed};
use crate::boundary::uuid_of;
use crate::error::{Error, Result};
use crate::native::{read_text, typed};
use clr_profiler_il::signature::MethodSig;
use clr_profiler_il::token::{MethodDef, Token, TypeDef, TypeRef, TypeSpec};
use clr_profiler_sys as sys;

/// A module by its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeProps {
    /// The name of the module's file, without its folder.
    pub name: String,
    /// The module version id: another one for each build.
    pub mvid: Uuid,
}

/// A type that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeDefProps {
    /// Its name with namespace, and with the number of generic parameters: `` Shop.Cart`1 ``. A
    /// nested type has no namespace here; see [`MetadataImport::nested_class_props`].
    pub name: String,
    /// Its attributes: `CorTypeAttr`, ECMA-335 II.23.1.15.
    pub attributes: u32,
    /// What it derives from: a `TypeDef`, `TypeRef` or `TypeSpec`, or nil.
    pub extends: Token,
}

/// A type of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeRefProps {
    /// Where to look for it: a module, an assembly, or the type that encloses it.
    pub resolution_scope: Token,
    /// Its name with namespace.
    pub name: String,
}

/// A method that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodProps {
    /// The type that has it.
    pub class: TypeDef,
    /// Its name.
    pub name: String,
    /// Its attributes: `CorMethodAttr`, ECMA-335 II.23.1.10.
    pub attributes: u32,
    /// Its signature as the metadata encodes it; [`signature`](Self::signature) decodes it.
    pub signature_blob: Vec<u8>,
    /// Where its body stands in the image; zero where it has none there.
    pub rva: u32,
    /// How it is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    pub implementation: u32,
}

impl MethodProps {
    /// The signature.
    ///
    /// # Errors
    ///
    /// Where it breaks a rule of ECMA-335 II.23.2: which one, and where.
    pub fn signature(&self) -> Result<MethodSig> {
        MethodSig::parse(&self.signature_blob)
            .map_err(|error| Error::invalid("the signature of the method", error))
    }
}

/// What `IMetaDataImport` offers: the definitions and references of a module.
///
/// All of it may be called from every callback that is not during a collection.
#[doc(alias = "IMetaDataImport")]
pub trait MetadataImport: Sealed {
    /// The type with this name that the module defines.
    ///
    /// The name has the namespace and the number of generic parameters: `` Shop.Cart`1 ``. A nested
    /// type is found by its own name, and the type around it.
    ///
    /// Wraps `IMetaDataImport::FindTypeDefByName`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "FindTypeDefByName")]
    fn find_type_def_by_name(&self, name: &str, enclosing: Option<TypeDef>) -> Result<TypeDef> {
        let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
        let mut class = 0;
        native_call!(
            self.import(),
            IMetaDataImport::FindTypeDefByName(
                name.as_ptr(),
                enclosing.map_or(0, |enclosing| enclosing.raw()),
                &mut class,
            )
        )?;
        typed("IMetaDataImport::FindTypeDefByName", class)
    }

    /// Name and version id of the module.
    ///
    /// Wraps `IMetaDataImport::GetScopeProps`.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetScopeProps")]
    fn scope_props(&self) -> Result<ScopeProps> {
        let mut mvid = sys::GUID::zeroed();
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetScopeProps(buffer, capacity, length, &mut mvid)
            )
        })?;
        Ok(ScopeProps {
            name,
            mvid: uuid_of(&mvid),
        })
    }

    /// Name, attributes and base of a type that the module defines.
    ///
    /// Wraps `IMetaDataImport::GetTypeDefProps`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "GetTypeDefProps")]
    fn type_def_props(&self, class: TypeDef) -> Result<TypeDefProps> {
        let (mut attributes, mut extends) = (0, 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetTypeDefProps(
                    class.raw(),
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut extends,
                )
            )
        })?;
        Ok(TypeDefProps {
            name,
            attributes,
            extends: Token::new(extends),
        })
    }

    /// The type in which a nested type stands; `None` for types that are not nested.
    ///
    /// Wraps `IMetaDataImport::GetNestedClassProps`.
    ///
    /// # Errors
    ///
    /// What the metadata answers, but for `CLDB_E_RECORD_NOTFOUND`, which is `None`.
    #[doc(alias = "GetNestedClassProps")]
    fn nested_class_props(&self, class: TypeDef) -> Result<Option<TypeDef>> {
        let mut enclosing = 0;
        let answer = native_call!(
            self.import(),
            IMetaDataImport::GetNestedClassProps(class.raw(), &mut enclosing)
        );
        match answer {
            Ok(_) => typed("IMetaDataImport::GetNestedClassProps", enclosing).map(Some),
            Err(error) if error.hresult().0 == sys::CLDB_E_RECORD_NOTFOUND.0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Name and scope of a type of another module.
    ///
    /// Wraps `IMetaDataImport::GetTypeRefProps`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such reference.
    #[doc(alias = "GetTypeRefProps")]
    fn type_ref_props(&self, class: TypeRef) -> Result<TypeRefProps> {
        let mut scope = 0;
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetTypeRefProps(class.raw(), &mut scope, buffer, capacity, length)
            )
        })?;
        Ok(TypeRefProps {
            resolution_scope: Token::new(scope),
            name,
        })
    }

    /// The signature of a composed type, as ECMA-335 II.23.2.14 encodes it.
    ///
    /// Wraps `IMetaDataImport::GetTypeSpecFromToken`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such type.
    #[doc(alias = "GetTypeSpecFromToken")]
    fn type_spec_from_token(&self, type_spec: TypeSpec) -> Result<Vec<u8>> {
        let (mut signature, mut length) = (std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport::GetTypeSpecFromToken(type_spec.raw(), &mut signature, &mut length)
        )?;
        // SAFETY: the metadata says that its blob of that length stands there.
        Ok(unsafe { blob(signature, length) })
    }

    /// Name, signature and attributes of a method that the module defines.
    ///
    /// Wraps `IMetaDataImport::GetMethodProps`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such method.
    #[doc(alias = "GetMethodProps")]
    fn method_props(&self, method: MethodDef) -> Result<MethodProps> {
        let (mut class, mut attributes, mut rva, mut implementation) = (0, 0, 0, 0);
        let (mut signature, mut signature_length) = (std::ptr::null(), 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport::GetMethodProps(
                    method.raw(),
                    &mut class,
                    buffer,
                    capacity,
                    length,
                    &mut attributes,
                    &mut signature,
                    &mut signature_length,
                    &mut rva,
                    &mut implementation,
                )
            )
        })?;
        Ok(MethodProps {
            class: typed("IMetaDataImport::GetMethodProps", class)?,
            name,
            attributes,
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(signature, signature_length) },
            rva,
            implementation,
        })
    }
}

impl MetadataImport for Metadata<'_> {}

/// A copy of a blob of the metadata.
///
/// # Safety
///
/// Unless it is null, `start` points to `length` bytes that stay there during the call.
unsafe fn blob(start: *const u8, length: u32) -> Vec<u8> {
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(start, length as usize) }.to_vec()
}
