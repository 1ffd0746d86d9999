//! The manifest: the assembly, its files, exported types and resources.

use clr_profiler::il::attributes::{
    AssemblyFlags, AssemblyHashAlgorithm, FileAttributes, ManifestResourceAttributes,
    ResourceVisibility, TypeAttributes, TypeVisibility,
};
use clr_profiler::metadata::{AssemblyProps, AssemblyRefProps, AssemblyVersion};
use clr_profiler::prelude::*;

use super::say;

pub(super) fn define(on: &str, writer: &MetadataWriter<'_>) -> Result<()> {
    let mut new = AssemblyProps {
        name: "Defined".to_owned(),
        version: AssemblyVersion {
            major: 1,
            minor: 2,
            build: 3,
            revision: 4,
            culture: String::new(),
        },
        public_key: Vec::new(),
        hash_algorithm: AssemblyHashAlgorithm::Sha1,
        flags: AssemblyFlags::empty(),
    };
    let assembly = writer.define_assembly(&new)?;
    let show = |what: &str| -> Result<()> {
        let props = writer.assembly_props(assembly)?;
        say!(
            on,
            "assembly {what}: {} {}.{} {:?} {:#x} {:?}",
            props.name,
            props.version.major,
            props.version.revision,
            props.version.culture,
            props.hash_algorithm.number(),
            props.public_key
        );
        Ok(())
    };
    show("defined")?;
    new.name = "Changed".to_owned();
    new.version.culture = "de".to_owned();
    new.version.revision = 9;
    new.public_key = vec![7, 8, 9];
    writer.set_assembly_props(assembly, &new)?;
    show("changed")?;
    say!(
        on,
        "assembly found: {}",
        writer.assembly_from_scope()? == Some(assembly)
    );
    Ok(())
}

pub(super) fn parts(on: &str, writer: &MetadataWriter<'_>) -> Result<()> {
    let mut new = AssemblyRefProps {
        name: "Some.Other".to_owned(),
        hash: vec![1, 2],
        ..AssemblyRefProps::default()
    };
    let reference = writer.define_assembly_ref(&new)?;
    new.name = "Yet.Another".to_owned();
    new.version.build = 5;
    new.hash = vec![3];
    new.public_key_or_token = vec![1, 2, 3, 4, 5, 6, 7, 8];
    writer.set_assembly_ref_props(reference, &new)?;
    let props = writer.assembly_ref_props(reference)?;
    say!(
        on,
        "reference: {} {} {:?} {:?}",
        props.name,
        props.version.build,
        props.hash,
        props.public_key_or_token
    );

    let file = writer.define_file("part.netmodule", &[1, 2, 3], FileAttributes::empty())?;
    let props = writer.file_props(file)?;
    say!(
        on,
        "file: {} {:?} {}",
        props.name,
        props.hash,
        props.attributes.bits()
    );
    writer.set_file_props(file, &[4], FileAttributes::CONTAINS_NO_META_DATA)?;
    let props = writer.file_props(file)?;
    say!(
        on,
        "file changed: {} {:?} {}",
        props.name,
        props.hash,
        props.attributes.bits()
    );
    let files: Vec<_> = writer.files()?.collect::<Result<_>>()?;
    say!(on, "files: {}", files.contains(&file));

    let there = TypeDef::from_row(7).ok_or_else(|| Error::other("no such row"))?;
    let public = TypeAttributes::empty().with_visibility(TypeVisibility::Public);
    let exported = writer.define_exported_type("Elsewhere.Type", file, Some(there), public)?;
    let props = writer.exported_type_props(exported)?;
    say!(
        on,
        "exported: {} {} {} {:#x}",
        props.name,
        props.implementation == file.into(),
        props.type_def == Some(there),
        props.attributes
    );
    writer.set_exported_type_props(exported, reference, None, TypeAttributes::FORWARDER)?;
    let props = writer.exported_type_props(exported)?;
    say!(
        on,
        "exported changed: {} {} {:#x}, found {}",
        props.name,
        props.implementation == reference.into(),
        props.attributes,
        writer.find_exported_type_by_name("Elsewhere.Type", None)? == exported
    );

    let with = |visibility| ManifestResourceAttributes::empty().with_visibility(visibility);
    let public = with(ResourceVisibility::Public);
    let resource = writer.define_manifest_resource("Some.Texts", None, 16, public)?;
    let props = writer.manifest_resource_props(resource)?;
    say!(
        on,
        "resource: {} {} {}",
        props.name,
        props.offset,
        props.attributes.bits()
    );
    let private = with(ResourceVisibility::Private);
    writer.set_manifest_resource_props(resource, Some(file.into()), 0, private)?;
    let props = writer.manifest_resource_props(resource)?;
    say!(
        on,
        "resource changed: {} {} {} {}, found {}",
        props.name,
        props.implementation == file.into(),
        props.offset,
        props.attributes.bits(),
        writer.find_manifest_resource_by_name("Some.Texts")? == resource
    );
    Ok(())
}
