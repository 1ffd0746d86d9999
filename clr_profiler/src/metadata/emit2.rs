//! `IMetaDataEmit2`.

use std::io::Write;
use std::path::Path;

use super::convert::{length, terminated, wide, wide_path};
use super::handle::{MetadataWriter, SealedWriter};
use super::services::OutStream;
use super::signature::AsSignature;
use crate::error::Result;
use crate::native::typed;
use clr_profiler_il::signature::MethodSpecSig;
use clr_profiler_il::token::{GenericParam, MethodSpec, Token, TypeToken};
use clr_profiler_sys as sys;

/// What `IMetaDataEmit2` offers: generics, and changes since the metadata was opened.
///
/// All of it may be called from every callback that is not during a collection.
#[doc(alias = "IMetaDataEmit2")]
pub trait MetadataEmit2: SealedWriter {
    /// Adds an instantiation of a generic method, a `MethodDef` or `MemberRef`.
    ///
    /// Wraps `IMetaDataEmit2::DefineMethodSpec`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A signature that breaks a rule of ECMA-335 II.23.2, which is not handed over; what the metadata
    /// answers.
    #[doc(alias = "DefineMethodSpec")]
    fn define_method_spec(
        &self,
        method: impl Into<Token>,
        signature: impl AsSignature<MethodSpecSig>,
    ) -> Result<MethodSpec> {
        const CALL: &str = "IMetaDataEmit2::DefineMethodSpec";
        let signature = signature.checked(CALL)?;
        let mut token = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit2::DefineMethodSpec(
                method.into().raw(),
                signature.as_ptr(),
                length(CALL, &signature)?,
                &mut token
            )
        )?;
        typed(CALL, token)
    }

    /// How many bytes the changes since the metadata was opened will take. `size` is `CorSaveSize`: 0 for the exact number, 1 for a
    /// quick guess that is not too small.
    ///
    /// Only metadata for edit and continue has changes to be saved: set
    /// [`SetUpdate`](crate::DispenserOption::SetUpdate) before it is opened.
    ///
    /// Wraps `IMetaDataEmit2::GetDeltaSaveSize`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "GetDeltaSaveSize")]
    fn delta_save_size(&self, size: u32) -> Result<u32> {
        let mut bytes = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit2::GetDeltaSaveSize(size, &mut bytes)
        )?;
        Ok(bytes)
    }

    /// Writes the changes since the metadata was opened to a file.
    ///
    /// Wraps `IMetaDataEmit2::SaveDelta`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A path that is no Unicode; what the metadata and the file system answer.
    #[doc(alias = "SaveDelta")]
    fn save_delta(&self, file: &Path) -> Result<()> {
        const CALL: &str = "IMetaDataEmit2::SaveDelta";
        let file = wide_path(CALL, file)?;
        native_call!(self.emit(), IMetaDataEmit2::SaveDelta(file.as_ptr(), 0)).map(drop)
    }

    /// Writes the changes since the metadata was opened to `out`, after the metadata has given all of it.
    ///
    /// Wraps `IMetaDataEmit2::SaveDeltaToStream`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers, and what `out` does.
    #[doc(alias = "SaveDeltaToStream")]
    fn save_delta_to_stream(&self, out: &mut dyn Write) -> Result<()> {
        let stream = OutStream::new();
        native_call!(
            self.emit(),
            IMetaDataEmit2::SaveDeltaToStream(stream.as_raw(), 0)
        )?;
        Ok(out.write_all(&stream.take())?)
    }

    /// The changes since the metadata was opened, as a file of metadata.
    ///
    /// Wraps `IMetaDataEmit2::SaveDeltaToMemory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "SaveDeltaToMemory")]
    fn save_delta_to_memory(&self) -> Result<Vec<u8>> {
        let size = self.delta_save_size(sys::cssAccurate)?;
        let mut bytes = vec![0u8; size as usize];
        native_call!(
            self.emit(),
            IMetaDataEmit2::SaveDeltaToMemory(bytes.as_mut_ptr().cast(), size)
        )?;
        Ok(bytes)
    }

    /// Adds a generic parameter to a type or method: its place from 0, its attributes
    /// (`CorGenericParamAttr`, ECMA-335 II.23.1.7), and the types that an argument must derive from.
    ///
    /// Wraps `IMetaDataEmit2::DefineGenericParam`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "DefineGenericParam")]
    fn define_generic_param(
        &self,
        owner: impl Into<Token>,
        number: u32,
        attributes: u32,
        name: &str,
        constraints: &[TypeToken],
    ) -> Result<GenericParam> {
        const CALL: &str = "IMetaDataEmit2::DefineGenericParam";
        let name = wide(CALL, name)?;
        let constraints = terminated(constraints);
        let mut parameter = 0;
        native_call!(
            self.emit(),
            IMetaDataEmit2::DefineGenericParam(
                owner.into().raw(),
                number,
                attributes,
                name.as_ptr(),
                0,
                constraints.as_ptr(),
                &mut parameter
            )
        )?;
        typed(CALL, parameter)
    }

    /// Changes attributes, name and constraints of a generic parameter. Name and constraints that are
    /// `None` stay as they are.
    ///
    /// Wraps `IMetaDataEmit2::SetGenericParamProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// A name with a zero in it; what the metadata answers.
    #[doc(alias = "SetGenericParamProps")]
    fn set_generic_param_props(
        &self,
        parameter: GenericParam,
        attributes: u32,
        name: Option<&str>,
        constraints: Option<&[TypeToken]>,
    ) -> Result<()> {
        const CALL: &str = "IMetaDataEmit2::SetGenericParamProps";
        let name = name.map(|name| wide(CALL, name)).transpose()?;
        let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let constraints = constraints.map(terminated);
        let constraints = constraints
            .as_ref()
            .map_or(std::ptr::null(), |list| list.as_ptr());
        native_call!(
            self.emit(),
            IMetaDataEmit2::SetGenericParamProps(parameter.raw(), attributes, name, 0, constraints)
        )
        .map(drop)
    }

    /// Forgets the log of changes, so that the next delta begins here.
    ///
    /// Wraps `IMetaDataEmit2::ResetENCLog`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers where it is not for edit and continue.
    #[doc(alias = "ResetENCLog")]
    fn reset_enc_log(&self) -> Result<()> {
        native_call!(self.emit(), IMetaDataEmit2::ResetENCLog()).map(drop)
    }
}

impl MetadataEmit2 for MetadataWriter<'_> {}
