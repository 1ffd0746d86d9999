//! Definitions of each kind are read back from metadata, and from its saved form.
//!
//! The profiler defines an item of each kind, in new metadata and in that of a loaded module, and
//! reads it back.

mod assembly;
mod attributes;
mod members;
mod references;
mod saving;
mod services;
#[cfg(test)]
mod tests;
mod types;

use clr_profiler::il::attributes::{
    MemberAccess, MethodAttributes, MethodImplAttributes, TypeAttributes, TypeVisibility,
};
use clr_profiler::il::token::TypeRef;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Writes one fact, prefixed by the metadata in which it was found.
macro_rules! say {
    ($on:expr, $($text:tt)*) => {
        scenario_support::log::line(format_args!("{}: {}", $on, format_args!($($text)*)))
    };
}
use say;

const PUBLIC_STATIC: MethodAttributes = MethodAttributes::STATIC.with_access(MemberAccess::Public);
const IL: MethodImplAttributes = MethodImplAttributes::empty();

/// Defines something of each kind when the module `Metadata` is loaded.
pub(crate) struct EmitsMetadata;

#[profiler(clsid = clsid("EmitsMetadata"))]
impl Profiler for EmitsMetadata {
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
            let dispenser = info.metadata_dispenser()?;
            let program = dispenser.open_scope(std::path::Path::new(&name))?;
            let scope = dispenser.define_scope()?;
            scope.set_module_props("Defined.dll")?;
            assembly::define("new", &scope)?;
            // Not in the module: the runtime refuses assemblies of several files.
            assembly::parts("new", &scope)?;
            // Nor addresses that the image does not have, and fields before those of types.
            members::foreign_fields("new", &scope)?;
            define("new", &scope, &program);
            saving::everywhere(&dispenser, &scope)?;
            define(
                "module",
                &info.module_metadata_for_writing(module)?,
                &program,
            );
            saving::changes(&dispenser, &name)?;
            services::all(&dispenser, &name)?;
        }
        Ok(())
    }
}

/// A topic: definitions that are read back.
type Topic = fn(&str, &MetadataWriter<'_>, &Metadata<'_>) -> Result<()>;

const TOPICS: &[(&str, Topic)] = &[
    ("layout", types::layout),
    ("nesting", types::nesting),
    ("events", types::events),
    ("properties", types::properties),
    ("generics", types::generics),
    ("methods", members::methods),
    ("fields", members::fields),
    ("parameters", members::parameters),
    ("native functions", attributes::native_functions),
    ("marshalling", attributes::marshalling),
    ("custom attributes", attributes::custom),
    ("security", attributes::security),
    ("security attributes", attributes::security_attributes),
    ("imports", references::imports),
    ("translation", references::translation),
    ("parents", references::parents),
    ("own types", references::own_types),
    ("merging", saving::merging),
];

fn define(on: &str, writer: &MetadataWriter<'_>, program: &Metadata<'_>) {
    for (name, topic) in TOPICS {
        if let Err(error) = topic(on, writer, program) {
            say!(on, "{name}: {error}");
        }
    }
}

/// A new type without members, `extends` System.Object of a reference to System.Runtime.
fn class(writer: &MetadataWriter<'_>, name: &str) -> Result<TypeDef> {
    let object = framework_type(writer, "System.Object")?;
    let attributes = TypeAttributes::BEFORE_FIELD_INIT.with_visibility(TypeVisibility::Public);
    writer.define_type_def(name, attributes, Some(object.into()), &[])
}

/// A reference to a type of System.Runtime.
fn framework_type(writer: &MetadataWriter<'_>, name: &str) -> Result<TypeRef> {
    let runtime = writer.define_assembly_ref(&clr_profiler::metadata::AssemblyRefProps {
        name: "System.Runtime".to_owned(),
        ..Default::default()
    })?;
    writer.define_type_ref_by_name(runtime, name)
}
