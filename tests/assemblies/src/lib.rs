//! The methods and signatures of .NET assemblies, and the meaning of the tokens in them, on top of `clr_metadata`.
//!
//! ```no_run
//! use assembly_reader::Assembly;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("Basics.dll")?;
//! let assembly = Assembly::open(&bytes)?;
//! for method in assembly.all_methods() {
//!     let method = method?;
//!     if let Some(body) = method.body {
//!         println!("{} {}: {} bytes", method.token, method.name, body.len());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - [`Assembly`]: the metadata of a file, with all its methods and signatures.
//! - [`Framework`]: assemblies that refer to each other, and the meaning of the tokens in one of them.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

mod framework;

use std::ops::Deref;

use clr_metadata::{BlobIndex, Metadata, Result, Value};
use clr_profiler_il::signature::{LocalsSig, MethodSpecSig, TypeSpecSig};
use clr_profiler_il::token::{MethodDef, MethodSpec, StandAloneSig, Token, TokenTable, TypeSpec};

pub use framework::{Framework, Tokens};

/// An assembly in the bytes of its file.
#[derive(Clone, Debug)]
pub struct Assembly<'a> {
    assembly: clr_metadata::Assembly<'a>,
}

/// A method of an assembly.
#[derive(Clone, Copy, Debug)]
pub struct Method<'a> {
    /// Its token.
    pub token: MethodDef,
    /// Its name.
    pub name: &'a str,
    /// Its IL body, from the first byte of the header to the last one of the code or of its
    /// sections; `None` for a method without one: abstract, from a native library, by the runtime.
    pub body: Option<&'a [u8]>,
    /// The blob of its signature.
    pub signature: &'a [u8],
}

/// A signature in the metadata: the blob that one row refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The row.
    pub token: Token,
    /// The kind of the signature.
    pub kind: SignatureKind,
    /// Its bytes.
    pub blob: &'a [u8],
}

/// The kinds of [`Signature`], by the table that refers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SignatureKind {
    /// Of a field defined here.
    Field,
    /// Of a method defined here.
    Method,
    /// Of a method or field defined elsewhere.
    MemberRef,
    /// Of the locals of a method, of a `calli`, or a type for debuggers.
    StandAlone,
    /// Of a property.
    Property,
    /// A type that is more than a name.
    TypeSpec,
    /// The type arguments of a generic method.
    MethodSpec,
}

impl SignatureKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Field,
        Self::Method,
        Self::MemberRef,
        Self::StandAlone,
        Self::Property,
        Self::TypeSpec,
        Self::MethodSpec,
    ];

    const fn table(self) -> TokenTable {
        match self {
            Self::Field => TokenTable::FIELD_DEF,
            Self::Method => TokenTable::METHOD_DEF,
            Self::MemberRef => TokenTable::MEMBER_REF,
            Self::StandAlone => TokenTable::STAND_ALONE_SIG,
            Self::Property => TokenTable::PROPERTY,
            Self::TypeSpec => TokenTable::TYPE_SPEC,
            Self::MethodSpec => TokenTable::METHOD_SPEC,
        }
    }
}

impl<'a> Deref for Assembly<'a> {
    type Target = Metadata<'a>;

    fn deref(&self) -> &Metadata<'a> {
        &self.assembly.metadata
    }
}

impl<'a> Assembly<'a> {
    /// Reads the headers of a file.
    ///
    /// # Errors
    ///
    /// If the bytes are not a PE image with metadata, or are incomplete.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        clr_metadata::Assembly::parse(bytes).map(|assembly| Self { assembly })
    }

    /// The methods, in the order of their tokens.
    ///
    /// An item is an error if its row, its name, its signature or its body's headers are broken.
    pub fn all_methods(&self) -> impl Iterator<Item = Result<Method<'a>>> {
        self.tokens::<MethodDef>().map(|token| {
            let row = self.row(token)?;
            Ok(Method {
                token,
                name: self.string(row.name)?,
                body: self.assembly.body(token)?,
                signature: self.blob(row.signature)?,
            })
        })
    }

    /// All signatures, table by table.
    pub fn all_signatures(&self) -> impl Iterator<Item = Result<Signature<'a>>> {
        SignatureKind::ALL.into_iter().flat_map(move |kind| {
            let rows = 1..=self.row_count(kind.table());
            rows.filter_map(move |row| {
                let token = Token::from_row(kind.table(), row)?;
                Some(
                    self.blob_of(token)
                        .map(|blob| Signature { token, kind, blob }),
                )
            })
        })
    }

    /// The only blob of a row.
    fn blob_of(&self, token: Token) -> Result<&'a [u8]> {
        let values = self.values(token)?;
        let blob = values.into_iter().find_map(|value| match value {
            Value::Blob(blob) => Some(blob),
            _ => None,
        });
        self.blob(blob.unwrap_or_default())
    }

    /// The type arguments of a `MethodSpec`.
    ///
    /// # Errors
    ///
    /// If the row or its blob is broken.
    pub fn method_arguments(&self, token: MethodSpec) -> Result<MethodSpecSig> {
        self.signature(self.row(token)?.instantiation)
    }

    /// The locals of the token in the header of a method body.
    ///
    /// # Errors
    ///
    /// If the token is not one of locals, or if the row or its blob is broken.
    pub fn locals(&self, token: Token) -> Result<LocalsSig> {
        match StandAloneSig::try_from(token) {
            Ok(token) => self.signature(self.row(token)?.signature),
            // An empty blob is no signature.
            Err(_) => self.signature(BlobIndex::default()),
        }
    }

    /// The type of a `TypeSpec`.
    ///
    /// # Errors
    ///
    /// If the row or its blob is broken.
    pub fn type_spec(&self, token: TypeSpec) -> Result<TypeSpecSig> {
        self.signature(self.row(token)?.signature)
    }
}
