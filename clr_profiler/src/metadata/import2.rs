//! `IMetaDataImport2`.

use super::convert::{blob, raw_or_nil};
use super::enumerate::{MetadataIter, enumerate};
use super::handle::{Metadata, Sealed, source};
use crate::error::{Error, Result};
use crate::native::{read_text, typed};
use clr_profiler_il::signature::MethodSpecSig;
use clr_profiler_il::token::{GenericParam, GenericParamConstraint, MethodSpec, Token};

/// A generic parameter of a type or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamProps {
    /// Its place in the list of parameters, from 0.
    pub number: u32,
    /// Its attributes: `CorGenericParamAttr`, ECMA-335 II.23.1.7.
    pub attributes: u32,
    /// The type or method that has it.
    pub owner: Token,
    /// Its name, such as `TKey`.
    pub name: String,
}

/// A constraint of a generic parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamConstraintProps {
    /// The parameter.
    pub parameter: GenericParam,
    /// The type that an argument must derive from: a `TypeDef`, `TypeRef` or `TypeSpec`.
    pub constraint_type: Token,
}

/// A generic method with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodSpecProps {
    /// The generic method: a `MethodDef` or `MemberRef`.
    pub parent: Token,
    /// The arguments as the metadata encodes them; [`signature`](Self::signature) decodes them.
    pub signature_blob: Vec<u8>,
}

impl MethodSpecProps {
    /// The arguments.
    ///
    /// # Errors
    ///
    /// Where they break a rule of ECMA-335 II.23.2: which one, and where.
    pub fn signature(&self) -> Result<MethodSpecSig> {
        MethodSpecSig::parse(&self.signature_blob)
            .map_err(|error| Error::invalid("the signature of the instantiation", error))
    }
}

/// For which processors an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeKind {
    /// `CorPEKind`: whether it holds only IL, and needs 32 bits.
    pub kind: u32,
    /// The machine, as the header of the image has it: `IMAGE_FILE_MACHINE_...`.
    pub machine: u32,
}

/// What `IMetaDataImport2` offers: generics.
///
/// All of it may be called from every callback that is not during a collection.
#[doc(alias = "IMetaDataImport2")]
pub trait MetadataImport2: Sealed {
    /// The generic parameters of a type or a method.
    ///
    /// Wraps `IMetaDataImport2::EnumGenericParams`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumGenericParams")]
    fn generic_params(&self, owner: impl Into<Token>) -> MetadataIter<'_, GenericParam> {
        let owner = owner.into().raw();
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport2::EnumGenericParams(owner)
        )
    }

    /// The constraints of a generic parameter: the types that an argument must derive from.
    ///
    /// Wraps `IMetaDataImport2::EnumGenericParamConstraints`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumGenericParamConstraints")]
    fn generic_param_constraints(
        &self,
        parameter: GenericParam,
    ) -> MetadataIter<'_, GenericParamConstraint> {
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport2::EnumGenericParamConstraints(parameter.raw())
        )
    }

    /// The instantiations of a generic method that the module uses, or of all of them.
    ///
    /// Wraps `IMetaDataImport2::EnumMethodSpecs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumMethodSpecs")]
    fn method_specs(&self, method: Option<Token>) -> MetadataIter<'_, MethodSpec> {
        let method = raw_or_nil(method);
        enumerate!(
            self.import(),
            source(self),
            IMetaDataImport2::EnumMethodSpecs(method)
        )
    }

    /// Name and place of a generic parameter.
    ///
    /// Wraps `IMetaDataImport2::GetGenericParamProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such parameter.
    #[doc(alias = "GetGenericParamProps")]
    fn generic_param_props(&self, parameter: GenericParam) -> Result<GenericParamProps> {
        let (mut number, mut attributes, mut owner, mut reserved) = (0, 0, 0, 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport2::GetGenericParamProps(
                    parameter.raw(),
                    &mut number,
                    &mut attributes,
                    &mut owner,
                    &mut reserved,
                    buffer,
                    capacity,
                    length,
                )
            )
        })?;
        Ok(GenericParamProps {
            number,
            attributes,
            owner: Token::new(owner),
            name,
        })
    }

    /// Parameter and type of a constraint.
    ///
    /// Wraps `IMetaDataImport2::GetGenericParamConstraintProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such constraint.
    #[doc(alias = "GetGenericParamConstraintProps")]
    fn generic_param_constraint_props(
        &self,
        constraint: GenericParamConstraint,
    ) -> Result<GenericParamConstraintProps> {
        let (mut parameter, mut constraint_type) = (0, 0);
        native_call!(
            self.import(),
            IMetaDataImport2::GetGenericParamConstraintProps(
                constraint.raw(),
                &mut parameter,
                &mut constraint_type,
            )
        )?;
        Ok(GenericParamConstraintProps {
            parameter: typed(
                "IMetaDataImport2::GetGenericParamConstraintProps",
                parameter,
            )?,
            constraint_type: Token::new(constraint_type),
        })
    }

    /// Method and arguments of an instantiation.
    ///
    /// Wraps `IMetaDataImport2::GetMethodSpecProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such instantiation.
    #[doc(alias = "GetMethodSpecProps")]
    fn method_spec_props(&self, method: MethodSpec) -> Result<MethodSpecProps> {
        let (mut parent, mut start, mut length) = (0, std::ptr::null(), 0);
        native_call!(
            self.import(),
            IMetaDataImport2::GetMethodSpecProps(
                method.raw(),
                &mut parent,
                &mut start,
                &mut length
            )
        )?;
        Ok(MethodSpecProps {
            parent: Token::new(parent),
            // SAFETY: the metadata says that its blob of that length stands there.
            signature_blob: unsafe { blob(start, length) },
        })
    }

    /// For which processors the image is.
    ///
    /// Wraps `IMetaDataImport2::GetPEKind`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetPEKind")]
    fn pe_kind(&self) -> Result<PeKind> {
        let (mut kind, mut machine) = (0, 0);
        native_call!(
            self.import(),
            IMetaDataImport2::GetPEKind(&mut kind, &mut machine)
        )?;
        Ok(PeKind { kind, machine })
    }

    /// The version of the runtime that the metadata was written for, such as `v4.0.30319`.
    ///
    /// Wraps `IMetaDataImport2::GetVersionString`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetVersionString")]
    fn version_string(&self) -> Result<String> {
        let import = self.import();
        read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport2::GetVersionString(buffer, capacity, length)
            )
        })
    }
}

impl MetadataImport2 for Metadata<'_> {}
