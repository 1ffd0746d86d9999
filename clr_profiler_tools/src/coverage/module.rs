//! The methods of an assembly that are covered, and their names.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use clr_metadata::pdb::{FindError, Pdb, PdbFile, SequencePoint};
use clr_metadata::rows::ModuleRow;
use clr_metadata::token::{MethodDef, Token, TypeDef, TypeToken};
use clr_metadata::{Assembly, Error, ImageLayout, Metadata};
use clr_profiler::il::attributes::CodeType;
use clr_profiler::il::body::MethodBody;
use clr_profiler::il::signature::TypeNames;

use super::bundled::AssemblyReader;
use super::classes::{Class, Classes, KnownClasses};
use super::code::Code;
use super::contents::read_code;
use super::map::MethodMap;
#[cfg(feature = "profilers")]
use super::map::MethodProbes;
use super::marks::Marks;
use super::sources::{self, Sources};

/// How deep types and state machines are nested at most.
pub(super) const DEPTH: usize = 32;

/// The bytes of an assembly and of its PDB.
#[derive(Debug)]
pub struct ModuleFiles {
    bytes: Vec<u8>,
    pdb: Result<PdbFile, String>,
    /// Read when they are needed: most assemblies without a PDB are not covered.
    marks: OnceLock<clr_metadata::Result<Marks>>,
    tables: OnceLock<clr_metadata::Result<Tables>>,
}

/// Facts of all types and methods of an assembly.
#[derive(Debug)]
struct Tables {
    classes: Classes,
    sources: Sources,
}

impl Tables {
    fn of(
        metadata: &Metadata<'_>,
        marks: &Marks,
        pdb: Option<&Pdb<'_>>,
    ) -> clr_metadata::Result<Self> {
        let classes = Classes::of(metadata, marks)?;
        Ok(Self {
            sources: Sources::of(metadata, &classes, pdb),
            classes,
        })
    }
}

impl ModuleFiles {
    /// Reads an assembly with its PDB, as [`AssemblyReader::read`] does.
    ///
    /// # Errors
    ///
    /// If the assembly cannot be read, in words. Without a PDB there is none.
    pub fn read(path: &Path) -> Result<Self, String> {
        AssemblyReader::default().read(path)
    }

    /// Reads an assembly in a file of its own. `None` if it needs a PDB and has none: it is not read as a whole then.
    pub(crate) fn read_if(path: &Path, needs_pdb: bool) -> Result<Option<Self>, String> {
        let in_words = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|error| in_words(&error))?;
        let pdb = PdbFile::find_in(&file, ImageLayout::File, path);
        if needs_pdb && pdb.is_err() {
            return Ok(None);
        }
        let bytes = read_code(&file).map_err(|error| in_words(&error))?;
        Assembly::parse(&bytes).map_err(|error| in_words(&error))?;
        Ok(Some(Self::of(bytes, pdb)))
    }

    pub(super) fn of(bytes: Vec<u8>, pdb: Result<PdbFile, FindError>) -> Self {
        Self {
            bytes,
            pdb: pdb.map_err(|error| error.to_string()),
            marks: OnceLock::new(),
            tables: OnceLock::new(),
        }
    }

    /// Why there is no PDB.
    #[must_use]
    pub fn without_pdb(&self) -> Option<&str> {
        self.pdb.as_ref().err().map(String::as_str)
    }

    /// The id of the build.
    #[cfg(feature = "profilers")]
    pub(crate) fn mvid(&self) -> clr_metadata::Result<[u8; 16]> {
        mvid(&Assembly::parse(&self.bytes)?.metadata)
    }

    /// These methods, or all but the global ones, with the space for the probes that they can have at most.
    #[cfg(feature = "profilers")]
    pub(crate) fn space(
        &self,
        methods: Option<&[MethodDef]>,
    ) -> clr_metadata::Result<(Vec<MethodDef>, u32)> {
        let assembly = Assembly::parse(&self.bytes)?;
        let methods: Vec<MethodDef> = match methods {
            Some(methods) => methods.to_vec(),
            None => {
                let global = TypeDef::from_row(1).into_iter();
                let global = global
                    .flat_map(|class| assembly.metadata.methods(class))
                    .count();
                // The first type has the first methods.
                assembly.metadata.tokens().skip(global).collect()
            }
        };
        let mut space: u32 = 0;
        for &method in &methods {
            // A malformed body is not compiled.
            let size = assembly.body(method).ok().flatten().map_or(0, <[u8]>::len);
            space = space.saturating_add(most_probes(size));
        }
        Ok((methods, space))
    }

    /// The methods.
    ///
    /// # Errors
    ///
    /// If the headers of a file are malformed.
    pub fn module(&self) -> clr_metadata::Result<CoveredModule<'_>> {
        let mut module = self.module_for_few()?;
        let metadata = &module.assembly.metadata;
        let read = || Tables::of(metadata, module.marks, module.pdb.as_ref());
        let tables = self.tables.get_or_init(read).as_ref();
        module.tables = Some(tables.map_err(Clone::clone)?);
        Ok(module)
    }

    /// The same, for those who ask about few methods: a large assembly is not read as a whole.
    pub(crate) fn module_for_few(&self) -> clr_metadata::Result<CoveredModule<'_>> {
        let assembly = Assembly::parse(&self.bytes)?;
        let pdb = match &self.pdb {
            Ok(pdb) => Some(pdb.pdb()?),
            Err(_) => None,
        };
        let marks = self.marks.get_or_init(|| Marks::of(&assembly.metadata));
        Ok(CoveredModule {
            marks: marks.as_ref().map_err(Clone::clone)?,
            tables: None,
            classes: KnownClasses::of(&assembly.metadata),
            assembly,
            pdb,
        })
    }
}

