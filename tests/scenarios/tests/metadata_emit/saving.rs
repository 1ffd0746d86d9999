//! Saving to all targets, edit and continue, and merging.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler::il::signature::{MethodSig, TypeSig};
use clr_profiler::il::token::Token;
use clr_profiler::metadata::SaveSize;
use clr_profiler::metadata::{
    AnySignature, Dispenser, DispenserOption, MetadataEvents, MetadataHandler,
};
use clr_profiler::prelude::*;

use super::{IL, PUBLIC_STATIC, class, say};

/// Types, members and attributes of metadata, by name.
fn summary(metadata: &Metadata<'_>) -> Result<Vec<String>> {
    let mut lines = vec![metadata.scope_props()?.name];
    for class in metadata.type_defs() {
        let class = class?;
        let props = metadata.type_def_props(class)?;
        lines.push(format!("{} {:#x}", props.name, props.attributes));
        for method in metadata.methods(class) {
            let props = metadata.method_props(method?)?;
            lines.push(format!(
                "{} {:?} {:#x}",
                props.name,
                props.signature()?,
                props.rva
            ));
        }
        for field in metadata.fields(class) {
            let props = metadata.field_props(field?)?;
            lines.push(format!("{} {:?}", props.name, props.value));
        }
        for attribute in metadata.custom_attributes(Some(class.into()), None) {
            lines.push(format!(
                "{:?}",
                metadata.custom_attribute_props(attribute?)?.value
            ));
        }
        lines.push(format!("{}", metadata.properties(class).count()));
        lines.push(format!("{}", metadata.events(class).count()));
    }
    lines.sort();
    Ok(lines)
}

/// Counts its calls.
#[derive(Clone, Default)]
struct Told(Arc<[AtomicU32; 2]>);

impl MetadataEvents for Told {
    fn token_mapped(&self, _: Token, _: Token) {
        self.0[0].fetch_add(1, Ordering::Relaxed);
    }

    fn error(&self, _: Hresult, _: Token) {
        self.0[1].fetch_add(1, Ordering::Relaxed);
    }
}

/// Values of `SetUpdate`: `CorSetENC`.
const EDIT_AND_CONTINUE: u32 = 1;
const FULL: u32 = 2;
const INCREMENTAL: u32 = 4;

/// A file of this process only.
struct File(std::path::PathBuf);

impl File {
    fn new(kind: &str) -> Self {
        let name = format!("clr_profiler-{}-{kind}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn everywhere(dispenser: &Dispenser, writer: &MetadataWriter<'_>) -> Result<()> {
    let on = "saved";
    let told = Told::default();
    writer.set_handler(Some(&MetadataHandler::new(told.clone())))?;
    let defined = summary(writer)?;
    say!(on, "some: {}", defined.len() > 60);
    let memory = writer.save_to_memory()?;
    say!(on, "moved: {}", told.0[0].load(Ordering::Relaxed) > 0);
    writer.set_handler(None)?;
    let mut streamed = Vec::new();
    writer.save_to_stream(&mut streamed)?;
    let file = File::new("saved");
    writer.save(&file.0)?;
    say!(
        on,
        "sizes: {} {} {}",
        memory.len() == writer.save_size(SaveSize::Accurate)? as usize,
        memory.len() <= writer.save_size(SaveSize::Quick)? as usize,
        streamed == memory && std::fs::read(&file.0)? == memory
    );
    let again = dispenser.open_scope_on_memory(&memory)?;
    say!(on, "from memory: {}", summary(&again)? == defined);
    say!(on, "storage: {}", again.metadata_storage()? == memory);
    let again = dispenser.open_scope_on_memory(&streamed)?;
    say!(on, "from a stream: {}", summary(&again)? == defined);
    let again = dispenser.open_scope(&file.0)?;
    say!(on, "from a file: {}", summary(&again)? == defined);
    let again = dispenser.open_scope_for_writing(&file.0)?;
    class(&again, "Added.Later")?;
    say!(
        on,
        "to be written: {}",
        summary(&again)?.len() == defined.len() + 3
    );
    Ok(())
}

/// Changes of a file that are saved separately, and applied to another copy.
pub(super) fn changes(dispenser: &Dispenser, name: &str) -> Result<()> {
    let on = "changes";
    dispenser.set_option(DispenserOption::SetUpdate, EDIT_AND_CONTINUE)?;
    let edited = dispenser.open_scope_for_writing(Path::new(name))?;
    if let Err(error) = delta(on, dispenser, &edited, name) {
        say!(on, "failed: {error}");
    }
    dispenser.set_option(DispenserOption::SetUpdate, INCREMENTAL)?;
    let incremental = dispenser.define_scope()?;
    if let Err(error) = delete(on, &incremental) {
        say!(on, "deletion failed: {error}");
    }
    dispenser.set_option(DispenserOption::SetUpdate, FULL)
}

fn delta(on: &str, dispenser: &Dispenser, edited: &MetadataWriter<'_>, name: &str) -> Result<()> {
    edited.reset_enc_log()?;
    let before = edited.delta_save_size(SaveSize::Accurate)?;
    class(edited, "Added.Thing")?;
    let size = edited.delta_save_size(SaveSize::Accurate)?;
    say!(on, "grown: {}", size > before);
    let memory = edited.save_delta_to_memory()?;
    let mut streamed = Vec::new();
    edited.save_delta_to_stream(&mut streamed)?;
    let file = File::new("changes");
    edited.save_delta(&file.0)?;
    let written = std::fs::read(&file.0)?;
    // Each has a new identifier.
    say!(
        on,
        "saved: {} {} {}",
        memory.len() == size as usize,
        streamed.len() == memory.len(),
        written.len() == memory.len()
    );
    for bytes in [&memory, &streamed, &written] {
        let changes = dispenser.open_scope_on_memory(bytes)?;
        let added = changes.find_type_def_by_name("Added.Thing", None);
        say!(on, "has the additions: {}", added.is_ok());
        let copy = dispenser.open_scope_for_writing(Path::new(name))?;
        copy.apply_edit_and_continue(&changes)?;
    }
    say!(on, "applied");
    Ok(())
}

fn delete(on: &str, edited: &MetadataWriter<'_>) -> Result<()> {
    let class = class(edited, "Emitted.Forgets")?;
    let signature = MethodSig::new(TypeSig::Void, Vec::new());
    let method =
        edited.define_method(Some(class), "Forgotten", PUBLIC_STATIC, &signature, 0, IL)?;
    let kept = edited.define_method(Some(class), "Kept", PUBLIC_STATIC, &signature, 0, IL)?;
    edited.delete_token(method)?;
    let left: Vec<_> = edited.methods(class).collect::<Result<_>>()?;
    say!(
        on,
        "deleted: {} {} {}",
        edited.method_props(method)?.name,
        edited
            .find_method(Some(class), "Forgotten", AnySignature)
            .is_err(),
        left == [kept]
    );
    Ok(())
}

pub(super) fn merging(on: &str, writer: &MetadataWriter<'_>, other: &Metadata<'_>) -> Result<()> {
    let handler = MetadataHandler::new(Told::default());
    match writer.merge(other, Some(&handler), Some(&handler)) {
        Ok(()) => say!(on, "merge: taken"),
        Err(error) => say!(on, "merge: {error}"),
    }
    match writer.merge_end() {
        Ok(()) => say!(on, "merged: taken"),
        Err(error) => say!(on, "merged: {error}"),
    }
    Ok(())
}
