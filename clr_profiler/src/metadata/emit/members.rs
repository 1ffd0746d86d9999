//! `IMetaDataEmit`: methods, fields and parameters.

use super::KEEP;
use crate::error::Result;
use crate::metadata::convert::{length, raw_or_nil, wide};
use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::metadata::signature::AsSignature;
use crate::metadata::value::DefaultValue;
use crate::native::typed;
use clr_profiler_il::signature::{FieldSig, MethodSig};
use clr_profiler_il::token::{FieldDef, MethodDef, ParamDef, Token, TypeDef};

/// The part of [`MetadataEmit`](crate::MetadataEmit) about methods, fields and parameters.
pub trait MetadataEmitMembers: SealedWriter {
    /// Adds a method to a type; `None` adds it outside of types.
    ///
    /// `attributes` is `CorMethodAttr` (ECMA-335 II.23.1.10), `implementation` `CorMethodImpl`
    /// (II.23.1.11). An `rva` of 0 leaves the body to
    /// [`set_il_function_body`](crate::CorProfilerInfo::set_il_function_body).
    ///
    /// Wraps `IMetaDataEmit::DefineMethod`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what the metadata
    /// answers.
    #[doc(alias = "DefineMethod")]
    fn define_method(
        &self,
        class: Option<TypeDef>,
        name: &str,
        attributes: u32,
        signature: impl AsSignature<MethodSig>,
        rva: u32,
        implementation: u32,
    ) -> Result<MethodDef> {
        const CALL: &str = "IMetaDataEmit::DefineMethod";
        let name = wide(CALL, name)?;
        let signature = signature.checked(CALL)?;
        let mut method = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineMethod(
                raw_or_nil(class),
                name.as_ptr(),
                attributes,
                signature.as_ptr(),
                length(CALL, &signature)?,
                rva,
                implementation,
                &mut method
            )
        )?;
        typed(CALL, method)
    }

    /// Declares which body implements which declaration.
    ///
    /// Wraps `IMetaDataEmit::DefineMethodImpl`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "DefineMethodImpl")]
    fn define_method_impl(
        &self,
        class: TypeDef,
        body: impl Into<Token>,
        declaration: impl Into<Token>,
    ) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineMethodImpl(
                class.raw(),
                body.into().raw(),
                declaration.into().raw()
            )
        )
        .map(drop)
    }

    /// Says where the body of a method stands.
    ///
    /// Wraps `IMetaDataEmit::SetRVA`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetRVA")]
    fn set_rva(&self, method: MethodDef, rva: u32) -> Result<()> {
        native_call!(self.emit(), IMetaDataEmit::SetRVA(method.raw(), rva)).map(drop)
    }

    /// Changes attributes, address and implementation of a method. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetMethodProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetMethodProps")]
    fn set_method_props(
        &self,
        method: MethodDef,
        attributes: Option<u32>,
        rva: Option<u32>,
        implementation: Option<u32>,
    ) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::SetMethodProps(
                method.raw(),
                attributes.unwrap_or(KEEP),
                rva.unwrap_or(KEEP),
                implementation.unwrap_or(KEEP)
            )
        )
        .map(drop)
    }

    /// Changes how a method is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    ///
    /// Wraps `IMetaDataEmit::SetMethodImplFlags`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetMethodImplFlags")]
    fn set_method_impl_flags(&self, method: MethodDef, implementation: u32) -> Result<()> {
        native_call!(
            self.emit(),
            IMetaDataEmit::SetMethodImplFlags(method.raw(), implementation)
        )
        .map(drop)
    }

    /// Adds a field to a type; `None` adds it outside of types. `attributes` is `CorFieldAttr`,
    /// ECMA-335 II.23.1.5; `value` that of a literal.
    ///
    /// A field outside of types makes the runtime refuse a module that is loaded: its metadata is
    /// corrupt to it.
    ///
    /// Wraps `IMetaDataEmit::DefineField`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what the metadata
    /// answers.
    #[doc(alias = "DefineField")]
    fn define_field(
        &self,
        class: Option<TypeDef>,
        name: &str,
        attributes: u32,
        signature: impl AsSignature<FieldSig>,
        value: Option<&DefaultValue>,
    ) -> Result<FieldDef> {
        const CALL: &str = "IMetaDataEmit::DefineField";
        let name = wide(CALL, name)?;
        let signature = signature.checked(CALL)?;
        let value = DefaultValue::native(value);
        let mut field = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineField(
                raw_or_nil(class),
                name.as_ptr(),
                attributes,
                signature.as_ptr(),
                length(CALL, &signature)?,
                value.element_type,
                value.start(),
                value.length,
                &mut field
            )
        )?;
        typed(CALL, field)
    }

    /// Changes attributes and constant of a field. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetFieldProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetFieldProps")]
    fn set_field_props(
        &self,
        field: FieldDef,
        attributes: Option<u32>,
        value: Option<&DefaultValue>,
    ) -> Result<()> {
        let value = DefaultValue::native(value);
        native_call!(
            self.emit(),
            IMetaDataEmit::SetFieldProps(
                field.raw(),
                attributes.unwrap_or(KEEP),
                value.element_type,
                value.start(),
                value.length
            )
        )
        .map(drop)
    }

    /// Says where the data of a field stands.
    ///
    /// Wraps `IMetaDataEmit::SetFieldRVA`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SetFieldRVA")]
    fn set_field_rva(&self, field: FieldDef, rva: u32) -> Result<()> {
        native_call!(self.emit(), IMetaDataEmit::SetFieldRVA(field.raw(), rva)).map(drop)
    }

    /// Adds name, attributes (`CorParamAttr`, ECMA-335 II.23.1.13) and default of a parameter: 1 is the
    /// first one, 0 the value that is returned.
    ///
    /// Wraps `IMetaDataEmit::DefineParam`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "DefineParam")]
    fn define_param(
        &self,
        method: MethodDef,
        sequence: u32,
        name: &str,
        attributes: u32,
        value: Option<&DefaultValue>,
    ) -> Result<ParamDef> {
        const CALL: &str = "IMetaDataEmit::DefineParam";
        let name = wide(CALL, name)?;
        let value = DefaultValue::native(value);
        let mut parameter = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit::DefineParam(
                method.raw(),
                sequence,
                name.as_ptr(),
                attributes,
                value.element_type,
                value.start(),
                value.length,
                &mut parameter
            )
        )?;
        typed(CALL, parameter)
    }

    /// Changes name, attributes and default of a parameter. What is `None` stays as it is.
    ///
    /// Wraps `IMetaDataEmit::SetParamProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "SetParamProps")]
    fn set_param_props(
        &self,
        parameter: ParamDef,
        name: Option<&str>,
        attributes: Option<u32>,
        value: Option<&DefaultValue>,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit::SetParamProps";
        let name = name.map(|name| wide(CALL, name)).transpose()?;
        let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let value = DefaultValue::native(value);
        native_call!(
            self.emit(),
            IMetaDataEmit::SetParamProps(
                parameter.raw(),
                name,
                attributes.unwrap_or(KEEP),
                value.element_type,
                value.start(),
                value.length
            )
        )
        .map(drop)
    }
}

impl MetadataEmitMembers for MetadataWriter<'_> {}