fn mvid(metadata: &Metadata<'_>) -> clr_metadata::Result<[u8; 16]> {
    let row = metadata.rows::<ModuleRow>().next();
    let mvid = row.transpose()?.map(|row| metadata.guid(row.mvid));
    Ok(mvid.transpose()?.flatten().unwrap_or_default())
}

/// The most probes that a body of this size can have: one before each instruction, and less than one for each byte of a branch.
#[cfg(any(test, feature = "profilers"))]
pub(super) fn most_probes(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX).saturating_mul(2)
}

/// The name of the member or type that a token refers to.
type NameOf<'a> = dyn Fn(Token) -> Option<String> + 'a;

/// Whether a local is a variable of the source at an offset.
type IsVariable<'a> = dyn Fn(u16, u32) -> bool + 'a;

/// An assembly with its PDB.
#[derive(Debug)]
pub struct CoveredModule<'a> {
    pub(super) assembly: Assembly<'a>,
    pdb: Option<Pdb<'a>>,
    marks: &'a Marks,
    /// Without them each is looked up.
    tables: Option<&'a Tables>,
    classes: KnownClasses,
}

/// The name of a method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    /// The full name of its type: `Shop.Cart.Line`.
    pub class: String,
    /// The name, with the generic parameters.
    pub name: String,
    /// The types of the parameters, in parentheses.
    pub parameters: String,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.class, self.name, self.parameters)
    }
}

