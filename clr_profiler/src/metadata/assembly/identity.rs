//! The identity of an assembly: name, version, culture, key.

use std::ptr;

use crate::error::Result;
use crate::native::{Blob, Text, arguments, results, wide};
use clr_profiler_il::attributes::{AssemblyFlags, AssemblyHashAlgorithm};
use clr_profiler_sys as sys;

/// The version and culture of an assembly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyVersion {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number.
    pub build: u16,
    /// The fourth number.
    pub revision: u16,
    /// The culture, such as `de-DE`; empty for assemblies with code, which have none.
    pub culture: String,
}

/// The definition of an assembly, in its manifest module: read and written by calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyProps {
    /// Its name, without an extension.
    pub name: String,
    /// Its version and culture.
    pub version: AssemblyVersion,
    /// Its whole public key; empty if it has none.
    pub public_key: Vec<u8>,
    /// The hash algorithm of its files (ECMA-335 II.23.1.1).
    pub hash_algorithm: AssemblyHashAlgorithm,
    /// Its flags (ECMA-335 II.23.1.2).
    pub flags: AssemblyFlags,
}

/// A reference to an assembly, as calls read and write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssemblyRefProps {
    /// Its name, without an extension.
    pub name: String,
    /// Its version and culture.
    pub version: AssemblyVersion,
    /// Its public key (with [`AssemblyFlags::PUBLIC_KEY`]) or, as is usual, the eight bytes of the public key
    /// token; empty if it has none.
    pub public_key_or_token: Vec<u8>,
    /// The hash of its file; usually empty.
    pub hash: Vec<u8>,
    /// Its flags (ECMA-335 II.23.1.2).
    pub flags: AssemblyFlags,
}

/// An assembly in native form.
pub(crate) struct NativeAssembly<'a> {
    pub(super) name: Text,
    pub(super) version: NativeVersion,
    pub(super) public_key: Blob<&'a [u8]>,
    pub(super) hash_algorithm: u32,
    pub(super) flags: u32,
}

/// A reference to an assembly in native form.
pub(crate) struct NativeAssemblyRef<'a> {
    pub(super) name: Text,
    pub(super) version: NativeVersion,
    pub(super) key: Blob<&'a [u8]>,
    pub(super) hash: Blob<&'a [u8]>,
    pub(super) flags: u32,
}

arguments! {
    &'a AssemblyProps => NativeAssembly<'a>, of ['a] = |assembly, context| Ok(NativeAssembly {
        name: assembly.name.as_str().to_native(context)?,
        version: NativeVersion::of(context.call, &assembly.version)?,
        public_key: assembly.public_key.as_slice().to_native(context)?,
        hash_algorithm: assembly.hash_algorithm.number(),
        flags: assembly.flags.bits(),
    });
    &'a AssemblyRefProps => NativeAssemblyRef<'a>, of ['a] = |reference, context| Ok(NativeAssemblyRef {
        name: reference.name.as_str().to_native(context)?,
        version: NativeVersion::of(context.call, &reference.version)?,
        key: reference.public_key_or_token.as_slice().to_native(context)?,
        hash: reference.hash.as_slice().to_native(context)?,
        flags: reference.flags.bits(),
    });
}

/// The native form of version and culture, with a buffer for the culture.
pub(crate) struct NativeVersion {
    culture: Vec<u16>,
    native: sys::ASSEMBLYMETADATA,
}

/// An empty buffer, for reading calls.
impl Default for NativeVersion {
    fn default() -> Self {
        Self {
            culture: vec![0; 256],
            native: Self::native(&AssemblyVersion::default()),
        }
    }
}

impl NativeVersion {
    /// The native form, for writing calls.
    pub(super) fn of(call: &'static str, version: &AssemblyVersion) -> Result<Self> {
        let mut native = Self::native(version);
        let mut culture = wide(call, &version.culture)?;
        if !version.culture.is_empty() {
            native.szLocale = culture.as_mut_ptr();
            native.cbLocale = culture.len() as u32;
        }
        Ok(Self { culture, native })
    }

    fn native(version: &AssemblyVersion) -> sys::ASSEMBLYMETADATA {
        sys::ASSEMBLYMETADATA {
            usMajorVersion: version.major,
            usMinorVersion: version.minor,
            usBuildNumber: version.build,
            usRevisionNumber: version.revision,
            szLocale: ptr::null_mut(),
            cbLocale: 0,
            rProcessor: ptr::null_mut(),
            ulProcessor: 0,
            rOS: ptr::null_mut(),
            ulOS: 0,
        }
    }

    /// The native structure, with the whole buffer for the culture.
    pub(super) fn place(&mut self) -> *mut sys::ASSEMBLYMETADATA {
        self.native.szLocale = self.culture.as_mut_ptr();
        self.native.cbLocale = self.culture.len() as u32;
        self.native.ulProcessor = 0;
        self.native.ulOS = 0;
        &mut self.native
    }

    /// The native structure, for writing calls.
    pub(super) fn as_ptr(&self) -> *const sys::ASSEMBLYMETADATA {
        &self.native
    }
}

results! {
    /// The culture is truncated if it is longer than the buffer, which has room for every known one.
    NativeVersion => AssemblyVersion = |raw, _| {
        let NativeVersion { culture, native } = raw;
        let end = culture.iter().position(|unit| *unit == 0);
        let culture = culture.get(..end.unwrap_or(0)).unwrap_or_default();
        Ok(Self {
            major: native.usMajorVersion,
            minor: native.usMinorVersion,
            build: native.usBuildNumber,
            revision: native.usRevisionNumber,
            culture: String::from_utf16_lossy(culture),
        })
    };
}
