//! `IMetaDataEmit2`.

use std::io::Write;
use std::path::Path;

use super::handle::{MetadataWriter, SealedWriter};
use super::signature::AsSignature;
use super::stream::{to_memory, to_stream};
use crate::error::Result;
use crate::metadata::emit::SaveSize;
use crate::metadata::signature::checked;
use crate::native::any_token;
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::signature::MethodSpecSig;
use clr_profiler_il::token::{GenericParam, MethodSpec, Token, TypeToken};

table! { ($) __metadata_emit2:
    MetadataEmit2 = IMetaDataEmit2 from emit;

    /// Adds an instantiation of a generic method, a `MethodDef` or `MemberRef`.
    fn define_method_spec(
        method: impl Into<Token> as any_token,
        signature: impl AsSignature<MethodSpecSig> as checked
    ) -> MethodSpec = DefineMethodSpec(method, signature.as_ptr(), signature.len(), @token)
        fails SIGNATURE;

    /// The size of the changes since the metadata was opened, in bytes.
    ///
    /// Only metadata for edit and continue can save changes: set
    /// [`SetUpdate`](crate::metadata::DispenserOption::SetUpdate) before opening it.
    fn delta_save_size(size: SaveSize) -> u32 = GetDeltaSaveSize(size, @bytes);

    /// Writes the changes since the metadata was opened to a file.
    fn save_delta(file: &Path) -> () = SaveDelta(file.as_ptr(), 0)
        fails "The path is not Unicode; the error of the native call or of the file system.";

    /// Adds a generic parameter to a type or method, with its position from 0, its attributes, and the types
    /// that an argument must derive from.
    fn define_generic_param(
        owner: impl Into<Token> as any_token, number: u32,
        attributes: GenericParamAttributes, name: &str, constraints: &[TypeToken]
    ) -> GenericParam
        = DefineGenericParam(owner, number, attributes, name.as_ptr(), 0, constraints.as_ptr(),
            @parameter) fails NAME;

    /// Clears the log of changes, so that the next delta begins here.
    fn reset_enc_log() -> () = ResetENCLog()
        fails "The error of the native call if the metadata is not for edit and continue.";

    /// Changes the attributes, name and constraints of a generic parameter. `None` leaves the
    /// name or the constraints unchanged.
    fn set_generic_param_props(
        parameter: GenericParam, attributes: GenericParamAttributes, name: Option<&str>,
        constraints: Option<&[TypeToken]>
    ) -> () = SetGenericParamProps(parameter, attributes, name.as_ptr(), 0, constraints.as_ptr())
        fails NAME;
}

/// The calls of `IMetaDataEmit2`: generics, and changes since the metadata was opened.
///
/// All calls are allowed in every callback that is not during a collection.
#[doc(alias = "IMetaDataEmit2")]
pub trait MetadataEmit2: SealedWriter {
    __metadata_emit2! { calls }

    /// Writes the changes since the metadata was opened to `out`, once the metadata has returned all of them.
    ///
    /// Wraps `IMetaDataEmit2::SaveDeltaToStream`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call or of `out`.
    #[doc(alias = "SaveDeltaToStream")]
    fn save_delta_to_stream(&self, out: &mut dyn Write) -> Result<()> {
        to_stream(out, |stream| {
            let emit = self
                .writer()
                .emit
                .in_use("IMetaDataEmit2::SaveDeltaToStream")?;
            native_call!(&emit, IMetaDataEmit2::SaveDeltaToStream(stream, 0))
        })
    }

    /// The changes since the metadata was opened, as a file of metadata.
    ///
    /// Wraps `IMetaDataEmit2::SaveDeltaToMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    #[doc(alias = "SaveDeltaToMemory")]
    fn save_delta_to_memory(&self) -> Result<Vec<u8>> {
        to_memory(self.delta_save_size(SaveSize::Accurate)?, |start, size| {
            let emit = self
                .writer()
                .emit
                .in_use("IMetaDataEmit2::SaveDeltaToMemory")?;
            native_call!(&emit, IMetaDataEmit2::SaveDeltaToMemory(start, size))
        })
    }
}

impl MetadataEmit2 for MetadataWriter<'_> {}
