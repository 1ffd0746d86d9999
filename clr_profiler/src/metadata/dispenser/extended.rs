//! `IMetaDataDispenserEx`.

use std::sync::atomic::Ordering;

use super::{Dispenser, Sealed, scope};
use crate::error::{Error, Result};
use crate::metadata::handle::Metadata;
use crate::native::read_text;
use crate::native::{cast, wide};
use clr_profiler_sys as sys;
use sys::{GUID, IUnknown, Interface};

/// An option for scopes that a dispenser opens later, with its meaning in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DispenserOption {
    /// For which items a defining call looks whether they are there already:
    /// `CorCheckDuplicatesFor`.
    CheckDuplicatesFor,
    /// Which references to the module itself become definitions: `CorRefToDefCheck`.
    RefToDefCheck,
    /// For which tokens that move a handler is told: `CorNotificationForTokenMovement`.
    NotificationForTokenMovement,
    /// How a scope is updated, such as for edit and continue: `CorSetENC`.
    SetUpdate,
    /// Whether deleted items are enumerated: `CorImportOptions`.
    ImportOption,
    /// Whether a scope locks itself against other threads: `CorThreadSafetyOptions`.
    ThreadSafety,
    /// Whether items that are defined out of order are errors: `CorErrorIfEmitOutOfOrder`.
    ErrorIfEmitOutOfOrder,
    /// Whether a linker makes an assembly or a module: `CorLinkerOptions`.
    Linker,
    /// How scopes are merged: `MergeFlags`.
    Merger,
    /// Which references to the module itself are kept: `CorLocalRefPreservation`.
    PreserveLocalRefs,
}

impl DispenserOption {
    const fn id(self) -> &'static GUID {
        match self {
            Self::CheckDuplicatesFor => &sys::MetaDataCheckDuplicatesFor,
            Self::RefToDefCheck => &sys::MetaDataRefToDefCheck,
            Self::NotificationForTokenMovement => &sys::MetaDataNotificationForTokenMovement,
            Self::SetUpdate => &sys::MetaDataSetUpdate,
            Self::ImportOption => &sys::MetaDataImportOption,
            Self::ThreadSafety => &sys::MetaDataThreadSafetyOptions,
            Self::ErrorIfEmitOutOfOrder => &sys::MetaDataErrorIfEmitOutOfOrder,
            Self::Linker => &sys::MetaDataLinkerOptions,
            Self::Merger => &sys::MetaDataMergerOptions,
            Self::PreserveLocalRefs => &sys::MetaDataPreserveLocalRefs,
        }
    }
}

/// The beginning of an OLE `VARIANT`, with room for the rest of it.
#[repr(C, align(8))]
struct Variant {
    kind: u16,
    reserved: [u16; 3],
    value: u32,
    rest: [u32; 3],
}

/// `MDThreadSafetyOn`.
const THREAD_SAFE: u32 = 1;

/// `VT_UI4` of a `VARIANT`.
const UNSIGNED: u16 = 19;

impl Variant {
    const fn of(value: u32) -> Self {
        Self {
            kind: UNSIGNED,
            reserved: [0; 3],
            value,
            rest: [0; 3],
        }
    }
}

