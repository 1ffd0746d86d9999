//! `IMetaDataEmit`: methods, fields and parameters.

use crate::metadata::handle::{MetadataWriter, SealedWriter};
use crate::metadata::signature::AsSignature;
use crate::metadata::signature::checked;
use crate::metadata::value::DefaultValue;
use crate::native::any_token;
use clr_profiler_il::signature::{FieldSig, MethodSig};
use clr_profiler_il::token::{FieldDef, MethodDef, ParamDef, Token, TypeDef};

table! { ($) __metadata_emit_members:
    MetadataEmitMembers = IMetaDataEmit from emit;

    /// Adds a method to a type; `None` adds it outside of types.
    ///
    /// `attributes` is `CorMethodAttr` (ECMA-335 II.23.1.10), `implementation` `CorMethodImpl`
    /// (II.23.1.11). An `rva` of 0 leaves the body to
    /// [`set_il_function_body`](crate::CorProfilerInfo::set_il_function_body).
    fn define_method(
        class: Option<TypeDef>, name: &str, attributes: u32,
        signature: impl AsSignature<MethodSig> as checked, rva: u32, implementation: u32
    ) -> MethodDef
        = DefineMethod(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(), rva,
            implementation, @method)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// Declares which body implements which declaration.
    fn define_method_impl(
        class: TypeDef, body: impl Into<Token> as any_token,
        declaration: impl Into<Token> as any_token
    ) -> () = DefineMethodImpl(class, body, declaration);

    /// Says where the body of a method stands.
    fn set_rva(method: MethodDef, rva: u32) -> () = SetRVA(method, rva);

    /// Changes attributes, address and implementation of a method. What is `None` stays as it is.
    fn set_method_props(
        method: MethodDef, attributes: Option<u32>, rva: Option<u32>, implementation: Option<u32>
    ) -> () = SetMethodProps(method, attributes, rva, implementation);

    /// Changes how a method is implemented: `CorMethodImpl`, ECMA-335 II.23.1.11.
    fn set_method_impl_flags(method: MethodDef, implementation: u32) -> ()
        = SetMethodImplFlags(method, implementation);

    /// Adds a field to a type; `None` adds it outside of types. `attributes` is `CorFieldAttr`,
    /// ECMA-335 II.23.1.5; `value` that of a literal.
    ///
    /// A field outside of types makes the runtime refuse a module that is loaded: its metadata is
    /// corrupt to it.
    fn define_field(
        class: Option<TypeDef>, name: &str, attributes: u32,
        signature: impl AsSignature<FieldSig> as checked, value: Option<&DefaultValue>
    ) -> FieldDef
        = DefineField(class, name.as_ptr(), attributes, signature.as_ptr(), signature.len(),
            value.element_type, value.start(), value.length, @field)
        fails "A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what \
               the metadata answers.";

    /// Changes attributes and constant of a field. What is `None` stays as it is.
    fn set_field_props(field: FieldDef, attributes: Option<u32>, value: Option<&DefaultValue>) -> ()
        = SetFieldProps(field, attributes, value.element_type, value.start(), value.length);

    /// Says where the data of a field stands.
    fn set_field_rva(field: FieldDef, rva: u32) -> () = SetFieldRVA(field, rva);

    /// Adds name, attributes (`CorParamAttr`, ECMA-335 II.23.1.13) and default of a parameter: 1 is the
    /// first one, 0 the value that is returned.
    fn define_param(
        method: MethodDef, sequence: u32, name: &str, attributes: u32, value: Option<&DefaultValue>
    ) -> ParamDef
        = DefineParam(method, sequence, name.as_ptr(), attributes, value.element_type,
            value.start(), value.length, @parameter)
        fails "A name with a zero in it; what the metadata answers.";

    /// Changes name, attributes and default of a parameter. What is `None` stays as it is.
    fn set_param_props(
        parameter: ParamDef, name: Option<&str>, attributes: Option<u32>,
        value: Option<&DefaultValue>
    ) -> ()
        = SetParamProps(parameter, name.as_ptr(), attributes, value.element_type, value.start(),
            value.length) fails "A name with a zero in it; what the metadata answers.";
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about methods, fields and parameters.
pub trait MetadataEmitMembers: SealedWriter {
    __metadata_emit_members! { calls }
}

impl MetadataEmitMembers for MetadataWriter<'_> {}
