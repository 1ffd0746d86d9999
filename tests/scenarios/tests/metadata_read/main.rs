//! The metadata of a program that contains each kind of item: the values read agree with the
//! source.

#[cfg(test)]
mod tests;

use clr_profiler::il::signature::{FieldSig, MethodSig, TypeSig};
use clr_profiler::il::token::{
    ExportedType, File, ManifestResource, StandAloneSig, Token, TypeRef, TypeToken,
};
use clr_profiler::metadata::{AnySignature, MetadataEvents, MetadataHandler};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Reads the module `Metadata`, and logs its contents.
pub(crate) struct ReadsMetadata;

/// Writes one fact; an error in place of the value.
macro_rules! fact {
    ($name:literal, $value:expr) => {{
        #[allow(clippy::redundant_closure_call, reason = "where `?` in the value ends")]
        let value: Result<_> = (|| Ok($value))();
        match value {
            Ok(value) => log::line(format_args!(concat!($name, ": {:?}"), value)),
            Err(error) => log::line(format_args!(concat!($name, ": {}"), error)),
        }
    }};
}

#[profiler(clsid = clsid("ReadsMetadata"))]
impl Profiler for ReadsMetadata {
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
        let name = info.module_info(module)?.name;
        if name.ends_with("Metadata.dll") {
            let metadata = info.module_metadata(module)?;
            types(&metadata)?;
            members(&metadata)?;
            semantics(&metadata)?;
            attributes(&metadata)?;
            literals(&metadata)?;
            generics(&metadata)?;
            assembly(&metadata)?;
            tables(&metadata)?;
            services(&metadata)?;
            dispenser(info, &name)?;
        }
        Ok(())
    }
}

fn cart(metadata: &Metadata<'_>) -> Result<TypeDef> {
    metadata.find_type_def_by_name("Shop.Cart`2", None)
}

fn program(metadata: &Metadata<'_>) -> Result<TypeDef> {
    metadata.find_type_def_by_name("Shop.Program", None)
}

/// The full name of a named type of any kind.
fn type_name(metadata: &Metadata<'_>, token: Token) -> Result<String> {
    match TypeToken::try_from(token).map_err(Error::other)? {
        TypeToken::Def(class) => Ok(metadata.type_def_props(class)?.name),
        TypeToken::Ref(class) => Ok(metadata.type_ref_props(class)?.name),
        TypeToken::Spec(spec) => Ok(format!("{:?}", metadata.type_spec(spec)?.type_sig)),
    }
}

fn types(metadata: &Metadata<'_>) -> Result<()> {
    let cart = cart(metadata)?;
    fact!("scope", metadata.scope_props()?.name);
    fact!("module", metadata.module_from_scope()?);
    let all = metadata.type_defs().collect::<Result<Vec<_>>>()?;
    fact!("types", all.len());
    let mut counted = metadata.type_defs();
    // There is more than one batch, of which only a part is read.
    fact!(
        "first type",
        counted.next().transpose()? == all.first().copied()
    );
    fact!("types in all", counted.total()? as usize == all.len());
    counted.reset(3)?;
    fact!(
        "fourth type",
        counted.next().transpose()? == all.get(3).copied()
    );
    counted.reset(1_000_000)?;
    fact!("beyond", counted.next().is_none());
    drop(counted);
    let line = metadata.find_type_def_by_name("Line", Some(cart))?;
    fact!(
        "nested in the cart",
        metadata.nested_class_props(line)? == Some(cart)
    );
    fact!("cart is nested", metadata.nested_class_props(cart)?);
    let base = metadata.type_def_props(cart)?.extends;
    fact!("base", type_name(metadata, base)?);
    let object = TypeRef::try_from(base).map_err(Error::other)?;
    let props = metadata.type_ref_props(object)?;
    fact!(
        "found again",
        metadata.find_type_ref(props.resolution_scope, &props.name)? == object
    );
    fact!(
        "no such reference",
        metadata.find_type_ref(props.resolution_scope, "No.Such")?
    );
    fact!("resolved", metadata.resolve_type_ref(object).is_ok());
    for implementation in metadata.interface_impls(cart) {
        let props = metadata.interface_impl_props(implementation?)?;
        fact!("implements", type_name(metadata, props.interface)?);
    }
    for implementation in metadata.method_impls(cart) {
        let implementation = implementation?;
        let body = metadata.member_props(implementation.body)?.name;
        let declaration = metadata.member_props(implementation.declaration)?.name;
        log::line(format_args!("{body} implements {declaration}"));
    }
    fact!(
        "no such type",
        metadata.find_type_def_by_name("No.Such", None)?
    );
    fact!(
        "truncated name",
        metadata.find_type_def_by_name("Shop\0", None)?
    );
    fact!(
        "bad type",
        metadata
            .type_def_props(TypeDef::from_row(9999).unwrap_or(cart))?
            .name
    );
    Ok(())
}