/// What `IMetaDataDispenserEx` offers: options, and a search for assemblies.
///
/// .NET (Core) keeps the options; the searches are those of .NET Framework.
#[doc(alias = "IMetaDataDispenserEx")]
pub trait MetadataDispenserEx: Sealed {
    /// Sets an option for scopes that are opened later.
    ///
    /// Wraps `IMetaDataDispenserEx::SetOption`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for options that this runtime does not know.
    #[doc(alias = "SetOption")]
    fn set_option(&self, option: DispenserOption, value: u32) -> Result<()> {
        let native = Variant::of(value);
        native_call!(
            self.native(),
            IMetaDataDispenserEx::SetOption(option.id(), (&raw const native).cast())
        )?;
        if option == DispenserOption::ThreadSafety {
            self.thread_safe()
                .store(value & THREAD_SAFE != 0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The value of an option.
    ///
    /// Wraps `IMetaDataDispenserEx::GetOption`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` for options that this runtime does not know.
    #[doc(alias = "GetOption")]
    fn option(&self, option: DispenserOption) -> Result<u32> {
        let mut value = Variant::of(0);
        native_call!(
            self.native(),
            IMetaDataDispenserEx::GetOption(option.id(), (&raw mut value).cast())
        )?;
        if value.kind != UNSIGNED {
            return Err(Error::invalid(
                "IMetaDataDispenserEx::GetOption",
                format_args!("the option is no number: it has the type {}", value.kind),
            ));
        }
        Ok(value.value)
    }

    /// Opens the metadata of a COM type library's type.
    ///
    /// No runtime implements this; .NET Framework had it in mind on Windows.
    ///
    /// Wraps `IMetaDataDispenserEx::OpenScopeOnITypeInfo`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// On .NET (Core), which is not asked; an object that is no `ITypeInfo`; `E_NOTIMPL`.
    #[doc(alias = "OpenScopeOnITypeInfo")]
    fn open_scope_on_type_info(&self, type_info: &IUnknown) -> Result<Metadata<'static>> {
        const CALL: &str = "IMetaDataDispenserEx::OpenScopeOnITypeInfo";
        self.framework_only(CALL)?;
        let type_info: TypeInfo = cast(type_info, "ITypeInfo::GetTypeAttr")?;
        let mut raw = std::ptr::null_mut();
        native_call!(
            self.native(),
            IMetaDataDispenserEx::OpenScopeOnITypeInfo(
                type_info.as_raw(),
                sys::ofRead,
                &sys::IMetaDataImport2::IID,
                &mut raw,
            )
        )?;
        scope(self, CALL, raw)
    }

    /// The folder of the runtime.
    ///
    /// Wraps `IMetaDataDispenserEx::GetCORSystemDirectory`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// On .NET (Core), which is not asked: some versions end the process there.
    #[doc(alias = "GetCORSystemDirectory")]
    fn cor_system_directory(&self) -> Result<String> {
        self.framework_only("IMetaDataDispenserEx::GetCORSystemDirectory")?;
        let native = self.native();
        read_text(|capacity, length, buffer| {
            native_call!(
                native,
                IMetaDataDispenserEx::GetCORSystemDirectory(buffer, capacity, length)
            )
        })
    }

    /// The file of an assembly that the runtime would load from these folders.
    ///
    /// Only .NET Framework looks for it.
    ///
    /// Wraps `IMetaDataDispenserEx::FindAssembly`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// On .NET (Core), which is not asked; what .NET Framework answers.
    #[doc(alias = "FindAssembly")]
    fn find_assembly(&self, search: &AssemblySearch<'_>, assembly: &str) -> Result<String> {
        const CALL: &str = "IMetaDataDispenserEx::FindAssembly";
        self.framework_only(CALL)?;
        let [base, private, global] = search.folders(CALL)?;
        let assembly = wide(CALL, assembly)?;
        let native = self.native();
        read_text(|capacity, length, buffer| {
            native_call!(
                native,
                IMetaDataDispenserEx::FindAssembly(
                    start(&base),
                    start(&private),
                    start(&global),
                    assembly.as_ptr(),
                    buffer,
                    capacity,
                    length,
                )
            )
        })
    }

    /// The file of a module of an assembly that the runtime would load from these folders.
    ///
    /// Only .NET Framework looks for it.
    ///
    /// Wraps `IMetaDataDispenserEx::FindAssemblyModule`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// On .NET (Core), which is not asked; what .NET Framework answers.
    #[doc(alias = "FindAssemblyModule")]
    fn find_assembly_module(
        &self,
        search: &AssemblySearch<'_>,
        assembly: &str,
        module: &str,
    ) -> Result<String> {
        const CALL: &str = "IMetaDataDispenserEx::FindAssemblyModule";
        self.framework_only(CALL)?;
        let [base, private, global] = search.folders(CALL)?;
        let (assembly, module) = (wide(CALL, assembly)?, wide(CALL, module)?);
        let native = self.native();
        read_text(|capacity, length, buffer| {
            native_call!(
                native,
                IMetaDataDispenserEx::FindAssemblyModule(
                    start(&base),
                    start(&private),
                    start(&global),
                    assembly.as_ptr(),
                    module.as_ptr(),
                    buffer,
                    capacity,
                    length,
                )
            )
        })
    }
}

impl MetadataDispenserEx for Dispenser {}

/// Where a dispenser looks for assemblies.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblySearch<'a> {
    /// The folder of the program.
    pub application_base: Option<&'a str>,
    /// Folders within that, separated by semicolons.
    pub private_bin: Option<&'a str>,
    /// The global folder.
    pub global_bin: Option<&'a str>,
}

impl AssemblySearch<'_> {
    fn folders(&self, call: &'static str) -> Result<[Option<Vec<u16>>; 3]> {
        let folder = |folder: Option<&str>| folder.map(|folder| wide(call, folder)).transpose();
        Ok([
            folder(self.application_base)?,
            folder(self.private_bin)?,
            folder(self.global_bin)?,
        ])
    }
}

fn start(text: &Option<Vec<u16>>) -> *const u16 {
    text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
}

/// `ITypeInfo` of oaidl.h, as far as it is needed here: to know that an object is one.
#[repr(transparent)]
#[derive(Clone)]
struct TypeInfo(IUnknown);

// SAFETY: the type is a transparent `IUnknown`, and its vtable begins with the one of that.
unsafe impl Interface for TypeInfo {
    type Vtable = sys::IUnknown_Vtbl;
    const IID: GUID = GUID::from_u128(0x00020401_0000_0000_C000_000000000046);
}
