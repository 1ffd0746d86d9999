//! Source lines: the file, line and method in the source of IL offsets, from portable PDBs.
//!
//! ```
//! # use clr_profiler::prelude::*;
//! # fn log(info: &ProfilerInfo, function: FunctionId, il_offset: u32) -> Result<()> {
//! if let Some(location) = info.source_location(function, il_offset)? {
//!     println!("{location}"); // /src/Shop/Cart.cs:41
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The PDB of a module is the one that its debug directory names by an id: embedded in the assembly, next to it, or in the
//! same single-file application. Nothing is downloaded. It is read when the first line of the module is asked for, and
//! kept in memory until the module is unloaded.
//!
//! Lines are those of the build. PDBs that hot reload passes to the runtime are not available to profilers: a method that
//! was edited since has its old lines.

mod native;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ids::{FunctionId, ModuleId};
use crate::image::{AllSymbols, Found, Loaded, Symbols};
use crate::info::method::Method;
use crate::info::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags};
use crate::metadata::{Instantiation, MetadataImport, method_name, parameter_names};
use crate::runtime::ProfilerInfo;
use clr_metadata::ImageLayout;
use clr_metadata::pdb::{FindError, Pdb};
use clr_profiler_il::token::MethodDef;

/// A range of a source file. Printed as the file and the first line: `/src/Shop/Cart.cs:41`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SourceLocation {
    /// The path of the file on the machine of the build.
    pub file: Arc<str>,
    /// The line of the first character, from 1.
    pub start_line: u32,
    /// The column of the first character, from 1.
    pub start_column: u16,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: u16,
    /// The method in the source: for code of an async method or an iterator, which the compiler has moved to a state
    /// machine, that method.
    pub method: MethodDef,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.start_line)
    }
}

/// The PDB of a module. Cheap to clone; from [`ProfilerInfo::module_pdb`].
#[derive(Clone, Debug)]
pub struct ModulePdb(Arc<Symbols>);

impl ModulePdb {
    /// The PDB, for everything that it has: documents, sequence points, local variables, state machines.
    ///
    /// # Errors
    ///
    /// If the headers are malformed; they were read before, so they are not.
    pub fn pdb(&self) -> Result<Pdb<'_>> {
        self.0.file.pdb().map_err(Error::other)
    }

    /// The file of the PDB; `None` if the assembly or the single-file application contains it.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.file.path()
    }

    /// The source of the instruction at an IL offset of a method; `None` if the method has no source.
    ///
    /// Code that the compiler has generated counts as a part of the source before it, as in the stack traces of .NET.
    ///
    /// # Errors
    ///
    /// If the PDB is malformed there, or has no such method.
    pub fn location(&self, method: MethodDef, il_offset: u32) -> Result<Option<SourceLocation>> {
        let pdb = self.pdb()?;
        let found = pdb.source_location(method, il_offset);
        let Some(found) = found.map_err(|error| self.malformed(error))? else {
            return Ok(None);
        };
        let name = || pdb.document(found.document)?.name();
        let file = self.0.document(found.document.row(), name);
        Ok(Some(SourceLocation {
            file: file.map_err(|error| self.malformed(error))?,
            start_line: found.span.start_line,
            start_column: found.span.start_column,
            end_line: found.span.end_line,
            end_column: found.span.end_column,
            method: self.source_method(method)?,
        }))
    }

    /// The first range of the source that a method has; `None` if it has none.
    ///
    /// # Errors
    ///
    /// If the PDB is malformed there, or has no such method.
    pub fn first_location(&self, method: MethodDef) -> Result<Option<SourceLocation>> {
        let pdb = self.pdb()?;
        let mut points = match pdb.sequence_points(method) {
            Ok(points) => {
                points.filter(|point| point.as_ref().map_or(true, |it| it.span.is_some()))
            }
            Err(error) => return Err(self.malformed(error)),
        };
        match points.next() {
            None => Ok(None),
            Some(Ok(point)) => self.location(method, point.il_offset),
            Some(Err(error)) => Err(self.malformed(error)),
        }
    }

    /// The async method or iterator to whose state machine a method belongs; any other method itself.
    ///
    /// # Errors
    ///
    /// If the PDB is malformed there.
    pub fn source_method(&self, method: MethodDef) -> Result<MethodDef> {
        let kickoff = self.pdb()?.kickoff_method(method);
        let kickoff = kickoff.map_err(|error| self.malformed(error))?;
        Ok(kickoff.unwrap_or(method))
    }

    fn malformed(&self, error: clr_metadata::Error) -> Error {
        match self.path() {
            Some(path) => Error::other(format!("the PDB {} is malformed: {error}", path.display())),
            None => Error::other(format!("the embedded PDB is malformed: {error}")),
        }
    }
}

/// Why a module has no PDB that can be read.
#[derive(Debug)]
struct NoPdb {
    module: String,
    cause: Arc<FindError>,
}

impl fmt::Display for NoPdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there are no source lines of {}: {}",
            self.module, self.cause
        )
    }
}