fn members(metadata: &Metadata<'_>) -> Result<()> {
    let cart = cart(metadata)?;
    for name in ["Limit", "Motto", "Rate", "Mark", "Nothing", "Most", "Count"] {
        let field = metadata.find_field(Some(cart), name, AnySignature)?;
        let props = metadata.field_props(field)?;
        log::line(format_args!(
            "field {}: {:?}, the same {}",
            props.name,
            props.value,
            metadata.member_props(field)?.value == props.value
        ));
    }
    let colour = metadata.find_type_def_by_name("Shop.Colour", None)?;
    let green = metadata.find_field(Some(colour), "Green", AnySignature)?;
    fact!("green", metadata.field_props(green)?.value);
    let limit = FieldSig {
        field_type: TypeSig::I4,
    };
    fact!(
        "Limit is an int",
        metadata.find_field(Some(cart), "Limit", &limit).is_ok()
    );
    fact!(
        "Rate is an int",
        metadata.find_field(Some(cart), "Rate", &limit)?
    );
    let adds = metadata
        .methods_with_name(cart, "Add")?
        .collect::<Result<Vec<_>>>()?;
    fact!("methods Add", adds.len());
    let signature = MethodSig::instance(TypeSig::Void, vec![TypeSig::String, TypeSig::I4]);
    let add = metadata.find_method(Some(cart), "Add", &signature)?;
    fact!(
        "Add by bytes",
        metadata.find_method(Some(cart), "Add", &[0x20, 2, 1, 0x0e, 8])? == add
    );
    fact!(
        "Add by wrong bytes",
        metadata.find_method(Some(cart), "Add", &[0x20, 2, 1, 0x0e])?
    );
    fact!(
        "Add is a member",
        metadata.find_member(Some(cart), "Add", &[0x20, 2, 1, 0x0e, 8])? == add.into()
    );
    for parameter in metadata.params(add) {
        let parameter = metadata.param_props(parameter?)?;
        log::line(format_args!(
            "parameter {} {} {:#x} {:?}",
            parameter.sequence, parameter.name, parameter.attributes, parameter.value
        ));
    }
    fact!("second", metadata.param_for_method_index(add, 2)?.is_some());
    fact!("third", metadata.param_for_method_index(add, 3)?);
    fact!(
        "body",
        metadata.rva(add)?.rva == metadata.method_props(add)?.rva
    );
    fact!("global", metadata.is_global(add)?);
    fact!("fields", metadata.fields(cart).count());
    fact!("members", metadata.members(cart).count());
    fact!("methods", metadata.methods(cart).count());
    fact!(
        "fields Rate",
        metadata.fields_with_name(cart, "Rate")?.count()
    );
    fact!(
        "members Add",
        metadata.members_with_name(cart, "Add")?.count()
    );
    fact!("unresolved", metadata.unresolved_methods().count());
    let mut references = 0;
    for class in metadata.type_refs() {
        for member in metadata.member_refs(class?) {
            let member = member?;
            let props = metadata.member_ref_props(member)?;
            props.signature()?;
            let found =
                metadata.find_member_ref(props.parent, &props.name, &props.signature_blob)?;
            references += usize::from(found == member);
        }
    }
    fact!("references found again", references > 5);
    Ok(())
}

