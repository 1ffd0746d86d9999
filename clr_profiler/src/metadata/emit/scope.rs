//! `IMetaDataEmit`: the metadata as a whole: saving, merging, handlers.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::metadata::handle::{Metadata, MetadataWriter, SealedWriter};
use crate::metadata::rare::MetadataHandler;
use crate::metadata::stream::{to_memory, to_stream};
use crate::native::any_token;
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;

table! { ($) __metadata_emit_scope:
    MetadataEmitScope = IMetaDataEmit from emit;

    /// Changes the name of the module.
    fn set_module_props(name: &str) -> () = SetModuleProps(name.as_ptr())
        fails "A name with a zero in it; what the metadata answers.";

    /// How many bytes the metadata will take. `size` is `CorSaveSize`: 0 for the exact number, 1 for a
    /// quick guess that is not too small.
    fn save_size(size: u32) -> u32 = GetSaveSize(size, @bytes);

    /// Writes the metadata to a file.
    fn save(file: &Path) -> () = Save(file.as_ptr(), 0)
        fails "A path that is no Unicode; what the metadata and the file system answer.";

    /// Applies the changes of another scope to this one.
    fn apply_edit_and_continue(changes: &Metadata<'_>) -> ()
        = ApplyEditAndContinue(changes.as_raw())
        fails "What the metadata answers; .NET (Core) does this only with metadata of edit and \
               continue.";

    /// Merges the scopes that [`merge`](Self::merge) remembered.
    ///
    /// Only .NET Framework and tools of its time merge; .NET (Core) refuses.
    fn merge_end() -> () = MergeEnd()
        fails "`E_NOTIMPL` on .NET (Core).";

    /// Tells `handler` of tokens that move and of errors, from now on; `None` tells nobody.
    fn set_handler(handler: Option<&MetadataHandler>) -> () = SetHandler(handler);

    /// Remembers another scope to be merged into this one by [`merge_end`](Self::merge_end).
    ///
    /// Only .NET Framework and tools of its time merge; .NET (Core) refuses.
    fn merge(
        scope: &Metadata<'_>, map: Option<&MetadataHandler>, handler: Option<&MetadataHandler>
    ) -> () = Merge(scope.as_raw(), map, handler)
        fails "`E_NOTIMPL` on .NET (Core).";

    /// Marks an item as deleted: it gets a name that nobody looks for.
    ///
    /// Only for types, methods, fields, properties, events, custom attributes and the like of metadata
    /// for edit and continue, which a [`Dispenser`](crate::Dispenser) has opened without
    /// [`ThreadSafety`](crate::DispenserOption::ThreadSafety): where metadata locks itself, the native
    /// call waits for itself.
    fn delete_token(item: impl Into<Token> as any_token) -> () = DeleteToken(item)
        given _unlocked = unlocked()
        fails "`META_E_BAD_INPUT_PARAMETER` or the like where items cannot be deleted.";
}

/// The part of [`MetadataEmit`](crate::MetadataEmit) about the metadata as a whole: saving, merging, handlers.
pub trait MetadataEmitScope: SealedWriter {
    __metadata_emit_scope! { calls }

    /// Writes the metadata to `out`, after the metadata has given all of it.
    ///
    /// Wraps `IMetaDataEmit::SaveToStream`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, and what `out` does.
    #[doc(alias = "SaveToStream")]
    fn save_to_stream(&self, out: &mut dyn Write) -> Result<()> {
        to_stream(out, |stream| {
            native_call!(self.emit(), IMetaDataEmit::SaveToStream(stream, 0))
        })
    }

    /// The metadata, as a file of metadata.
    ///
    /// Wraps `IMetaDataEmit::SaveToMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SaveToMemory")]
    fn save_to_memory(&self) -> Result<Vec<u8>> {
        to_memory(self.save_size(sys::cssAccurate)?, |start, size| {
            native_call!(self.emit(), IMetaDataEmit::SaveToMemory(start, size))
        })
    }
}

impl MetadataEmitScope for MetadataWriter<'_> {}

/// Refuses metadata that locks itself.
fn unlocked(writer: &(impl SealedWriter + ?Sized), call: &'static str) -> Result<()> {
    if !writer.emit_locks_itself() {
        return Ok(());
    }
    Err(Error::rule_with_code(
        call,
        "items of a loaded module cannot be deleted, nor those of metadata that locks itself: open \
         the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
        sys::E_NOTIMPL,
    ))
}
