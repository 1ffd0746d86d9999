//! [`CeeGen`]: `ICeeGen`, which builds the sections of an image in memory.

use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::super::handle::{MetadataWriter, SealedWriter};
use crate::boundary::utf16_string;
use crate::error::{Error, Result};
use crate::native::{cast, length, wide};
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;
use sys::Interface;

/// A generator of image sections beside metadata that is written.
///
/// Only .NET Framework and .NET Core up to 5 know the interface; on others
/// [`cee_gen`](MetadataWriter::cee_gen) fails and says so. Its methods are those of
/// [`CeeGeneration`].
pub struct CeeGen<'w> {
    native: sys::ICeeGen,
    writer: PhantomData<&'w ()>,
}

impl fmt::Debug for CeeGen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CeeGen")
    }
}

/// A section of a [`CeeGen`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeeSection<'w> {
    native: sys::HCEESECTION,
    /// The generator that it is of.
    generator: usize,
    writer: PhantomData<&'w ()>,
}

/// Renumbers tokens: what a [`CeeGen`] is told where they move.
pub struct TokenMap(sys::IMapToken);

impl TokenMap {
    /// Says that a token has become another one.
    ///
    /// Wraps `IMapToken::Map`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "Map")]
    pub fn map(&self, from: impl Into<Token>, to: impl Into<Token>) -> Result<()> {
        native_call!(&self.0, IMapToken::Map(from.into().raw(), to.into().raw())).map(drop)
    }
}

impl fmt::Debug for TokenMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenMap")
    }
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
            native: cast(self.emit(), "ICeeGen::GetIlSection")?,
            writer: PhantomData,
        })
    }
}

mod sealed {
    #[doc(hidden)]
    pub trait Sealed {
        #[doc(hidden)]
        fn native(&self) -> &super::sys::ICeeGen;
    }
}

impl sealed::Sealed for CeeGen<'_> {
    fn native(&self) -> &sys::ICeeGen {
        &self.native
    }
}

fn section<'w>(
    call: &'static str,
    generator: &sys::ICeeGen,
    native: sys::HCEESECTION,
) -> Result<CeeSection<'w>> {
    if native.is_null() {
        return Err(Error::invalid(call, "the runtime gave no section"));
    }
    Ok(CeeSection {
        native,
        generator: generator.as_raw().addr(),
        writer: PhantomData,
    })
}

/// The section's handle, if it is one of this generator.
fn handle(
    call: &'static str,
    generator: &sys::ICeeGen,
    section: CeeSection<'_>,
) -> Result<sys::HCEESECTION> {
    if section.generator == generator.as_raw().addr() {
        Ok(section.native)
    } else {
        Err(Error::invalid(call, "the section is of another generator"))
    }
}

fn memory<T>(call: &'static str, start: *mut T) -> Result<NonNull<T>> {
    NonNull::new(start).ok_or_else(|| Error::invalid(call, "the runtime gave no memory"))
}

/// Copies bytes to memory that the runtime has made room in for them.
fn fill(call: &'static str, start: *mut u8, bytes: &[u8]) -> Result<()> {
    let start = memory(call, start)?;
    // SAFETY: the runtime was asked for room for as many bytes, which nobody else uses yet.
    unsafe {
        start
            .as_ptr()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
    };
    Ok(())
}

/// What `ICeeGen` offers: strings, method bodies and other sections of an image in memory.
///
/// Addresses are relative to the image (RVAs). .NET Core 3.1 and .NET 8, 9 and 10 do not have the
/// interface.
#[doc(alias = "ICeeGen")]
pub trait CeeGeneration: sealed::Sealed {
    /// Adds a text; its address.
    ///
    /// Wraps `ICeeGen::EmitString`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "EmitString")]
    fn emit_string(&self, text: &str) -> Result<u32> {
        const CALL: &str = "ICeeGen::EmitString";
        let native = self.native();
        let mut text = wide(CALL, text)?;
        let mut rva = 0;
        native_call!(native, ICeeGen::EmitString(text.as_mut_ptr(), &mut rva))?;
        Ok(rva)
    }