fn semantics(metadata: &Metadata<'_>) -> Result<()> {
    let cart = cart(metadata)?;
    for property in metadata.properties(cart) {
        let property = property?;
        let props = metadata.property_props(property)?;
        let getter = props
            .getter
            .map(|getter| metadata.method_props(getter))
            .transpose()?;
        let semantics = props
            .getter
            .map(|getter| metadata.method_semantics(getter, property))
            .transpose()?;
        log::line(format_args!(
            "property {}: {:?}, getter {:?} as {semantics:?}, setter {}, others {}",
            props.name,
            props.signature()?.params,
            getter.map(|getter| getter.name),
            props.setter.is_some(),
            props.others.len()
        ));
    }
    for event in metadata.events(cart) {
        let event = event?;
        let props = metadata.event_props(event)?;
        let add = props
            .add_on
            .map(|add| metadata.method_props(add))
            .transpose()?;
        let served = match props.add_on {
            Some(add) => metadata
                .method_associations(add)
                .collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        log::line(format_args!(
            "event {}: {}, {:?}, removed {}, fired {}, served {}",
            props.name,
            type_name(metadata, props.event_type)?,
            add.map(|add| add.name),
            props.remove_on.is_some(),
            props.fire.is_some(),
            served == [Token::from(event)]
        ));
    }
    Ok(())
}

fn attributes(metadata: &Metadata<'_>) -> Result<()> {
    let cart = cart(metadata)?;
    let label = metadata.custom_attribute_by_name(cart, "Shop.LabelAttribute")?;
    fact!("label", &label);
    fact!(
        "no label",
        metadata.custom_attribute_by_name(program(metadata)?, "Shop.LabelAttribute")?
    );
    for attribute in metadata.custom_attributes(Some(cart.into()), None) {
        let props = metadata.custom_attribute_props(attribute?)?;
        let same = Some(&props.value) == label.as_ref();
        let constructor = metadata.member_props(props.constructor);
        log::line(format_args!(
            "attribute {} of the cart {}, the same {same}",
            constructor.map_or_else(|error| error.to_string(), |props| props.name),
            props.owner == cart.into()
        ));
    }
    let overlaid = metadata.find_type_def_by_name("Shop.Overlaid", None)?;
    if let Some(layout) = metadata.class_layout(overlaid)? {
        let offsets: Vec<_> = layout.fields.iter().map(|field| field.offset).collect();
        log::line(format_args!(
            "layout {} {offsets:?} {}",
            layout.pack_size, layout.class_size
        ));
    }
    fact!("layout of the cart", metadata.class_layout(cart)?);
    let native = metadata.find_method(Some(program(metadata)?), "ProcessId", AnySignature)?;
    if let Some(map) = metadata.pinvoke_map(native)? {
        let library = map
            .import_dll
            .map(|dll| metadata.module_ref_props(dll))
            .transpose()?;
        log::line(format_args!(
            "P/Invoke {} {library:?} {:#x}",
            map.import_name, map.attributes
        ));
    }
    let main = metadata.find_method(Some(program(metadata)?), "Main", AnySignature)?;
    fact!("P/Invoke of Main", metadata.pinvoke_map(main)?);
    let unused = metadata.param_for_method_index(native, 1)?;
    let unused = unused.ok_or_else(|| Error::other("the parameter has no record"))?;
    fact!("marshalled", metadata.field_marshal(unused)?);
    let field = metadata.find_field(Some(cart), "Count", AnySignature)?;
    fact!("not marshalled", metadata.field_marshal(field)?);
    fact!("permissions", metadata.permission_sets(None, None).count());
    fact!("libraries", metadata.module_refs().count());
    Ok(())
}

fn literals(metadata: &Metadata<'_>) -> Result<()> {
    for string in metadata.user_strings() {
        let string = string?;
        let units = metadata.user_string_utf16(string)?;
        log::line(format_args!(
            "literal {:?}, surrogate {}, valid {}",
            metadata.user_string(string)?,
            units.contains(&0xD800),
            metadata.is_valid_token(string)
        ));
    }
    for token in metadata.signatures() {
        metadata.signature(token?)?;
    }
    fact!("signatures", metadata.signatures().count() > 0);
    let none = StandAloneSig::from_row(9999).unwrap_or(StandAloneSig::NIL);
    fact!("no such signature", metadata.signature(none)?);
    fact!("valid", metadata.is_valid_token(none));
    #[allow(deprecated, reason = "runtimes still have it")]
    let name = metadata.name_from_token(program(metadata)?)?;
    fact!("named", name);
    fact!(
        "convention",
        metadata
            .native_call_conv_from_sig(&[0x00, 0x00, 0x01])
            .is_ok()
    );
    Ok(())
}

fn generics(metadata: &Metadata<'_>) -> Result<()> {
    let cart = cart(metadata)?;
    for parameter in metadata.generic_params(cart) {
        let parameter = parameter?;
        let props = metadata.generic_param_props(parameter)?;
        let mut constraints = Vec::new();
        for constraint in metadata.generic_param_constraints(parameter) {
            let constraint = metadata.generic_param_constraint_props(constraint?)?;
            constraints.push(type_name(metadata, constraint.constraint_type)?);
        }
        log::line(format_args!(
            "parameter {} {} {:#x} {constraints:?}",
            props.number, props.name, props.attributes
        ));
    }
    for method in metadata.method_specs(None) {
        let props = metadata.method_spec_props(method?)?;
        log::line(format_args!(
            "instantiation {:?}",
            props.signature()?.arguments
        ));
    }
    fact!("kind", metadata.pe_kind()?.kind.bits());
    fact!("version", metadata.version_string()?);
    fact!("composed types", metadata.type_specs().count() > 0);
    Ok(())
}

fn assembly(metadata: &Metadata<'_>) -> Result<()> {
    let token = metadata
        .assembly_from_scope()?
        .ok_or_else(|| Error::other("no assembly"))?;
    let props = metadata.assembly_props(token)?;
    log::line(format_args!(
        "assembly {} {:?} key {}",
        props.name,
        props.version,
        props.public_key.len()
    ));
    let mut references = metadata.assembly_refs()?;
    let runtime = references
        .next()
        .ok_or_else(|| Error::other("no references"))??;
    // The remaining ones are not read.
    drop(references);
    let props = metadata.assembly_ref_props(runtime)?;
    log::line(format_args!(
        "refers to {} {} with {} bytes",
        props.name,
        props.version.major,
        props.public_key_or_token.len()
    ));
    fact!("files", metadata.files()?.count());
    fact!("exported", metadata.exported_types()?.count());
    fact!("resources", metadata.manifest_resources()?.count());
    fact!("resource", metadata.find_manifest_resource_by_name("none")?);
    fact!(
        "exported type",
        metadata.find_exported_type_by_name("None", None)?
    );
    let file = File::from_row(1).unwrap_or(File::NIL);
    fact!("file", metadata.file_props(file).is_ok());
    let exported = ExportedType::from_row(1).unwrap_or(ExportedType::NIL);
    fact!("export", metadata.exported_type_props(exported).is_ok());
    let resource = ManifestResource::from_row(1).unwrap_or(ManifestResource::NIL);
    fact!(
        "resource props",
        metadata.manifest_resource_props(resource).is_ok()
    );
    fact!(
        "searched",
        metadata.find_assemblies_by_name(None, None, "Shop").is_ok()
    );
    Ok(())
}

fn tables(metadata: &Metadata<'_>) -> Result<()> {
    const TYPE_DEF: u32 = 2;
    let types = metadata.table_info(TYPE_DEF)?;
    let all = metadata.type_defs().count() as u32 + 1;
    log::line(format_args!(
        "table {} of {} columns, all rows {}, row {}",
        types.name,
        types.columns,
        types.rows == all,
        metadata.row(TYPE_DEF, 1)?.len() == types.row_size as usize
    ));
    let cart = cart(metadata)?;
    let column = metadata.column_info(TYPE_DEF, 1)?;
    let name = metadata.column(TYPE_DEF, 1, cart.row())?;
    log::line(format_args!(
        "column {}: {}",
        column.name,
        metadata.string(name)?
    ));
    fact!("next name", metadata.next_string(name)?.is_some());
    fact!("index", metadata.table_index(cart)?);
    fact!("no table", metadata.table_info(64)?);
    fact!("no row", metadata.row(TYPE_DEF, all + 1)?);
    fact!("row zero", metadata.column(TYPE_DEF, 0, 0)?);
    fact!("no column", metadata.column(TYPE_DEF, 60, 1)?);
    fact!("coded", metadata.coded_token_info(0)?.name);
    let mvid = metadata.column(0, 2, 1)?;
    fact!("mvid", metadata.guid(mvid)? == metadata.scope_props()?.mvid);
    fact!("next guid", metadata.next_guid(mvid)?);
    fact!(
        "blob",
        metadata.blob(1).is_ok() && metadata.next_blob(1)?.is_some()
    );
    fact!("literal", metadata.user_string_blob(1)?.len() % 2);
    fact!("next literal", metadata.next_user_string(1)?.is_some());
    fact!("beyond the heap", metadata.string(0x7fff_ffff).is_err());
    let sizes = metadata.string_heap_size()? > 0
        && metadata.blob_heap_size()? > 0
        && metadata.guid_heap_size()? > 0
        && metadata.user_string_heap_size()? > 0;
    fact!("sizes", sizes);
    fact!("storage of a module", metadata.metadata_storage()?);
    Ok(())
}

struct Silent;

impl MetadataEvents for Silent {}

fn services(metadata: &Metadata<'_>) -> Result<()> {
    fact!(
        "mapping",
        metadata
            .file_mapping()
            .is_ok_and(|mapping| mapping.address != 0)
    );
    let cart = cart(metadata)?;
    fact!("marks of a module", metadata.mark_token(cart)?);
    let handler = MetadataHandler::new(Silent);
    fact!(
        "validated",
        metadata.validator_init(1, &handler).is_ok() && metadata.validate_metadata()?.is_some()
    );
    fact!("untransformed", {
        let class = TypeRef::from_row(1).unwrap_or(TypeRef::NIL);
        metadata.untransformed_type_ref_props(class).is_ok()
    });
    Ok(())
}

fn dispenser(info: &ProfilerInfo, path: &str) -> Result<()> {
    let dispenser = info.metadata_dispenser()?;
    let opened = dispenser.open_scope(std::path::Path::new(path))?;
    fact!("opened", type_name(&opened, cart(&opened)?.into())?);
    let bytes = opened.metadata_storage()?;
    fact!("magic", bytes.get(..4).map(<[u8]>::to_vec));
    let mut streams = Vec::new();
    for index in 0..10 {
        match opened.metadata_stream(index)? {
            Some(stream) => streams.push(stream.name),
            None => break,
        }
    }
    streams.sort();
    fact!("streams", streams);
    let again = dispenser.open_scope_on_memory(&bytes)?;
    drop(bytes);
    fact!("again", type_name(&again, cart(&again)?.into())?);
    fact!(
        "no metadata",
        dispenser
            .open_scope_on_memory(b"nothing of the kind")
            .is_err()
    );
    fact!(
        "no file",
        dispenser
            .open_scope(std::path::Path::new("/no/such.dll"))
            .is_err()
    );
    fact!("unmarked", opened.unmark_all()?);
    let option = clr_profiler::metadata::DispenserOption::CheckDuplicatesFor;
    dispenser.set_option(option, 0x10)?;
    fact!("option", dispenser.option(option)?);
    fact!("directory", dispenser.cor_system_directory()?);
    let search = clr_profiler::metadata::AssemblySearch::default();
    fact!("search", dispenser.find_assembly(&search, "Shop").is_ok());
    fact!(
        "module search",
        dispenser.find_assembly_module(&search, "Shop", "M").is_ok()
    );
    Ok(())
}
