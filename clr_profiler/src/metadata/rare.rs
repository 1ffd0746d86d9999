//! What the interfaces have and no runtime of today does, or none has a use for: rows, so that nothing
//! is missing.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::handle::{Metadata, MetadataWriter, Sealed};
use super::import::TypeRefProps;
use crate::error::{Error, Hresult, Result};
use crate::info::ComObject;
use crate::metadata::kept::{InUse, Kept};
use crate::native::{
    Answer, Asked, Com, Object, Text, answers, any_token, arguments, cast, unknown, value,
};
use crate::runtime::{catch, utf16_string};
use clr_profiler_il::token::{Token, TypeRef};
use clr_profiler_sys as sys;
use sys::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

opaque! { MetadataHandler, CeeGen<'_>, TokenMap }

table! { ($) __metadata_filter:
    MetadataFilter = IMetaDataFilter from filter;

    /// Takes all marks away.
    fn unmark_all() -> () = UnmarkAll();

    /// Marks an item, and what it needs.
    fn mark_token(token: impl Into<Token> as any_token) -> () = MarkToken(token);

    /// Whether an item is marked.
    fn is_token_marked(token: impl Into<Token> as any_token) -> bool
        = IsTokenMarked(token, @marked);
}

/// What `IMetaDataFilter` offers: marks on the items that count.
///
/// Only for metadata that a [`Dispenser`](crate::metadata::Dispenser) has opened without
/// [`ThreadSafety`](crate::metadata::DispenserOption::ThreadSafety), and where the runtime has the interface.
/// .NET Core 3.1 and .NET 8, 9 and 10 were seen to count all types as marked, whatever was done.
#[doc(alias = "IMetaDataFilter")]
pub trait MetadataFilter: Sealed {
    __metadata_filter! { calls }
}

impl MetadataFilter for Metadata<'_> {}

/// The interface to the marks, where it can be used.
///
/// `MarkToken` takes the lock of the metadata and then asks what takes it again, so that it does not
/// return where there is one: in loaded modules, and where `ThreadSafety` is on.
pub(crate) fn filter(
    metadata: &(impl Sealed + ?Sized),
    call: &'static str,
) -> Result<InUse<sys::IMetaDataFilter>> {
    if !metadata.metadata().locks_itself {
        return metadata.metadata().import.beside(call);
    }
    Err(Error::rule_with_code(
        call,
        "items of a loaded module cannot be marked, nor those of metadata that locks itself: open \
         the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
        Hresult::E_NOTIMPL,
    ))
}

table! { ($) __metadata_validate:
    MetadataValidate = IMetaDataValidate from beside_import;

    /// Says what kind of module it is (`CorValidatorModuleType`: 1 for an image) and who is told of
    /// errors. To be called before [`validate_metadata`](Self::validate_metadata).
    fn validator_init(module_type: u32, handler: &MetadataHandler) -> ()
        = ValidatorInit(module_type, handler.as_raw());

    /// Checks everything; the handler is told what is wrong. `None` where something was.
    fn validate_metadata() -> () = ValidateMetaData() none on S_FALSE
        fails "`VLDTR_E_...` codes and others that the metadata answers.";
}

/// What `IMetaDataValidate` offers: a check against the rules of the format.
///
/// .NET Core 3.1 and .NET 8, 9 and 10 have it for no metadata: the calls fail there and say so.
#[doc(alias = "IMetaDataValidate")]
pub trait MetadataValidate: Sealed {
    __metadata_validate! { calls }
}

impl MetadataValidate for Metadata<'_> {}

table! { ($) __metadata_win_md_import:
    MetadataWinMdImport = IMetaDataWinMDImport from beside_import;

    /// Name and scope of a type of another module, as they are stored.
    fn untransformed_type_ref_props(class: TypeRef) -> {TypeRefProps}
        = GetUntransformedTypeRefProps(class, @resolution_scope, ~{name})
        fails "Where the metadata is not that of the Windows Runtime; what it answers.";
}

/// What `IMetaDataWinMDImport` offers: Windows Runtime metadata without projections.
///
/// Only on Windows, in .NET Framework and .NET Core up to 3.1, for `.winmd` files; elsewhere the
/// call fails and says so.
#[doc(alias = "IMetaDataWinMDImport")]
pub trait MetadataWinMdImport: Sealed {
    __metadata_win_md_import! { calls }
}

impl MetadataWinMdImport for Metadata<'_> {}

/// Where a dispenser of .NET Framework looks for assemblies.
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
    &AssemblySearch<'_> => [Text; 3] = |search, asked| Ok([
        search.application_base.to_native(asked)?,
        search.private_bin.to_native(asked)?,
        search.global_bin.to_native(asked)?,
    ]);
}

