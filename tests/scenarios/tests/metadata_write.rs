//! Additions to the metadata of a module are read back afterwards.

use clr_profiler::il::attributes::{
    FieldAttributes, GenericParamAttributes, MemberAccess, MethodAttributes, MethodImplAttributes,
    ParamAttributes, PropertyAttributes, TypeAttributes, TypeVisibility,
};
use clr_profiler::il::signature::{FieldSig, MemberRefSig, MethodSig, TypeSig, TypeSpecSig};
use clr_profiler::il::token::TypeToken;
use clr_profiler::metadata::SaveSize;
use clr_profiler::metadata::{AssemblyRefProps, ConstantValue, PropertyMethods};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Adds a type with all kinds of members to the module `Metadata`.
pub(crate) struct WritesMetadata;

#[profiler(clsid = clsid("WritesMetadata"))]
impl Profiler for WritesMetadata {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if info.module_info(module)?.name.ends_with("Metadata.dll") {
            let writer = info.module_metadata_for_writing(module)?;
            definitions(&writer)?;
            references(&writer)?;
            let size = writer.save_size(SaveSize::Accurate)? as usize;
            let saved = writer.save_to_memory()?;
            let mut streamed = Vec::new();
            writer.save_to_stream(&mut streamed)?;
            log::line(format_args!(
                "saved {} {}",
                saved.len() == size,
                streamed.len() == size
            ));
            let again = info.metadata_dispenser()?.open_scope_on_memory(&saved)?;
            log::line(format_args!(
                "read again {}",
                again.find_type_def_by_name("Added.Thing", None).is_ok()
            ));
        }
        Ok(())
    }
}

fn definitions(writer: &MetadataWriter<'_>) -> Result<()> {
    let base = writer.find_type_def_by_name("Shop.Program", None)?;
    let extends =
        TypeToken::try_from(writer.type_def_props(base)?.extends).map_err(Error::other)?;
    let attributes = TypeAttributes::BEFORE_FIELD_INIT.with_visibility(TypeVisibility::Public);
    let class = writer.define_type_def("Added.Thing", attributes, Some(extends), &[])?;
    let props = writer.type_def_props(class)?;
    log::line(format_args!("type {} {:#x}", props.name, props.attributes));
    let text = FieldSig {
        field_type: TypeSig::String,
    };
    let value = ConstantValue::String("fünf".to_owned());
    let literal = FieldAttributes::STATIC | FieldAttributes::LITERAL | FieldAttributes::HAS_DEFAULT;
    let literal = literal.with_access(MemberAccess::Public);
    let field = writer.define_field(Some(class), "Text", literal, &text, Some(&value))?;
    let props = writer.field_props(field)?;
    log::line(format_args!(
        "field {} {:?} {}",
        props.name,
        props.value,
        props.signature()? == text
    ));
    let signature = MethodSig::new(TypeSig::String, vec![TypeSig::I4]);
    let attributes = MethodAttributes::STATIC.with_access(MemberAccess::Public);
    let il = MethodImplAttributes::empty();
    let method = writer.define_method(Some(class), "Say", attributes, &signature, 0, il)?;
    let props = writer.method_props(method)?;
    log::line(format_args!(
        "method {} {} {}",
        props.name,
        props.class == class,
        props.signature()? == signature
    ));
    let cut = writer.define_method(Some(class), "Cut", attributes, &[0x00, 0x02, 0x01], 0, il);
    log::line(format_args!("truncated {}", cut.is_err()));
    let optional = ParamAttributes::OPTIONAL | ParamAttributes::HAS_DEFAULT;
    let value = ConstantValue::I4(3);
    let parameter = writer.define_param(method, 1, "times", optional, Some(&value))?;
    let props = writer.param_props(parameter)?;
    log::line(format_args!("parameter {} {:?}", props.name, props.value));
    let methods = PropertyMethods {
        getter: Some(method),
        ..PropertyMethods::default()
    };
    let none = PropertyAttributes::empty();
    let property =
        writer.define_property(class, "Said", none, &[0x08, 0x00, 0x0e], None, &methods)?;
    let special = Some(PropertyAttributes::SPECIAL_NAME);
    writer.set_property_props(property, special, None, &PropertyMethods::default())?;
    let props = writer.property_props(property)?;
    log::line(format_args!(
        "property {} {:#x} {} {}",
        props.name,
        props.attributes,
        props.getter == Some(method),
        props.setter.is_none()
    ));
    let reference = GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT;
    let generic = writer.define_generic_param(method, 0, reference, "TAdded", &[])?;
    log::line(format_args!(
        "generic {}",
        writer.generic_param_props(generic)?.name
    ));
    Ok(())
}

