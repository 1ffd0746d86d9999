//! Calls that no current runtime implements, or for which none has a use. They are rows, for completeness.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::handle::{Metadata, MetadataWriter, Sealed};
use super::import::TypeRefProps;
use crate::error::{Error, Hresult, Result};
use crate::metadata::module_bound::{InUse, ModuleBound};
use crate::native::ComObject;
use crate::native::{
    CallContext, Com, FromNative, Object, Text, any_token, arguments, cast, results, unknown, value,
};
use crate::runtime::{catch, utf16_string};
use clr_profiler_il::token::{Token, TypeRef};
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

opaque! { MetadataHandler, CeeGen<'_>, TokenMap }

table! { ($) __metadata_filter:
    MetadataFilter = IMetaDataFilter from filter;

    /// Removes all marks.
    fn unmark_all() -> () = UnmarkAll();

    /// Marks an item and the items that it needs.
    fn mark_token(token: impl Into<Token> as any_token) -> () = MarkToken(token);

    /// Whether an item is marked.
    fn is_token_marked(token: impl Into<Token> as any_token) -> bool
        = IsTokenMarked(token, @marked);
}

/// The calls of `IMetaDataFilter`: marks on items.
///
/// Only for metadata that a [`Dispenser`](crate::metadata::Dispenser) has opened without
/// [`ThreadSafety`](crate::metadata::DispenserOption::ThreadSafety), on runtimes that have the interface.
/// .NET Core 3.1 and .NET 8, 9 and 10 were seen to count all types as marked, regardless of the calls.
#[doc(alias = "IMetaDataFilter")]
pub trait MetadataFilter: Sealed {
    __metadata_filter! { calls }
}

impl MetadataFilter for Metadata<'_> {}

/// The interface for marks, if it can be used.
///
/// `MarkToken` takes the lock of the metadata, and then makes calls that take it again. If there is a lock,
/// in loaded modules or with `ThreadSafety`, this deadlocks.
pub(crate) fn filter(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataFilter>> {
    if !metadata.metadata().locks_itself {
        return metadata.metadata().import()?.query_interface(call);
    }
    Err(Error::rule_with_code(
        call,
        "items of a loaded module cannot be marked, nor those of metadata that locks itself: open \
         the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
        Hresult::E_NOTIMPL,
    ))
}

table! { ($) __metadata_validate:
    MetadataValidate = IMetaDataValidate from query_import;

    /// Sets the kind of the module (`CorValidatorModuleType`: 1 for an image) and the handler of errors. Call
    /// it before [`validate_metadata`](Self::validate_metadata).
    fn validator_init(module_type: u32, handler: &MetadataHandler) -> ()
        = ValidatorInit(module_type, handler.as_raw());

    /// Checks all metadata, and reports errors to the handler. `None` if there were any.
    fn validate_metadata() -> () = ValidateMetaData() none on S_FALSE
        fails "The error of the native call, such as `VLDTR_E_...`.";
}

/// The calls of `IMetaDataValidate`: a check against the rules of the format.
///
/// .NET Core 3.1 and .NET 8, 9 and 10 implement it for no metadata: the calls return an error that says so.
#[doc(alias = "IMetaDataValidate")]
pub trait MetadataValidate: Sealed {
    __metadata_validate! { calls }
}

impl MetadataValidate for Metadata<'_> {}

table! { ($) __metadata_win_md_import:
    MetadataWinMdImport = IMetaDataWinMDImport from query_import;

    /// The name and scope of a type of another module, as they are stored.
    fn untransformed_type_ref_props(class: TypeRef) -> {TypeRefProps}
        = GetUntransformedTypeRefProps(class, @resolution_scope, ~{name})
        fails "The metadata is not that of the Windows Runtime; the error of the native call.";
}

/// The calls of `IMetaDataWinMDImport`: Windows Runtime metadata without projections.
///
/// Only on Windows, in .NET Framework and .NET Core up to 3.1, for `.winmd` files; otherwise the call returns
/// an error that says so.
#[doc(alias = "IMetaDataWinMDImport")]
pub trait MetadataWinMdImport: Sealed {
    __metadata_win_md_import! { calls }
}

impl MetadataWinMdImport for Metadata<'_> {}

/// The folders in which a dispenser of .NET Framework searches for assemblies.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblySearch<'a> {
    /// The folder of the program.
    pub application_base: Option<&'a str>,
    /// Folders within that, separated by semicolons.
    pub private_bin: Option<&'a str>,
    /// The global folder.
    pub global_bin: Option<&'a str>,
}

arguments! {
    &AssemblySearch<'_> => [Text; 3] = |search, context| Ok([
        search.application_base.to_native(context)?,
        search.private_bin.to_native(context)?,
        search.global_bin.to_native(context)?,
    ]);
}

