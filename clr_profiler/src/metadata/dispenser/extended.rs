//! `IMetaDataDispenserEx`.

use std::sync::atomic::Ordering;

use super::{Dispenser, Sealed};
use crate::error::{Error, Hresult, Result};
use crate::metadata::handle::Metadata;
use crate::metadata::rare::{AssemblySearch, as_type_info};
use crate::native::ComObject;
use clr_profiler_sys as sys;
use sys::{GUID, Interface};

/// An option for scopes that a dispenser opens later; its values are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DispenserOption {
    /// The kinds of items for which a defining call searches for duplicates: `CorCheckDuplicatesFor`.
    CheckDuplicatesFor,
    /// The references to the module itself that become definitions: `CorRefToDefCheck`.
    RefToDefCheck,
    /// The tokens for which a handler is notified when they move: `CorNotificationForTokenMovement`.
    NotificationForTokenMovement,
    /// The kind of update of a scope, such as for edit and continue: `CorSetENC`.
    SetUpdate,
    /// Whether deleted items are enumerated: `CorImportOptions`.
    ImportOption,
    /// Whether a scope locks itself against other threads: `CorThreadSafetyOptions`.
    ThreadSafety,
    /// Whether items that are defined out of order are errors: `CorErrorIfEmitOutOfOrder`.
    ErrorIfEmitOutOfOrder,
    /// Whether a linker creates an assembly or a module: `CorLinkerOptions`.
    Linker,
    /// The way scopes are merged: `MergeFlags`.
    Merger,
    /// The references to the module itself that are kept: `CorLocalRefPreservation`.
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

/// The beginning of an OLE `VARIANT`, padded to its full size.
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

/// The interface, on .NET Framework only: it has calls that .NET (Core) does not implement, and some versions
/// of .NET (Core) end the process in them.
fn framework(
    dispenser: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<sys::IMetaDataDispenserEx> {
    let dispenser = dispenser.dispenser();
    if dispenser.is_framework {
        return Ok(dispenser.native.clone());
    }
    Err(Error::rule_with_code(
        call,
        "only .NET Framework implements it",
        Hresult::E_NOTIMPL,
    ))
}

table! { ($) __metadata_dispenser_framework:
    MetadataDispenserEx = IMetaDataDispenserEx from framework;

    /// The metadata of a type in a COM type library. No runtime implements it.
    fn open_scope_on_type_info(type_info: &ComObject as as_type_info) -> Metadata<'static>
        = OpenScopeOnITypeInfo(
            type_info.as_raw(), clr_profiler_sys::ofRead,
            &<clr_profiler_sys::IMetaDataImport2 as clr_profiler_sys::Interface>::IID, @metadata)
        fails "The runtime is .NET (Core); the object is no `ITypeInfo`; `E_NOTIMPL`.";

    /// The folder of the runtime.
    fn cor_system_directory() -> String = GetCORSystemDirectory(~{folder})
        fails "The runtime is .NET (Core), some versions of which would end the process.";

    /// The file of an assembly that the runtime would load from these folders.
    fn find_assembly(search: &AssemblySearch<'_>, assembly: &str) -> String
        = FindAssembly(search[0].as_ptr(), search[1].as_ptr(), search[2].as_ptr(),
            assembly.as_ptr(), ~{file})
        fails "The runtime is .NET (Core); the error of the native call on .NET Framework.";

    /// The file of a module of an assembly that the runtime would load from these folders.
    fn find_assembly_module(search: &AssemblySearch<'_>, assembly: &str, module: &str) -> String
        = FindAssemblyModule(search[0].as_ptr(), search[1].as_ptr(), search[2].as_ptr(),
            assembly.as_ptr(), module.as_ptr(), ~{file})
        fails "The runtime is .NET (Core); the error of the native call on .NET Framework.";
}

/// The calls of `IMetaDataDispenserEx`: options, and a search for assemblies.
///
/// .NET (Core) has the options, only .NET Framework the searches.
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
            &self.dispenser().native,
            IMetaDataDispenserEx::SetOption(option.id(), (&raw const native).cast())
        )?;
        if option == DispenserOption::ThreadSafety {
            let is_thread_safe = &self.dispenser().is_thread_safe;
            is_thread_safe.store(value & THREAD_SAFE != 0, Ordering::Relaxed);
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
            &self.dispenser().native,
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

    __metadata_dispenser_framework! { calls }
}

impl MetadataDispenserEx for Dispenser {}
