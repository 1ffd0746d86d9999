//! Portable PDBs: the source files, lines, local variables and state machines of an assembly.
//!
//! [`Pdb`] is a view of the bytes of a PDB, which [`PdbFile`] finds for an assembly: in the assembly, or in the file next to it.
//!
//! ```
//! use clr_metadata::pdb::PdbFile;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/profilees/language/NetRelease.dll");
//! let file = PdbFile::find(path)?;
//! let pdb = file.pdb()?;
//! # let method = pdb.methods().find(|&method| matches!(pdb.source_location(method, 0), Ok(Some(_)))).ok_or("no method")?;
//! let location = pdb.source_location(method, 0)?.ok_or("compiler-generated code")?;
//! let path = pdb.document(location.document)?.name()?;
//! println!("{path}:{}", location.span.start_line);
//! # assert!(path.ends_with(".cs"));
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! - [`Pdb`]: [`documents`](Pdb::documents), [`sequence_points`](Pdb::sequence_points) and
//!   [`source_location`](Pdb::source_location), [`local_scopes`](Pdb::local_scopes), [`import_scope`](Pdb::import_scope),
//!   [`kickoff_method`](Pdb::kickoff_method), and [`custom_debug_info`](Pdb::custom_debug_info) of the compilers' own kinds.
//! - [`PdbFile`]: the PDB of an assembly, found by its [debug directory](crate::Image::debug_entries);
//!   [`WantedPdb`]: the name and the id there, for a PDB that is elsewhere.
//!
//! # Tokens
//!
//! Tokens of methods and types are those of the assembly: the PDB numbers its rows as the assembly does.
//!
//! # Source
//!
//! "Portable PDB v1.0: Format Specification" and "PE/COFF Specification Addendum" in the repository of the .NET
//! runtime. Windows PDBs, which older compilers for .NET Framework write, are another format and are refused.

mod checksum;
mod constant;
mod cursor;
mod custom;
mod document;
mod file;
mod ids;
mod import;
mod points;
mod scope;
mod source;

use clr_profiler_il::token::{self, MethodDef};

use crate::bytes::Bytes;
use crate::columns::HasCustomDebugInformation;
use crate::error::{ErrorKind, Result};
use crate::metadata::Metadata;
use crate::rows::{RowToken, StateMachineMethodRow};

pub use constant::{Constant, LocalConstant, LocalConstantValue};
pub use custom::{
    AsyncStep, AsyncSteps, CompilationReference, CustomDebugInfo, CustomKind, CustomValue, Values,
};
pub use document::{Document, HashAlgorithm, Language};
pub use file::{FindError, PdbFile, WantedPdb};
pub use ids::{Guid, PdbId};
pub use import::{Import, ImportScope, Imports};
pub use points::{SequencePoint, SequencePoints, SourceLocation, SourceSpan};
pub use scope::{LocalScope, LocalVariable};
pub use source::EmbeddedSource;

/// A portable PDB: a view of its bytes.
///
/// [`parse`](Self::parse) reads the headers alone; rows and blobs are decoded when they are asked for. See the
/// [module](self) for an example.
#[derive(Clone, Debug)]
pub struct Pdb<'a> {
    metadata: Metadata<'a>,
    id: PdbId,
    entry_point: Option<MethodDef>,
}