/// An object that says to be an `ITypeInfo` of oaidl.h.
pub(super) fn as_type_info(object: &ComObject, _: &Asked<'_>) -> Result<TypeInfo> {
    cast(object.native(), "ITypeInfo::GetTypeAttr")
}

#[repr(transparent)]
#[derive(Clone)]
pub(super) struct TypeInfo(IUnknown);

// SAFETY: the type is a transparent `IUnknown`, and its vtable begins with the one of that.
unsafe impl Interface for TypeInfo {
    type Vtable = IUnknown_Vtbl;
    const IID: GUID = GUID::from_u128(0x00020401_0000_0000_C000_000000000046);
}

/// A generator of image sections beside metadata that is written: strings, method bodies and other
/// sections of an image in memory.
///
/// Addresses are relative to the image (RVAs). Only .NET Framework and .NET Core up to 5 know the
/// interface; on others, .NET Core 3.1 and .NET 8, 9 and 10 among them,
/// [`cee_gen`](MetadataWriter::cee_gen) fails and says so.
#[doc(alias = "ICeeGen")]
pub struct CeeGen<'w> {
    native: Kept<sys::ICeeGen>,
    writer: PhantomData<&'w ()>,
}

impl MetadataWriter<'_> {
    /// The generator of image sections of this metadata, where the runtime has one.
    ///
    /// # Errors
    ///
    /// Where it has none.
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
    /// The generator that it is of.
    generator: usize,
    writer: PhantomData<&'w ()>,
}

arguments! {
    CeeSection<'_> => sys::HCEESECTION = |section, asked| match section.generator == asked.on {
        true => Ok(std::ptr::with_exposed_provenance_mut(section.native)),
        false => Err(Error::invalid(asked.call, "the section is of another generator")),
    };
}

answers! {
    sys::HCEESECTION => CeeSection<'_> = |raw, asked| {
        let native: NonNull<c_void> = Answer::answer(raw.cast(), asked)?;
        Ok(Self {
            native: native.as_ptr().expose_provenance(),
            generator: asked.on,
            writer: PhantomData,
        })
    };
    /// A text that ends with a zero.
    *mut u16 => String = |raw, asked| {
        let text: NonNull<u16> = Answer::answer(raw, asked)?;
        // SAFETY: the runtime says that a text stands there, which ends with a zero.
        Ok(unsafe { utf16_string(text.as_ptr()) })
    };
    *mut c_void => TokenMap = |raw, asked| {
        let object: IUnknown = Answer::answer(raw, asked)?;
        Ok(Self(cast(&object, "IMapToken::Map")?))
    };
}

fn c_text(text: &str, asked: &Asked<'_>) -> Result<CString> {
    CString::new(text).map_err(|error| Error::invalid(asked.call, error))
}

/// Renumbers tokens: what a [`CeeGen`] is told where they move.
pub struct TokenMap(sys::IMapToken);