fn references(writer: &MetadataWriter<'_>) -> Result<()> {
    let assembly = writer.define_assembly_ref(&AssemblyRefProps {
        name: "Some.Library".to_owned(),
        version: clr_profiler::metadata::AssemblyVersion {
            major: 3,
            revision: 9,
            ..Default::default()
        },
        public_key_or_token: vec![1, 2, 3, 4, 5, 6, 7, 8],
        ..AssemblyRefProps::default()
    })?;
    let props = writer.assembly_ref_props(assembly)?;
    log::line(format_args!(
        "assembly {} {}.{} {:?}",
        props.name, props.version.major, props.version.revision, props.public_key_or_token
    ));
    let class = writer.define_type_ref_by_name(assembly, "Some.Generic`1")?;
    let found = writer.find_type_ref(assembly, "Some.Generic`1")?;
    log::line(format_args!("type reference {}", found == class));
    let spec = TypeSpecSig {
        type_sig: TypeSig::GenericInstance {
            is_value_type: false,
            definition: class.into(),
            arguments: vec![TypeSig::I4],
        },
    };
    let token = writer.token_from_type_spec(&spec)?;
    log::line(format_args!(
        "composed {}",
        writer.type_spec(token)? == spec
    ));
    let mut signature = MethodSig::new(TypeSig::Void, vec![TypeSig::MVar(0)]);
    signature.generic_parameter_count = 1;
    let member = writer.define_member_ref(token, "Do", &MemberRefSig::Method(signature))?;
    let props = writer.member_ref_props(member)?;
    log::line(format_args!(
        "member {} {}",
        props.name,
        props.parent == token.into()
    ));
    let instance = writer.define_method_spec(member, &[0x0a, 0x01, 0x0e])?;
    let props = writer.method_spec_props(instance)?;
    log::line(format_args!(
        "instance {:?} {}",
        props.signature()?.arguments,
        props.parent == member.into()
    ));
    let text = writer.define_user_string_utf16(&[0x41, 0xD800, 0, 0x42])?;
    log::line(format_args!("text {:?}", writer.user_string_utf16(text)?));
    let empty = writer.define_user_string("")?;
    log::line(format_args!("empty {:?}", writer.user_string(empty)?));
    let locals = writer.token_from_sig(&[0x07, 0x01, 0x08])?;
    log::line(format_args!("locals {:?}", writer.sig_from_token(locals)?));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::WritesMetadata;

    #[test]
    fn what_was_added_is_read_back() {
        let scenario = Scenario::new("Metadata").profiled_by::<WritesMetadata>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            let facts = [
                "type Added.Thing 0x100001",
                "field Text Some(String(\"fünf\")) true",
                "method Say true true",
                "truncated true",
                "parameter times Some(I4(3))",
                "property Said 0x200 true true",
                "generic TAdded",
                "assembly Some.Library 3.9 [1, 2, 3, 4, 5, 6, 7, 8]",
                "type reference true",
                "composed true",
                "member Do true",
                "instance [String] true",
                "text [65, 55296, 0, 66]",
                "empty \"\"",
                "locals [7, 1, 8]",
                "saved true true",
                "read again true",
            ];
            let logged: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(logged, facts);
        });
    }
}
