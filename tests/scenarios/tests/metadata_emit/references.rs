//! References to definitions in other metadata.

use clr_profiler::il::signature::{FieldSig, MemberRefSig, TypeSig};
use clr_profiler::il::token::{AssemblyRef, Token, TypeRef};
use clr_profiler::metadata::AnySignature;
use clr_profiler::prelude::*;

use super::{class, framework_type, say};

/// Name of a referenced type and of its assembly.
fn full_name(writer: &MetadataWriter<'_>, class: TypeRef) -> Result<String> {
    let props = writer.type_ref_props(class)?;
    Ok(match AssemblyRef::try_from(props.resolution_scope) {
        Ok(assembly) => format!(
            "{}, {}",
            props.name,
            writer.assembly_ref_props(assembly)?.name
        ),
        Err(_) => props.name,
    })
}

pub(super) fn imports(on: &str, writer: &MetadataWriter<'_>, other: &Metadata<'_>) -> Result<()> {
    let cart = other.find_type_def_by_name("Shop.Cart`2", None)?;
    let reference = writer.define_import_type(other, &[], cart)?;
    say!(on, "imported type: {}", full_name(writer, reference)?);
    let field = other.find_field(Some(cart), "Count", AnySignature)?;
    let imported = writer.define_import_member(other, &[], field, reference)?;
    let props = writer.member_ref_props(imported)?;
    say!(
        on,
        "imported field: {} {} {}",
        props.name,
        props.parent == reference.into(),
        matches!(props.signature()?, MemberRefSig::Field(_))
    );
    let program = other.find_type_def_by_name("Shop.Program", None)?;
    let process_id = other.find_method(Some(program), "ProcessId", AnySignature)?;
    let program = writer.define_import_type(other, &[], program)?;
    let imported = writer.define_import_member(other, &[], process_id, program)?;
    let props = writer.member_ref_props(imported)?;
    say!(
        on,
        "imported method: {} {} {}",
        props.name,
        props.parent == program.into(),
        props.signature_blob == other.method_props(process_id)?.signature_blob
    );
    Ok(())
}

pub(super) fn translation(
    on: &str,
    writer: &MetadataWriter<'_>,
    other: &Metadata<'_>,
) -> Result<()> {
    let colour = other.find_type_def_by_name("Shop.Colour", None)?;
    let signature = FieldSig {
        field_type: TypeSig::ValueType(colour.into()),
    };
    let translated = writer.translate_sig_with_scope(other, &[], &signature)?;
    let name = match FieldSig::parse(&translated)
        .map_err(Error::other)?
        .field_type
    {
        TypeSig::ValueType(class) => match TypeRef::try_from(Token::from(class)) {
            Ok(class) => full_name(writer, class)?,
            Err(error) => error.to_string(),
        },
        another => format!("{another:?}"),
    };
    say!(on, "translated: {name}");
    Ok(())
}

pub(super) fn parents(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    let first = framework_type(writer, "System.String")?;
    let second = framework_type(writer, "System.IntPtr")?;
    let signature = FieldSig {
        field_type: TypeSig::String,
    };
    let member = writer.define_member_ref(first, "Moved", &MemberRefSig::Field(signature))?;
    writer.set_parent(member, second)?;
    let props = writer.member_ref_props(member)?;
    let under = |class: TypeRef| writer.member_refs(class).collect::<Result<Vec<_>>>();
    say!(
        on,
        "parent: {} {}, members {} {}",
        props.name,
        props.parent == second.into(),
        under(first)?.contains(&member),
        under(second)?.contains(&member)
    );
    Ok(())
}

pub(super) fn own_types(on: &str, writer: &MetadataWriter<'_>, _: &Metadata<'_>) -> Result<()> {
    // The runtime searches all metadata that is open: only one type has this name.
    let name = format!("Emitted.OwnOf_{on}");
    let class = class(writer, &name)?;
    let module = writer.module_from_scope()?;
    let reference = writer.define_type_ref_by_name(module, &name)?;
    say!(
        on,
        "own: {}",
        writer.type_ref_props(reference)?.resolution_scope == module.into()
    );
    let (_, resolved) = writer.resolve_type_ref(reference)?;
    say!(on, "own resolved: {}", resolved == class);
    Ok(())
}