table! { ($) __token_map:
    TokenMap = IMapToken from native;

    /// Says that a token has become another one.
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

    /// Adds a text; its address.
    pub fn emit_string(text: &str) -> u32 = EmitString(text.as_ptr().cast_mut(), @rva);

    /// The text at an address that [`emit_string`](Self::emit_string) gave.
    pub fn string(rva: u32) -> String = GetString(rva, @text);

    /// Room for a method body of so many bytes, and its address; writing to it is unsafe.
    pub fn allocate_method_buffer(size: u32) -> (NonNull<u8>, u32)
        = AllocateMethodBuffer(size, @start, @rva);

    /// The memory of the method body at an address; reading it is unsafe.
    pub fn method_buffer(rva: u32) -> NonNull<u8> = GetMethodBuffer(rva, @start);

    /// Where the generator is told of tokens that move.
    pub fn token_map() -> TokenMap = GetIMapTokenIface(@map);

    /// Writes the image to its file.
    pub fn generate_cee_file() -> () = GenerateCeeFile();

    /// The section of method bodies.
    pub fn il_section() -> CeeSection<'_> = GetIlSection(@section);

    /// The section of texts.
    pub fn string_section() -> CeeSection<'_> = GetStringSection(@section);

    /// Says that at this offset of a section stands an address in another one.
    pub fn add_section_reloc(
        section: CeeSection<'_>, offset: u32, relative_to: CeeSection<'_>, kind: u32
    ) -> () = AddSectionReloc(section, offset, relative_to, kind);

    /// The section of this name, made where it is not there yet. `flags` are those of sections of an
    /// image.
    pub fn section_create(name: &str as c_text, flags: u32) -> CeeSection<'_>
        = GetSectionCreate(name.as_ptr(), flags, @section);

    /// How many bytes a section has.
    pub fn section_data_len(section: CeeSection<'_>) -> u32 = GetSectionDataLen(section, @bytes);

    /// Room for so many bytes in a section, at a multiple of `align`; writing to it is unsafe.
    pub fn section_block(section: CeeSection<'_>, size: u32, align: u32) -> NonNull<c_void>
        = GetSectionBlock(section, size, align, @start);

    /// Takes the last so many bytes of a section away.
    pub fn truncate_section(section: CeeSection<'_>, bytes: u32) -> () = TruncateSection(section, bytes);

    /// Builds the image; its memory, which is unsafe to read.
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

/// What the metadata tells while it is merged, saved or checked. Nothing needs to be implemented.
///
/// Panics end there.
pub trait MetadataEvents: Send + Sync + 'static {
    /// A token has become another one: in a merge, or because rows were sorted.
    ///
    /// Also wraps `IMapToken::Map`, as the runtime calls it.
    #[doc(alias = "IMapToken")]
    fn token_mapped(&self, from: Token, to: Token) {
        let _ = (from, to);
    }

    /// Something is wrong with an item, or with the whole if the token is nil.
    ///
    /// Wraps `IMetaDataError::OnError`. **Context**: not during a collection.
    #[doc(alias = "IMetaDataError")]
    #[doc(alias = "OnError")]
    fn error(&self, error: Hresult, token: Token) {
        let _ = (error, token);
    }

    /// An item is to be kept.
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
    /// Makes an object of it.
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
    /// Borrowed by the call: the runtime takes references of its own.
    &MetadataHandler => Self = |handler, _| Ok(handler);
    Option<&MetadataHandler> => *mut c_void = |handler, _| {
        Ok(handler.map_or(std::ptr::null_mut(), MetadataHandler::as_raw))
    };
}

/// Which interfaces handlers have, one a row: the method, and the event that becomes of it.
macro_rules! told {
    ($($interface:ident::$method:ident($($argument:ident: $type:ty),*) = $event:expr;)*) => {
        // SAFETY: each vtable begins with `unknown`, and its function takes the value of the object.
        unsafe impl Com for Events {
            fn vtable(iid: &GUID) -> Option<*const IUnknown_Vtbl> {
                $(if *iid == sys::$interface::IID {
                    unsafe extern "system" fn tell(
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
                        $method: tell,
                    };
                    return Some((&raw const VTABLE).cast());
                })*
                (*iid == IUnknown::IID).then(|| Self::vtable(&sys::IMapToken::IID)).flatten()
            }
        }
    };
}

told! {
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
        // SAFETY: as asked for.
        unsafe { I::from_raw(other) }
    }

    #[test]
    fn three_interfaces_are_one_object() {
        let events = Remembers::default();
        let handler = MetadataHandler::new(events.clone());
        let map: sys::IMapToken = get(&handler);
        let error: sys::IMetaDataError = get(&handler);
        let filter: sys::IHostFilter = get(&handler);
        // The object lives while anyone has a reference.
        drop(handler);
        // SAFETY: the interfaces are alive.
        unsafe {
            assert_eq!(map.Map(0x0600_0001, 0x0600_0002), sys::S_OK);
            assert_eq!(error.OnError(sys::E_FAIL, 0), sys::S_OK);
            assert_eq!(filter.MarkToken(0x0200_0003), sys::S_OK);
            // A panic ends there.
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