/// An object that claims to be an `ITypeInfo` of oaidl.h.
pub(super) fn as_type_info(object: &ComObject, _: &CallContext<'_>) -> Result<TypeInfo> {
    cast(object.native(), "ITypeInfo::GetTypeAttr")
}

#[repr(transparent)]
#[derive(Clone)]
pub(super) struct TypeInfo(IUnknown);

// SAFETY: the type is a transparent `IUnknown`, and its vtable begins with that of `IUnknown`.
unsafe impl Interface for TypeInfo {
    type Vtable = IUnknown_Vtbl;
    const IID: GUID = GUID::from_u128(0x00020401_0000_0000_C000_000000000046);
}

/// A generator of image sections for metadata that is written: strings, method bodies and other sections of
/// an image in memory.
///
/// Addresses are relative to the image (RVAs). Only .NET Framework and .NET Core up to 5 have the interface;
/// on others, including .NET Core 3.1 and .NET 8, 9 and 10, [`cee_gen`](MetadataWriter::cee_gen) returns an
/// error that says so.
#[doc(alias = "ICeeGen")]
pub struct CeeGen<'w> {
    native: ModuleBound<sys::ICeeGen>,
    writer: PhantomData<&'w ()>,
}

impl MetadataWriter<'_> {
    /// The generator of image sections of this metadata.
    ///
    /// # Errors
    ///
    /// The runtime has none.
    #[doc(alias = "ICeeGen")]
    pub fn cee_gen(&self) -> Result<CeeGen<'_>> {
        Ok(CeeGen {
            native: self.emit.other("ICeeGen::GetIlSection")?,
            writer: PhantomData,
        })
    }
}

/// A section of a [`CeeGen`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeeSection<'w> {
    native: usize,
    /// Its generator.
    generator: usize,
    writer: PhantomData<&'w ()>,
}

arguments! {
    CeeSection<'_> => sys::HCEESECTION = |section, context| match section.generator == context.on {
        true => Ok(std::ptr::with_exposed_provenance_mut(section.native)),
        false => Err(Error::invalid(context.call, "the section is of another generator")),
    };
}

results! {
    sys::HCEESECTION => CeeSection<'_> = |raw, context| {
        let native: NonNull<c_void> = FromNative::from_native(raw.cast(), context)?;
        Ok(Self {
            native: native.as_ptr().expose_provenance(),
            generator: context.on,
            writer: PhantomData,
        })
    };
    /// A zero-terminated string.
    *mut u16 => String = |raw, context| {
        let text: NonNull<u16> = FromNative::from_native(raw, context)?;
        // SAFETY: the runtime returns the address of a zero-terminated string.
        Ok(unsafe { utf16_string(text.as_ptr()) })
    };
    *mut c_void => TokenMap = |raw, context| {
        let object: IUnknown = FromNative::from_native(raw, context)?;
        Ok(Self(cast(&object, "IMapToken::Map")?))
    };
}

fn c_text(text: &str, context: &CallContext<'_>) -> Result<CString> {
    CString::new(text).map_err(|error| Error::invalid(context.call, error))
}

/// The map of renumbered tokens of a [`CeeGen`].
pub struct TokenMap(sys::IMapToken);

table! { ($) __token_map:
    TokenMap = IMapToken from native;

    /// Records that a token has become another one.
    pub fn map(from: impl Into<Token> as any_token, to: impl Into<Token> as any_token) -> ()
        = Map(from, to);
}

impl TokenMap {
    __token_map! { calls }

    fn native(&self) -> &sys::IMapToken {
        &self.0
    }
}

