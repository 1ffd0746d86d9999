//! `IMetaDataFilter`, `IMetaDataValidate`, `IMetaDataInfo` and `IMetaDataWinMDImport`: small
//! interfaces that some metadata has beside the others.

use super::MetadataHandler;
use crate::error::{Error, Result};
use crate::metadata::handle::{Metadata, Sealed};
use crate::metadata::import::TypeRefProps;
use crate::native::cast;
use crate::native::read_text;
use clr_profiler_il::token::{Token, TypeRef};
use clr_profiler_sys as sys;

/// The interface to the marks, where it can be used.
///
/// `MarkToken` takes the lock of the metadata and then asks what takes it again, so that it does not
/// return where there is one: in loaded modules, and where `ThreadSafety` is on.
fn filter(metadata: &(impl Sealed + ?Sized), call: &'static str) -> Result<sys::IMetaDataFilter> {
    if !metadata.locks_itself() {
        cast(metadata.import(), call)
    } else {
        Err(Error::rule_with_code(
            call,
            "items of a loaded module cannot be marked, nor those of metadata that locks itself: \
             open the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
            sys::E_NOTIMPL,
        ))
    }
}

/// What `IMetaDataFilter` offers: marks on the items that count.
///
/// Only for metadata that a [`Dispenser`](crate::Dispenser) has opened without
/// [`ThreadSafety`](crate::DispenserOption::ThreadSafety), and where the runtime has the interface.
/// .NET Core 3.1 and .NET 8, 9 and 10 were seen to count all types as marked, whatever was done.
#[doc(alias = "IMetaDataFilter")]
pub trait MetadataFilter: Sealed {
    /// Takes all marks away.
    ///
    /// Wraps `IMetaDataFilter::UnmarkAll`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "UnmarkAll")]
    fn unmark_all(&self) -> Result<()> {
        let filter: sys::IMetaDataFilter = filter(self, "IMetaDataFilter::UnmarkAll")?;
        native_call!(&filter, IMetaDataFilter::UnmarkAll()).map(drop)
    }

    /// Marks an item, and what it needs.
    ///
    /// Wraps `IMetaDataFilter::MarkToken`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "MarkToken")]
    fn mark_token(&self, token: impl Into<Token>) -> Result<()> {
        let filter: sys::IMetaDataFilter = filter(self, "IMetaDataFilter::MarkToken")?;
        native_call!(&filter, IMetaDataFilter::MarkToken(token.into().raw())).map(drop)
    }

    /// Whether an item is marked.
    ///
    /// Wraps `IMetaDataFilter::IsTokenMarked`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "IsTokenMarked")]
    fn is_token_marked(&self, token: impl Into<Token>) -> Result<bool> {
        let filter: sys::IMetaDataFilter = filter(self, "IMetaDataFilter::IsTokenMarked")?;
        let mut marked = sys::BOOL(0);
        native_call!(
            &filter,
            IMetaDataFilter::IsTokenMarked(token.into().raw(), &mut marked)
        )?;
        Ok(marked.as_bool())
    }
}

impl MetadataFilter for Metadata<'_> {}

/// What `IMetaDataValidate` offers: a check against the rules of the format.
///
/// .NET Core 3.1 and .NET 8, 9 and 10 have it for no metadata: the calls fail there and say so.
#[doc(alias = "IMetaDataValidate")]
pub trait MetadataValidate: Sealed {
    /// Says what kind of module it is (`CorValidatorModuleType`: 1 for an image) and who is told of
    /// errors. To be called before [`validate_metadata`](Self::validate_metadata).
    ///
    /// Wraps `IMetaDataValidate::ValidatorInit`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the metadata answers.
    #[doc(alias = "ValidatorInit")]
    fn validator_init(&self, module_type: u32, handler: &MetadataHandler) -> Result<()> {
        let validate: sys::IMetaDataValidate =
            cast(self.import(), "IMetaDataValidate::ValidatorInit")?;
        native_call!(
            &validate,
            IMetaDataValidate::ValidatorInit(module_type, handler.as_raw())
        )
        .map(drop)
    }

    /// Checks everything; the handler is told what is wrong. Whether something was: `false`.
    ///
    /// Wraps `IMetaDataValidate::ValidateMetaData`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `VLDTR_E_...` codes and others that the metadata answers.
    #[doc(alias = "ValidateMetaData")]
    fn validate_metadata(&self) -> Result<bool> {
        let validate: sys::IMetaDataValidate =
            cast(self.import(), "IMetaDataValidate::ValidateMetaData")?;
        let answer = native_call!(&validate, IMetaDataValidate::ValidateMetaData())?;
        Ok(answer == crate::error::Hresult::S_OK)
    }
}

impl MetadataValidate for Metadata<'_> {}

/// How the file of a module is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMapping {
    /// Where it begins. To be compared or logged; reading from there is unsafe.
    pub address: usize,
    /// Its size in bytes.
    pub size: u64,
    /// Whether as a file (0) or as an image with its sections apart (1): `CorFileMapping`.
    pub kind: u32,
}

/// What `IMetaDataInfo` offers: how the file of a module is mapped.
#[doc(alias = "IMetaDataInfo")]
pub trait MetadataInfo: Sealed {
    /// Start, size and kind of the mapping of the module's file.
    ///
    /// Wraps `IMetaDataInfo::GetFileMapping`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `COR_E_NOTSUPPORTED` where the metadata is not mapped as a file; `E_INVALIDARG`.
    #[doc(alias = "GetFileMapping")]
    fn file_mapping(&self) -> Result<FileMapping> {
        let info: sys::IMetaDataInfo = cast(self.import(), "IMetaDataInfo::GetFileMapping")?;
        let (mut start, mut size, mut kind) = (std::ptr::null(), 0, 0);
        native_call!(
            &info,
            IMetaDataInfo::GetFileMapping(&mut start, &mut size, &mut kind)
        )?;
        Ok(FileMapping {
            address: start.addr(),
            size,
            kind,
        })
    }
}

impl MetadataInfo for Metadata<'_> {}

/// What `IMetaDataWinMDImport` offers: Windows Runtime metadata without projections.
///
/// Only on Windows, in .NET Framework and .NET Core up to 3.1, for `.winmd` files; elsewhere the
/// call fails and says so.
#[doc(alias = "IMetaDataWinMDImport")]
pub trait MetadataWinMdImport: Sealed {
    /// Name and scope of a type of another module, as they are stored.
    ///
    /// Wraps `IMetaDataWinMDImport::GetUntransformedTypeRefProps`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// Where the metadata is not that of the Windows Runtime; what it answers.
    #[doc(alias = "GetUntransformedTypeRefProps")]
    fn untransformed_type_ref_props(&self, class: TypeRef) -> Result<TypeRefProps> {
        let import: sys::IMetaDataWinMDImport = cast(
            self.import(),
            "IMetaDataWinMDImport::GetUntransformedTypeRefProps",
        )?;
        let mut scope = 0;
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                &import,
                IMetaDataWinMDImport::GetUntransformedTypeRefProps(
                    class.raw(),
                    &mut scope,
                    buffer,
                    capacity,
                    length,
                )
            )
        })?;
        Ok(TypeRefProps {
            resolution_scope: Token::new(scope),
            name,
        })
    }
}

impl MetadataWinMdImport for Metadata<'_> {}