    /// The text at an address that [`emit_string`](Self::emit_string) gave.
    ///
    /// Wraps `ICeeGen::GetString`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetString")]
    fn string(&self, rva: u32) -> Result<String> {
        const CALL: &str = "ICeeGen::GetString";
        let native = self.native();
        let mut text = std::ptr::null_mut();
        native_call!(native, ICeeGen::GetString(rva, &mut text))?;
        let text = memory(CALL, text)?;
        // SAFETY: the runtime says that a text stands there, which ends with a zero.
        Ok(unsafe { utf16_string(text.as_ptr()) })
    }

    /// Adds a method body; its address.
    ///
    /// Wraps `ICeeGen::AllocateMethodBuffer`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "AllocateMethodBuffer")]
    fn allocate_method_buffer(&self, body: &[u8]) -> Result<u32> {
        const CALL: &str = "ICeeGen::AllocateMethodBuffer";
        let native = self.native();
        let (mut start, mut rva) = (std::ptr::null_mut(), 0);
        native_call!(
            native,
            ICeeGen::AllocateMethodBuffer(length(CALL, body)?, &mut start, &mut rva)
        )?;
        fill(CALL, start, body)?;
        Ok(rva)
    }

    /// The memory of the method body at an address; reading it is unsafe.
    ///
    /// Wraps `ICeeGen::GetMethodBuffer`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetMethodBuffer")]
    fn method_buffer(&self, rva: u32) -> Result<NonNull<u8>> {
        const CALL: &str = "ICeeGen::GetMethodBuffer";
        let native = self.native();
        let mut start = std::ptr::null_mut();
        native_call!(native, ICeeGen::GetMethodBuffer(rva, &mut start))?;
        memory(CALL, start)
    }

    /// Where the generator is told of tokens that move.
    ///
    /// Wraps `ICeeGen::GetIMapTokenIface`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetIMapTokenIface")]
    fn token_map(&self) -> Result<TokenMap> {
        const CALL: &str = "ICeeGen::GetIMapTokenIface";
        let native = self.native();
        let mut map = std::ptr::null_mut();
        native_call!(native, ICeeGen::GetIMapTokenIface(&mut map))?;
        let map = memory(CALL, map)?;
        // SAFETY: the runtime gives a reference to an `IUnknown`.
        let map = unsafe { sys::IUnknown::from_raw(map.as_ptr()) };
        Ok(TokenMap(cast(&map, "IMapToken::Map")?))
    }

    /// Writes the image to its file.
    ///
    /// Wraps `ICeeGen::GenerateCeeFile`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GenerateCeeFile")]
    fn generate_cee_file(&self) -> Result<()> {
        let native = self.native();
        native_call!(native, ICeeGen::GenerateCeeFile()).map(drop)
    }