impl<'a> CoveredModule<'a> {
    /// The simple name of the assembly.
    ///
    /// # Errors
    ///
    /// If it has no manifest.
    pub fn name(&self) -> clr_metadata::Result<&'a str> {
        self.assembly.metadata.manifest().map(|of| of.name)
    }

    /// The id of the build.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn mvid(&self) -> clr_metadata::Result<[u8; 16]> {
        mvid(&self.assembly.metadata)
    }

    /// The PDB; `None` with the [reason](ModuleFiles::without_pdb).
    #[must_use]
    pub const fn pdb(&self) -> Option<&Pdb<'a>> {
        self.pdb.as_ref()
    }

    /// The methods with IL.
    pub fn methods(&self) -> impl Iterator<Item = MethodDef> + use<'a> {
        self.assembly.metadata.tokens::<MethodDef>()
    }

    /// The IL of a method; empty if it has none.
    #[cfg(any(test, feature = "profilers"))]
    pub(super) fn body(&self, method: MethodDef) -> Result<&'a [u8], Error> {
        self.assembly.body(method).map(Option::unwrap_or_default)
    }

    /// Whether the assembly has the attribute `ExcludeFromCodeCoverage`.
    #[cfg(feature = "profilers")]
    pub(crate) fn is_left_out(&self) -> bool {
        self.marks.exclude_all()
    }

    /// Whether a method is covered. It is not if it has no IL or no lines, or it, its type, its source method or its assembly has the
    /// attribute `ExcludeFromCodeCoverage`, or the compiler has added it to a record or closure.
    ///
    /// # Errors
    ///
    /// If rows are malformed.
    pub fn covers(&self, method: MethodDef) -> Result<bool, Error> {
        let is_left_out = self.marks.exclude_all()
            || !self.has_il(method)?
            || !self.has_lines(method)?
            || self.is_excluded(method)?;
        Ok(!is_left_out)
    }

    /// Whether a method may be [covered](Self::covers), without a search for the method of the source that it is a part of, and for the
    /// additions of the compiler. The report leaves such methods out; their probes cost less than the search.
    ///
    /// # Errors
    ///
    /// If rows are malformed.
    #[cfg(feature = "profilers")]
    pub(crate) fn may_cover(&self, method: MethodDef) -> Result<bool, Error> {
        let is_left_out = self.marks.exclude_all()
            || !self.has_il(method)?
            || !self.has_lines(method)?
            || self.marks.exclude(method)
            || !self.marks.exclude_nothing() && self.class(self.owner(method)?)?.is_excluded;
        Ok(!is_left_out)
    }

    /// Whether a method has IL. Its body is not looked at.
    fn has_il(&self, method: MethodDef) -> Result<bool, Error> {
        let row = self.assembly.metadata.row(method)?;
        Ok(row.rva != 0 && row.implementation.code_type() == CodeType::IL)
    }

    /// Whether a method has lines, or is covered without: there is no PDB.
    fn has_lines(&self, method: MethodDef) -> Result<bool, Error> {
        let Some(pdb) = &self.pdb else {
            return Ok(true);
        };
        for point in pdb.sequence_points(method)? {
            if point?.span.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The probes of a method; `None` if it is not [covered](Self::covers).
    ///
    /// # Errors
    ///
    /// If rows or bodies are malformed.
    pub fn map(&self, method: MethodDef) -> Result<Option<MethodMap>, Error> {
        if !self.covers(method)? {
            return Ok(None);
        }
        let Some(bytes) = self.assembly.body(method)? else {
            return Ok(None);
        };
        let mut body = MethodBody::new();
        if body.decode_lazily_into(bytes).is_err() {
            return Ok(None);
        }
        self.map_of_code(method, &Code::of(&body)).map(Some)
    }

    /// The probes of a method that is covered, of which the instructions are known.
    fn map_of_code(&self, method: MethodDef, code: &Code) -> Result<MethodMap, Error> {
        self.facts_of_code(method, |points, name, is_variable| {
            MethodMap::of_code(code, points, name, is_variable)
        })
    }

    /// The probes alone of a method that is covered, of which the instructions are known.
    #[cfg(feature = "profilers")]
    pub(crate) fn probes_of_code(
        &self,
        method: MethodDef,
        code: &Code,
    ) -> Result<MethodProbes, Error> {
        match &self.pdb {
            Some(_) => self.facts_of_code(method, |points, name, is_variable| {
                MethodProbes::of_code(code, points, name, is_variable)
            }),
            // Blocks are those of the code alone.
            None => Ok(MethodProbes::of_code(code, None, |_| None, |_, _| false)),
        }
    }

    /// Passes the sequence points of a method to `make`, with the functions that name tokens and know variables.
    fn facts_of_code<T>(
        &self,
        method: MethodDef,
        make: impl FnOnce(Option<&[SequencePoint]>, &NameOf<'_>, &IsVariable<'_>) -> T,
    ) -> Result<T, Error> {
        let points: Option<Vec<SequencePoint>> = match &self.pdb {
            Some(pdb) => Some(pdb.sequence_points(method)?.collect::<Result<_, _>>()?),
            None => None,
        };
        let metadata = &self.assembly.metadata;
        let name = |token: Token| match TypeToken::try_from(token) {
            Ok(class) => Some(metadata.type_name(class).ok()?.name.to_owned()),
            Err(_) => metadata.member_name(token).ok().map(str::to_owned),
        };
        let is_variable = |index, offset| self.is_variable(method, index, offset);
        Ok(make(points.as_deref(), &name, &is_variable))
    }

    /// Whether a local is a variable of the source at an offset.
    fn is_variable(&self, method: MethodDef, index: u16, offset: u32) -> bool {
        let Some(pdb) = &self.pdb else {
            return false;
        };
        let scopes = pdb.local_scopes(method).flatten();
        scopes.filter(|scope| scope.contains(offset)).any(|scope| {
            let mut variables = pdb.local_variables(&scope).flatten();
            variables.any(|variable| variable.index == index && !variable.is_hidden)
        })
    }

    /// Whether a method is left out: it, its type or the method that it is a part of is marked, or it is a member of a record that
    /// no source has.
    fn is_excluded(&self, method: MethodDef) -> Result<bool, Error> {
        let class = self.class(self.owner(method)?)?;
        if self.marks.exclude(method) || class.is_excluded {
            return Ok(true);
        }
        // Of most methods the name is not needed then.
        let has_marks = !self.marks.exclude_nothing() || self.marks.is_generated(method);
        if !has_marks && !class.is_of_compiler {
            return Ok(false);
        }
        let is_whole = self.pdb.is_none()
            && !class.is_of_compiler
            && !sources::is_named_by_compiler(&self.assembly.metadata, method);
        let source = match is_whole {
            true => method,
            false => self.source_method(method),
        };
        if source == method {
            // The constructor of a type that the compiler has made is a part of no method.
            return Ok(class.is_of_compiler || self.is_of_record(method)?);
        }
        Ok(self.marks.exclude(source) || self.class(self.owner(source)?)?.is_excluded)
    }

    /// The type of a method.
    fn owner(&self, method: MethodDef) -> Result<TypeDef, Error> {
        match self.tables.and_then(|of| of.sources.owner(method)) {
            Some(class) => Ok(class),
            None => self.assembly.metadata.method_owner(method),
        }
    }

    pub(super) fn class(&self, class: TypeDef) -> Result<Class, Error> {
        match self.tables {
            Some(of) => Ok(of.classes.get(class)),
            None => {
                let metadata = &self.assembly.metadata;
                let find = || Class::of(metadata, self.marks, class);
                self.classes.get(class, find)
            }
        }
    }

    /// Whether the compiler has made a method of the parameters of a record: the accessors of its properties.
    fn is_of_record(&self, method: MethodDef) -> Result<bool, Error> {
        let metadata = &self.assembly.metadata;
        if !self.marks.is_generated(method) {
            return Ok(false);
        }
        let class = self.owner(method)?;
        for one in metadata.methods(class) {
            let name = metadata.member_name(one)?;
            if name == "<Clone>$" || name == "PrintMembers" {
                return self.is_at_parameter(method, class);
            }
        }
        Ok(false)
    }

    /// Whether an accessor has its line in the list of parameters of the record: that of the constructor.
    fn is_at_parameter(&self, method: MethodDef, class: TypeDef) -> Result<bool, Error> {
        let Some(pdb) = &self.pdb else {
            return Ok(false);
        };
        let span_of = |method| -> Result<_, Error> {
            let first = pdb.sequence_points(method)?.find_map(|point| {
                let point = point.ok()?;
                Some((point.document, point.span?))
            });
            Ok(first)
        };
        let Some((document, own)) = span_of(method)? else {
            return Ok(false);
        };
        for one in self.assembly.metadata.methods(class) {
            if self.assembly.metadata.member_name(one)? != ".ctor" {
                continue;
            }
            if let Some((of, whole)) = span_of(one)?
                && of == document
                && (whole.start_line, whole.start_column) <= (own.start_line, own.start_column)
                && (own.end_line, own.end_column) <= (whole.end_line, whole.end_column)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The method in whose source a method is: of a state machine, a lambda or a local function the method around it.
    #[must_use]
    pub fn source_method(&self, method: MethodDef) -> MethodDef {
        let mut at = method;
        for _ in 0..DEPTH {
            match self.continued_method(at) {
                Some(next) if next != at => at = next,
                _ => break,
            }
        }
        at
    }

    /// The method that a method is directly a part of.
    pub(super) fn continued_method(&self, method: MethodDef) -> Option<MethodDef> {
        if let Some(of) = self.tables {
            return of.sources.get(method);
        }
        let class = self.owner(method).ok()?;
        let is_of_compiler = |class| self.class(class).is_ok_and(|of| of.is_of_compiler);
        let of = (&self.assembly.metadata, self.pdb.as_ref());
        Sources::one(of, &is_of_compiler, class, method)
    }

    /// The name of a method, as its source has it.
    ///
    /// # Errors
    ///
    /// If a row, name or signature is malformed.
    pub fn method_name(&self, method: MethodDef) -> Result<MethodName, Error> {
        let metadata = &self.assembly.metadata;
        let class = TypeToken::from(metadata.method_owner(method)?);
        let signature = metadata.method_signature(method)?;
        let names = Names(metadata);
        let parameters = signature.display_parameters(&names);
        Ok(MethodName {
            class: plain(&metadata.full_name(class)?),
            name: metadata.member_name(method)?.to_owned(),
            parameters: parameters.to_string(),
        })
    }

    /// The paths of the source files, by their tokens.
    #[must_use]
    pub fn documents(&self) -> HashMap<clr_metadata::token::Document, String> {
        let Some(pdb) = &self.pdb else {
            return HashMap::new();
        };
        let documents = pdb.documents().flatten();
        documents
            .filter_map(|document| Some((document.token(), document.name().ok()?)))
            .collect()
    }
}

/// A name of the metadata as in source: without the numbers of generic parameters.
fn plain(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut characters = name.chars().peekable();
    while let Some(one) = characters.next() {
        match one {
            '`' => while characters.next_if(char::is_ascii_digit).is_some() {},
            '/' => text.push('.'),
            other => text.push(other),
        }
    }
    text
}

/// The names of types in signatures.
struct Names<'m, 'a>(&'m Metadata<'a>);

impl TypeNames for Names<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.0.type_name(token) {
            Ok(name) => out.write_str(&plain(name.name)),
            Err(_) => write!(out, "{token}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_metadata_become_those_of_source() {
        assert_eq!(plain("Shop.Cart`1/Line`12"), "Shop.Cart.Line");
        assert_eq!(plain("Shop.Cart"), "Shop.Cart");
    }
}