impl std::error::Error for NoPdb {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

impl ProfilerInfo {
    /// The source of the instruction at an IL offset of a function. `None` if its module has no PDB, or the
    /// instruction no source.
    ///
    /// The offset is one of the IL that the compiler wrote. For an instruction pointer,
    /// [`source_location_from_ip`](Self::source_location_from_ip) finds it.
    ///
    /// Calls `ICorProfilerInfo::GetFunctionInfo`, and for the first line of a module
    /// `ICorProfilerInfo3::GetModuleInfo2`, after which it reads the PDB. **Context**: any callback, but not during a
    /// collection; the first line of a module takes as long as reading the file.
    ///
    /// # Errors
    ///
    /// The errors of [`function_info`](CorProfilerInfo::function_info); an error for a PDB that cannot be read, is malformed or
    /// is that of another build.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn log(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// if let Some(begin) = info.source_location(function, 0)? {
    ///     println!("{begin}"); // /src/Shop/Cart.cs:41
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn source_location(
        &self,
        function: FunctionId,
        il_offset: u32,
    ) -> Result<Option<SourceLocation>> {
        let facts = self.function_info(function)?;
        // A dynamic method has no source.
        if facts.token.is_nil() {
            return Ok(None);
        }
        match self.optional_pdb(facts.module)? {
            Some(pdb) => pdb.location(facts.token, il_offset),
            None => Ok(None),
        }
    }

    /// The PDB of a module.
    ///
    /// Calls `ICorProfilerInfo3::GetModuleInfo2`. **Context**: any callback, but not during a collection.
    ///
    /// # Errors
    ///
    /// The errors of [`module_info2`](CorProfilerInfo3::module_info2). If the module has no PDB that can be read, the
    /// error says why.
    pub fn module_pdb(&self, module: ModuleId) -> Result<ModulePdb> {
        let cause = match self.find_pdb(module)? {
            Ok(symbols) => return Ok(ModulePdb(symbols)),
            Err(cause) => cause,
        };
        let module = self.module_info(module)?.name;
        Err(Error::other(NoPdb { module, cause }))
    }

    /// The PDB of a module; `None` if it names none, or if that is not there.
    pub(crate) fn optional_pdb(&self, module: ModuleId) -> Result<Option<ModulePdb>> {
        match self.find_pdb(module)? {
            Ok(symbols) => Ok(Some(ModulePdb(symbols))),
            Err(cause) => match *cause {
                FindError::NotNamed | FindError::NotFound { .. } => Ok(None),
                _ => self.module_pdb(module).map(Some),
            },
        }
    }

    fn find_pdb(&self, module: ModuleId) -> Result<Found> {
        let all = self.extension::<AllSymbols>();
        if let Some(found) = all.known(module) {
            return Ok(found);
        }
        let (loaded, flags) = self.module_info2(module)?;
        let layout = match flags.contains(ModuleFlags::FLAT_LAYOUT) {
            true => ImageLayout::File,
            false => ImageLayout::Mapped,
        };
        let loaded = Loaded {
            base: loaded.base_address,
            layout,
            name: &loaded.name,
        };
        Ok(all.of(module, &loaded))
    }
}

impl Method<'_> {
    /// The first range of the source that the method has. `None` if its module has no PDB, or the method no source.
    ///
    /// # Errors
    ///
    /// The errors of [`module_info2`](CorProfilerInfo3::module_info2); an error for a PDB that cannot be read, is
    /// malformed or is that of another build.
    pub fn first_source_location(&self) -> Result<Option<SourceLocation>> {
        match self.info().optional_pdb(self.module())? {
            Some(pdb) => pdb.first_location(self.token()),
            None => Ok(None),
        }
    }

    /// The name of the method in the source, in the form of [`full_name`](Method::full_name): for the `MoveNext` method of
    /// a state machine the async method or the iterator, such as `Shop.Cart.Load(string)` instead of
    /// `Shop.Cart+<Load>d__7.MoveNext()`.
    ///
    /// Without a PDB it is the full name of the method itself.
    ///
    /// # Errors
    ///
    /// The errors of [`full_name`](Method::full_name).
    pub fn source_name(&self) -> Result<String> {
        let pdb = self.info().optional_pdb(self.module()).ok().flatten();
        let source = pdb.and_then(|pdb| pdb.source_method(self.token()).ok());
        match source {
            Some(source) if source != self.token() => self.name_of(source),
            _ => self.full_name(),
        }
    }

    /// The name of the method whose state machine this is, which has the generic parameters of its type and of itself.
    fn name_of(&self, source: MethodDef) -> Result<String> {
        let metadata = self.metadata()?;
        let props = metadata.method_props(source)?;
        let mut type_arguments = self.type_argument_names();
        let of_type = parameter_names(&metadata, props.class.into())?.len();
        let method_arguments = type_arguments.split_off(of_type.min(type_arguments.len()));
        let instantiation = Instantiation {
            type_arguments,
            method_arguments,
        };
        method_name(&metadata, source, &props, instantiation)
    }
}