    /// The section of method bodies.
    ///
    /// Wraps `ICeeGen::GetIlSection`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetIlSection")]
    fn il_section(&self) -> Result<CeeSection<'_>> {
        const CALL: &str = "ICeeGen::GetIlSection";
        let native = self.native();
        let mut handle = std::ptr::null_mut();
        native_call!(native, ICeeGen::GetIlSection(&mut handle))?;
        section(CALL, native, handle)
    }

    /// The section of texts.
    ///
    /// Wraps `ICeeGen::GetStringSection`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetStringSection")]
    fn string_section(&self) -> Result<CeeSection<'_>> {
        const CALL: &str = "ICeeGen::GetStringSection";
        let native = self.native();
        let mut handle = std::ptr::null_mut();
        native_call!(native, ICeeGen::GetStringSection(&mut handle))?;
        section(CALL, native, handle)
    }

    /// Says that at this offset of a section stands an address in another one.
    ///
    /// Wraps `ICeeGen::AddSectionReloc`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "AddSectionReloc")]
    fn add_section_reloc(
        &self,
        section: CeeSection<'_>,
        offset: u32,
        relative_to: CeeSection<'_>,
        kind: u32,
    ) -> Result<()> {
        const CALL: &str = "ICeeGen::AddSectionReloc";
        let native = self.native();
        let relative_to = handle(CALL, native, relative_to)?;
        native_call!(
            native,
            ICeeGen::AddSectionReloc(handle(CALL, native, section)?, offset, relative_to, kind)
        )
        .map(drop)
    }

    /// The section of this name, made where it is not there yet. `flags` are those of sections of an image.
    ///
    /// Wraps `ICeeGen::GetSectionCreate`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetSectionCreate")]
    fn section_create(&self, name: &str, flags: u32) -> Result<CeeSection<'_>> {
        const CALL: &str = "ICeeGen::GetSectionCreate";
        let native = self.native();
        let name = CString::new(name).map_err(|error| Error::invalid(CALL, error))?;
        let mut handle = std::ptr::null_mut();
        native_call!(
            native,
            ICeeGen::GetSectionCreate(name.as_ptr(), flags, &mut handle)
        )?;
        section(CALL, native, handle)
    }

    /// How many bytes a section has.
    ///
    /// Wraps `ICeeGen::GetSectionDataLen`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetSectionDataLen")]
    fn section_data_len(&self, section: CeeSection<'_>) -> Result<u32> {
        let native = self.native();
        let mut bytes = 0;
        native_call!(
            native,
            ICeeGen::GetSectionDataLen(handle(CALL, native, section)?, &mut bytes)
        )?;
        Ok(bytes)
    }

    /// Adds bytes to a section, at a multiple of `align`.
    ///
    /// Wraps `ICeeGen::GetSectionBlock`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetSectionBlock")]
    fn section_block(&self, section: CeeSection<'_>, bytes: &[u8], align: u32) -> Result<()> {
        const CALL: &str = "ICeeGen::GetSectionBlock";
        let native = self.native();
        let mut start = std::ptr::null_mut();
        native_call!(
            native,
            ICeeGen::GetSectionBlock(
                handle(CALL, native, section)?,
                length(CALL, bytes)?,
                align,
                &mut start,
            )
        )?;
        fill(CALL, start.cast(), bytes)
    }

    /// Takes the last so many bytes of a section away.
    ///
    /// Wraps `ICeeGen::TruncateSection`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "TruncateSection")]
    fn truncate_section(&self, section: CeeSection<'_>, bytes: u32) -> Result<()> {
        let native = self.native();
        native_call!(
            native,
            ICeeGen::TruncateSection(handle(CALL, native, section)?, bytes)
        )
        .map(drop)
    }

    /// Builds the image; its memory, which is unsafe to read.
    ///
    /// Wraps `ICeeGen::GenerateCeeMemoryImage`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GenerateCeeMemoryImage")]
    fn generate_cee_memory_image(&self) -> Result<NonNull<u8>> {
        const CALL: &str = "ICeeGen::GenerateCeeMemoryImage";
        let native = self.native();
        let mut start = std::ptr::null_mut();
        native_call!(native, ICeeGen::GenerateCeeMemoryImage(&mut start))?;
        memory(CALL, start.cast())
    }

    /// The memory at an address of a section; reading it is unsafe.
    ///
    /// Wraps `ICeeGen::ComputePointer`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "ComputePointer")]
    fn compute_pointer(&self, section: CeeSection<'_>, rva: u32) -> Result<NonNull<u8>> {
        const CALL: &str = "ICeeGen::ComputePointer";
        let native = self.native();
        let mut start = std::ptr::null_mut();
        native_call!(
            native,
            ICeeGen::ComputePointer(handle(CALL, native, section)?, rva, &mut start)
        )?;
        memory(CALL, start)
    }
}

impl CeeGeneration for CeeGen<'_> {}
