//! The interfaces that write metadata.

use std::io::Write;

use clr_profiler::il::signature::MethodSig;
use clr_profiler::prelude::*;

use super::metadata::METHOD_SIG;
use super::{class, method, rows};
use crate::implemented::handler;

// Not for a loaded module.
rows! { STORED: StoredWriter;
    "IMetaDataEmit::DeleteToken" => |it| it.delete_token(method());
}

rows! { ROWS: Writer;
    "IMetaDataEmit::SaveToStream" => |it| saved(|out| it.save_to_stream(out));
    "IMetaDataEmit::SaveToMemory" => |it| it.save_to_memory();
    "IMetaDataEmit::SetHandler" => |it| it.set_handler(Some(&handler()));
    "IMetaDataEmit::ApplyEditAndContinue" => |it| it.apply_edit_and_continue(it);
    "IMetaDataEmit::Merge" => |it| it.merge(it, Some(&handler()), Some(&handler()));
    "IMetaDataEmit::DefineImportType" => |it| it.define_import_type(it, &[], class());
    "IMetaDataEmit::DefineImportMember" => |it| it.define_import_member(it, &[], method(), class());
    "IMetaDataEmit::TranslateSigWithScope" => |it| it.translate_sig_with_scope::<MethodSig>(it, &[], METHOD_SIG);
    "IMetaDataEmit::DefineSecurityAttributeSet" hides ["pulErrorAttr"] => |it| it.define_security_attribute_set(class(), &[]);
    "IMetaDataEmit2::SaveDeltaToStream" => |it| saved(|out| it.save_delta_to_stream(out));
    "IMetaDataEmit2::SaveDeltaToMemory" => |it| it.save_delta_to_memory();
}

fn saved(save: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    save(&mut bytes)?;
    Ok(bytes)
}