table! { ($) __cee_gen:
    CeeGen = ICeeGen from native;

    /// Adds a string, and returns its address.
    pub fn emit_string(text: &str) -> u32 = EmitString(text.as_ptr().cast_mut(), @rva);

    /// The string at an address that [`emit_string`](Self::emit_string) returned.
    pub fn string(rva: u32) -> String = GetString(rva, @text);

    /// Allocates a method body of this size, and returns its memory and address; writing to it is unsafe.
    pub fn allocate_method_buffer(size: u32) -> (NonNull<u8>, u32)
        = AllocateMethodBuffer(size, @start, @rva);

    /// The memory of the method body at an address; reading it is unsafe.
    pub fn method_buffer(rva: u32) -> NonNull<u8> = GetMethodBuffer(rva, @start);

    /// The map that tells the generator of renumbered tokens.
    pub fn token_map() -> TokenMap = GetIMapTokenIface(@map);

    /// Writes the image to its file.
    pub fn generate_cee_file() -> () = GenerateCeeFile();

    /// The section of method bodies.
    pub fn il_section() -> CeeSection<'_> = GetIlSection(@section);

    /// The section of strings.
    pub fn string_section() -> CeeSection<'_> = GetStringSection(@section);

    /// Adds a relocation: at this offset of a section is an address in another one.
    pub fn add_section_reloc(
        section: CeeSection<'_>, offset: u32, relative_to: CeeSection<'_>, kind: u32
    ) -> () = AddSectionReloc(section, offset, relative_to, kind);

    /// The section of this name, which is added if it is missing. `flags` are those of image sections.
    pub fn section_create(name: &str as c_text, flags: u32) -> CeeSection<'_>
        = GetSectionCreate(name.as_ptr(), flags, @section);

    /// The size of a section in bytes.
    pub fn section_data_len(section: CeeSection<'_>) -> u32 = GetSectionDataLen(section, @bytes);

    /// Allocates this number of bytes in a section, at a multiple of `align`; writing to it is unsafe.
    pub fn section_block(section: CeeSection<'_>, size: u32, align: u32) -> NonNull<c_void>
        = GetSectionBlock(section, size, align, @start);

    /// Removes this number of bytes from the end of a section.
    pub fn truncate_section(section: CeeSection<'_>, bytes: u32) -> () = TruncateSection(section, bytes);

    /// Builds the image, and returns its memory, which is unsafe to read.
    pub fn generate_cee_memory_image() -> NonNull<c_void> = GenerateCeeMemoryImage(@start);

    /// The memory at an address of a section; reading it is unsafe.
    pub fn compute_pointer(section: CeeSection<'_>, rva: u32) -> NonNull<u8>
        = ComputePointer(section, rva, @start);
}

impl CeeGen<'_> {
    __cee_gen! { calls }

    fn native(&self) -> &sys::ICeeGen {
        &self.native
    }
}

/// The events of metadata that is merged, saved or checked. All methods have defaults.
///
/// Panics are caught.
pub trait MetadataEvents: Send + Sync + 'static {
    /// A token has become another one: in a merge, or because rows were sorted.
    ///
    /// Also wraps `IMapToken::Map`, as the runtime calls it.
    #[doc(alias = "IMapToken")]
    fn token_mapped(&self, from: Token, to: Token) {
        let _ = (from, to);
    }

    /// An item is invalid, or the whole metadata if the token is nil.
    ///
    /// Wraps `IMetaDataError::OnError`. **Context**: not during a collection.
    #[doc(alias = "IMetaDataError")]
    #[doc(alias = "OnError")]
    fn error(&self, error: Hresult, token: Token) {
        let _ = (error, token);
    }

    /// An item is marked to be kept.
    ///
    /// Wraps `IHostFilter::MarkToken`. **Context**: not during a collection.
    #[doc(alias = "IHostFilter")]
    fn token_marked(&self, token: Token) {
        let _ = token;
    }
}

/// [`MetadataEvents`] as a COM object, for the calls that take an `IMapToken`, an `IMetaDataError`
/// or an `IHostFilter`.
pub struct MetadataHandler(Option<Object<Events>>);

#[derive(Clone)]
struct Events(Arc<dyn MetadataEvents>);

impl MetadataHandler {
    /// Creates the object.
    #[must_use]
    pub fn new(events: impl MetadataEvents) -> Self {
        Self(Object::new(Events(Arc::new(events)), &sys::IMapToken::IID))
    }

    /// The object as an `IUnknown`, which is also its `IMapToken`.
    pub(super) fn as_raw(&self) -> *mut c_void {
        self.0.as_ref().map_or(std::ptr::null_mut(), Object::as_raw)
    }
}

arguments! {
    /// The call borrows it: the runtime takes references of its own.
    &MetadataHandler => Self = |handler, _| Ok(handler);
    Option<&MetadataHandler> => *mut c_void = |handler, _| {
        Ok(handler.map_or(std::ptr::null_mut(), MetadataHandler::as_raw))
    };
}

/// Declares the interfaces of handlers, one in each row: the method and its event.
macro_rules! handler_interfaces {
    ($($interface:ident::$method:ident($($argument:ident: $type:ty),*) = $event:expr;)*) => {
        // SAFETY: each vtable begins with `unknown`, and its function takes the value of the object.
        unsafe impl Com for Events {
            fn vtable(iid: &GUID) -> Option<*const IUnknown_Vtbl> {
                $(if *iid == sys::$interface::IID {
                    unsafe extern "system" fn callback(
                        this: *mut c_void $(, $argument: $type)*
                    ) -> HRESULT {
                        // SAFETY: the caller holds a reference.
                        let events = unsafe { value::<Events>(this) };
                        let event: fn(&dyn MetadataEvents $(, $type)*) = $event;
                        let _ = catch(|| event(&*events.0 $(, $argument)*));
                        sys::S_OK
                    }
                    type Vtable = <sys::$interface as Interface>::Vtable;
                    static VTABLE: Vtable = Vtable {
                        base__: unknown::<Events>(),
                        $method: callback,
                    };
                    return Some((&raw const VTABLE).cast());
                })*
                (*iid == IUnknown::IID).then(|| Self::vtable(&sys::IMapToken::IID)).flatten()
            }
        }
    };
}

handler_interfaces! {
    IMapToken::Map(from: u32, to: u32)
        = |events, from, to| events.token_mapped(Token::new(from), Token::new(to));
    IMetaDataError::OnError(error: HRESULT, token: u32)
        = |events, error, token| events.error(Hresult(error.0), Token::new(token));
    IHostFilter::MarkToken(token: u32) = |events, token| events.token_marked(Token::new(token));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Remembers(Arc<Mutex<Vec<String>>>);

    impl MetadataEvents for Remembers {
        fn token_mapped(&self, from: Token, to: Token) {
            assert!(from != to, "a token that stays");
            self.0.lock().unwrap().push(format!("{from} to {to}"));
        }

        fn error(&self, error: Hresult, token: Token) {
            self.0.lock().unwrap().push(format!("{error} at {token}"));
        }

        fn token_marked(&self, token: Token) {
            self.0.lock().unwrap().push(format!("keep {token}"));
        }
    }

    fn get<I: Interface>(handler: &MetadataHandler) -> I {
        let raw = handler.as_raw();
        // SAFETY: the object is an `IUnknown`.
        let unknown = unsafe { IUnknown::from_raw_borrowed(&raw) }.unwrap();
        let mut other = std::ptr::null_mut();
        // SAFETY: the IID is that of `I`.
        assert_eq!(unsafe { unknown.query(&I::IID, &mut other) }, sys::S_OK);
        // SAFETY: the query was for `I`.
        unsafe { I::from_raw(other) }
    }

    #[test]
    fn three_interfaces_are_one_object() {
        let events = Remembers::default();
        let handler = MetadataHandler::new(events.clone());
        let map: sys::IMapToken = get(&handler);
        let error: sys::IMetaDataError = get(&handler);
        let filter: sys::IHostFilter = get(&handler);
        // The object lives as long as there is a reference.
        drop(handler);
        // SAFETY: the interfaces are alive.
        unsafe {
            assert_eq!(map.Map(0x0600_0001, 0x0600_0002), sys::S_OK);
            assert_eq!(error.OnError(sys::E_FAIL, 0), sys::S_OK);
            assert_eq!(filter.MarkToken(0x0200_0003), sys::S_OK);
            // A panic is caught.
            assert_eq!(map.Map(7, 7), sys::S_OK);
        }
        assert_eq!(
            *events.0.lock().unwrap(),
            [
                "0x06000001 to 0x06000002",
                "E_FAIL (0x80004005) at 0x00000000",
                "keep 0x02000003"
            ]
        );
        assert_eq!(Arc::strong_count(&events.0), 2);
        drop((map, error, filter));
        assert_eq!(Arc::strong_count(&events.0), 1);
    }
}