impl<'a> Pdb<'a> {
    /// Reads the headers of a PDB, which begins with `BSJB`.
    ///
    /// # Errors
    ///
    /// If the headers are malformed, or the metadata is that of an assembly, or the file is a Windows PDB.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.starts_with(b"Microsoft C/C++ ") {
            return Err(Bytes::new(bytes).error(ErrorKind::WindowsPdb, 0));
        }
        let metadata = Metadata::parse(bytes)?;
        let Some(stream) = metadata.pdb_stream() else {
            return Err(Bytes::new(bytes).error(ErrorKind::NoStream("#Pdb"), 0));
        };
        let id = PdbId(stream.id);
        let entry_point = MethodDef::try_from(stream.entry_point).ok();
        let entry_point = entry_point.filter(|method| !method.is_nil());
        Ok(Self {
            metadata,
            id,
            entry_point,
        })
    }

    /// The rows and heaps of the PDB.
    #[must_use]
    pub const fn metadata(&self) -> &Metadata<'a> {
        &self.metadata
    }

    /// The id, by which an assembly names its PDB.
    #[must_use]
    pub const fn id(&self) -> PdbId {
        self.id
    }

    /// The offset of the id in the bytes.
    pub(crate) fn id_offset(&self) -> usize {
        self.metadata.pdb_stream().map_or(0, |stream| stream.offset)
    }

    /// The method with which the program starts; `None` for a library.
    #[must_use]
    pub const fn entry_point(&self) -> Option<MethodDef> {
        self.entry_point
    }

    /// The methods of the assembly, each of which may have sequence points.
    #[must_use]
    pub fn methods(&self) -> impl ExactSizeIterator<Item = MethodDef> + use<> {
        let rows = self
            .metadata
            .row_count(<token::MethodDebugInformation as RowToken>::TABLE);
        // A `usize`, because ranges of other numbers have no exact size. Rows have 24 bits.
        (1..rows as usize + 1).map(|row| MethodDef::from_row(row as u32).unwrap_or(MethodDef::NIL))
    }

    /// The source files.
    ///
    /// # Errors
    ///
    /// An item is an error if the row is malformed.
    pub fn documents(&self) -> impl Iterator<Item = Result<Document<'a>>> {
        self.metadata
            .tokens::<token::Document>()
            .map(|token| self.document(token))
    }

    /// A source file.
    ///
    /// # Errors
    ///
    /// If there is no such row.
    pub fn document(&self, token: token::Document) -> Result<Document<'a>> {
        let row = self.metadata.row(token)?;
        Ok(Document {
            heaps: self.metadata.heaps,
            token,
            row,
        })
    }

    /// The sequence points of a method; none for a method without source.
    ///
    /// # Errors
    ///
    /// If the PDB has no row for the method, or the header of its points is malformed.
    pub fn sequence_points(&self, method: MethodDef) -> Result<SequencePoints<'a>> {
        let no_row = || crate::error::Error::new(ErrorKind::NoRow(method.token()), 0);
        let row = token::MethodDebugInformation::from_row(method.row());
        let row = self
            .metadata
            .row(row.ok_or_else(no_row)?)
            .map_err(|_| no_row())?;
        SequencePoints::parse(self.metadata.heaps.blob(row.sequence_points)?, row.document)
    }

    /// The source of the instruction at an IL offset of a method: that of the last sequence point at or before it
    /// that is not hidden. `None` if there is none.
    ///
    /// Hidden points are skipped: code that the compiler has generated, such as the dispatch of a state machine,
    /// counts as a part of the source before it. The stack traces of .NET's exceptions follow the same rule. To tell
    /// such code from that of the source, use [`sequence_points`](Self::sequence_points).
    ///
    /// The time is that of decoding the points before the offset. A user of many offsets of one method decodes its
    /// points once.
    ///
    /// # Errors
    ///
    /// If the PDB has no row for the method, or the points up to the offset are malformed.
    pub fn source_location(
        &self,
        method: MethodDef,
        il_offset: u32,
    ) -> Result<Option<SourceLocation>> {
        let mut found = None;
        for point in self.sequence_points(method)? {
            let point = point?;
            if point.il_offset > il_offset {
                break;
            }
            if let Some(span) = point.span {
                found = Some(SourceLocation {
                    document: point.document,
                    span,
                });
            }
        }
        Ok(found)
    }

    /// The method in the source whose state machine has this `MoveNext` method: an async method, or an iterator. `None`
    /// for other methods.
    ///
    /// # Errors
    ///
    /// If a row is malformed.
    pub fn kickoff_method(&self, move_next: MethodDef) -> Result<Option<MethodDef>> {
        let mut rows = self.metadata.rows_of::<StateMachineMethodRow>(move_next);
        rows.next()
            .transpose()
            .map(|row| row.map(|row| row.kickoff))
    }

    /// The `MoveNext` method of the state machine of an async method or an iterator. `None` for other methods.
    ///
    /// The inverse of [`kickoff_method`](Self::kickoff_method); it goes through all state machines of the PDB.
    ///
    /// # Errors
    ///
    /// If a row is malformed.
    pub fn move_next_method(&self, kickoff: MethodDef) -> Result<Option<MethodDef>> {
        for row in self.metadata.rows::<StateMachineMethodRow>() {
            let row = row?;
            if row.kickoff == kickoff {
                return Ok(Some(row.move_next));
            }
        }
        Ok(None)
    }

    /// The local scopes of a method, the outer before the inner ones.
    ///
    /// # Errors
    ///
    /// An item is an error if the row is malformed.
    pub fn local_scopes(&self, method: MethodDef) -> impl Iterator<Item = Result<LocalScope>> {
        self.metadata
            .tokens_of::<token::LocalScope>(method)
            .map(|token| self.local_scope(token))
    }

    /// A local scope.
    ///
    /// # Errors
    ///
    /// If there is no such row.
    pub fn local_scope(&self, token: token::LocalScope) -> Result<LocalScope> {
        LocalScope::read(&self.metadata, token)
    }

    /// The variables that are declared in a scope.
    ///
    /// # Errors
    ///
    /// An item is an error if the name is malformed.
    pub fn local_variables(
        &self,
        scope: &LocalScope,
    ) -> impl Iterator<Item = Result<LocalVariable<'a>>> {
        scope.variables(&self.metadata)
    }

    /// The constants that are declared in a scope.
    ///
    /// # Errors
    ///
    /// An item is an error if the name is malformed.
    pub fn local_constants(
        &self,
        scope: &LocalScope,
    ) -> impl Iterator<Item = Result<LocalConstant<'a>>> {
        scope.constants(&self.metadata)
    }

    /// The name of a local variable at an IL offset of a method: that of the innermost scope with the offset. `None` for a
    /// local of the compiler.
    ///
    /// # Errors
    ///
    /// If a row is malformed.
    pub fn local_name(
        &self,
        method: MethodDef,
        index: u16,
        il_offset: u32,
    ) -> Result<Option<&'a str>> {
        let mut name = None;
        for scope in self.local_scopes(method) {
            let scope = scope?;
            if !scope.contains(il_offset) {
                continue;
            }
            for variable in self.local_variables(&scope) {
                let variable = variable?;
                if variable.index == index {
                    name = Some(variable.name);
                }
            }
        }
        Ok(name)
    }

    /// A scope of imports.
    ///
    /// # Errors
    ///
    /// If there is no such row.
    pub fn import_scope(&self, token: token::ImportScope) -> Result<ImportScope<'a>> {
        let row = self.metadata.row(token)?;
        let heaps = self.metadata.heaps;
        Ok(ImportScope {
            token,
            parent: row.parent,
            heaps,
            blob: heaps.blob(row.imports)?,
        })
    }

    /// All scopes of imports.
    ///
    /// # Errors
    ///
    /// An item is an error if the row is malformed.
    pub fn import_scopes(&self) -> impl Iterator<Item = Result<ImportScope<'a>>> {
        self.metadata
            .tokens::<token::ImportScope>()
            .map(|token| self.import_scope(token))
    }

    /// All information of the compilers' own kinds.
    ///
    /// # Errors
    ///
    /// An item is an error if the row is malformed.
    pub fn all_custom_debug_info(&self) -> impl Iterator<Item = Result<CustomDebugInfo<'a>>> {
        self.metadata
            .tokens::<token::CustomDebugInformation>()
            .map(|token| self.custom(token))
    }

    /// The information of the compilers' own kinds about an item, such as a method, the module, a document or a
    /// local variable.
    ///
    /// ```
    /// use clr_metadata::pdb::{CustomValue, PdbFile};
    /// use clr_metadata::token::Module;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/profilees/language/NetRelease.dll");
    /// let file = PdbFile::find(path)?;
    /// let pdb = file.pdb()?;
    /// let module = Module::from_row(1).ok_or("a row")?;
    /// # let mut count = 0;
    /// for info in pdb.custom_debug_info(module) {
    ///     if let CustomValue::Options(options) = info?.value()? {
    ///         for option in options {
    ///             let (name, value) = option?;
    ///             println!("{name}={value}");
    /// #           count += 1;
    ///         }
    ///     }
    /// }
    /// # assert!(count > 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is an error if the row is malformed.
    pub fn custom_debug_info(
        &self,
        item: impl Into<HasCustomDebugInformation>,
    ) -> impl Iterator<Item = Result<CustomDebugInfo<'a>>> {
        self.metadata
            .tokens_of::<token::CustomDebugInformation>(item)
            .map(|token| self.custom(token))
    }

    fn custom(&self, token: token::CustomDebugInformation) -> Result<CustomDebugInfo<'a>> {
        let row = self.metadata.row(token)?;
        let heaps = &self.metadata.heaps;
        Ok(CustomDebugInfo {
            token,
            parent: row.parent,
            kind: CustomKind(Guid(heaps.guid(row.kind)?.unwrap_or_default())),
            value: heaps.blob(row.value)?,
        })
    }

    /// The content of a source file, if the compiler has stored it in the PDB.
    ///
    /// # Errors
    ///
    /// If a row is malformed.
    pub fn embedded_source(&self, document: token::Document) -> Result<Option<EmbeddedSource<'a>>> {
        for info in self.custom_debug_info(document) {
            if let CustomValue::EmbeddedSource(source) = info?.value()? {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// The SourceLink of the module: JSON that tells where a source server has the source files.
    ///
    /// # Errors
    ///
    /// If a row is malformed, or the text is not UTF-8.
    pub fn source_link(&self) -> Result<Option<&'a str>> {
        let module = token::Module::from_row(1).unwrap_or(token::Module::NIL);
        for info in self.custom_debug_info(module) {
            if let CustomValue::SourceLink(link) = info?.value()? {
                return Ok(Some(link));
            }
        }
        Ok(None)
    }

    /// Where an async method suspends and resumes, by its `MoveNext` method. `None` for other methods.
    ///
    /// # Errors
    ///
    /// If a row is malformed.
    pub fn async_steps(&self, move_next: MethodDef) -> Result<Option<AsyncSteps<'a>>> {
        for info in self.custom_debug_info(move_next) {
            if let CustomValue::AsyncSteps(steps) = info?.value()? {
                return Ok(Some(steps));
            }
        }
        Ok(None)
    }
}
