//! [`IlNames`]: the names of a module's tokens and the lines of a method, for listings and errors.

use std::fmt;

use crate::error::Result;
use crate::info::method::Method;
#[cfg(feature = "lines")]
use crate::lines::ModulePdb;
use crate::metadata::{Metadata, operand_name};
use clr_profiler_il::edit::OffsetPair;
use clr_profiler_il::symbol::Names;
use clr_profiler_il::token::{MethodDef, Token};

use super::subject::Subject;

/// The names of the tokens in the IL of a method, and with a PDB the lines of its source.
///
/// For [`MethodBody::named`](crate::il::body::MethodBody::named), [`BodyDiff::named`](crate::il::text::BodyDiff::named) and
/// [`Violation::named`](crate::il::verify::Violation::named). From [`Method::il_names`].
pub struct IlNames<'a> {
    metadata: Source<'a>,
    method: MethodDef,
    #[cfg(feature = "lines")]
    pdb: Option<ModulePdb>,
    map: Vec<OffsetPair>,
    is_original: bool,
}

enum Source<'a> {
    Own(Metadata<'a>),
    Borrowed(&'a Metadata<'a>),
}

impl fmt::Debug for IlNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IlNames({})", self.method)
    }
}

impl Method<'_> {
    /// The names of the tokens in the IL of the method, and with a PDB the lines of its source.
    ///
    /// Lines are those of the offsets in the original body, [`Rewritten::before`](super::Rewritten::before). Use
    /// [`without_lines`](IlNames::without_lines) for the body after a rewrite.
    ///
    /// Calls of the metadata interfaces name the tokens. **Context**: any callback, but not during a collection.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo::module_metadata`](crate::info::CorProfilerInfo::module_metadata).
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let method = info.method(function)?;
    /// let rewritten = method.rewrite(|_, _| Ok(()))?;
    /// let names = method.il_names()?;
    /// eprintln!("{}", rewritten.before().map_err(Error::other)?.named(&names));
    /// // IL_0005:  call       System.Console.WriteLine(string)
    /// # Ok(())
    /// # }
    /// ```
    pub fn il_names(&self) -> Result<IlNames<'_>> {
        Ok(IlNames {
            metadata: Source::Own(self.metadata()?),
            method: self.token(),
            #[cfg(feature = "lines")]
            pdb: self.info().optional_pdb(self.module()).ok().flatten(),
            map: Vec::new(),
            is_original: true,
        })
    }
}

impl IlNames<'_> {
    /// The names alone.
    #[must_use]
    pub fn without_lines(mut self) -> Self {
        self.is_original = false;
        self
    }
}

impl<'a> IlNames<'a> {
    /// The names in a new body of a method, whose offsets the map has.
    pub(super) fn of_new(
        subject: &Subject<'_>,
        metadata: &'a Metadata<'a>,
        map: Vec<OffsetPair>,
    ) -> Self {
        Self {
            metadata: Source::Borrowed(metadata),
            method: subject.method,
            // An error of the PDB is no reason to hide the error of the rewrite.
            #[cfg(feature = "lines")]
            pdb: match subject.method.is_nil() {
                true => None,
                false => subject.info.optional_pdb(subject.module).ok().flatten(),
            },
            map,
            is_original: false,
        }
    }

    fn metadata(&self) -> &Metadata<'a> {
        match &self.metadata {
            Source::Own(metadata) => metadata,
            Source::Borrowed(metadata) => metadata,
        }
    }

    /// The offset in the original body of an instruction that is in both.
    fn original(&self, il_offset: u32) -> Option<u32> {
        if self.is_original {
            return Some(il_offset);
        }
        let pair = self
            .map
            .iter()
            .find(|pair| pair.new == il_offset && pair.is_exact);
        pair.map(|pair| pair.old)
    }
}

impl Names for IlNames<'_> {
    fn name(&self, token: Token) -> Option<String> {
        operand_name(self.metadata(), token, self.method).ok()
    }

    #[cfg(feature = "lines")]
    fn source(&self, il_offset: u32) -> Option<String> {
        let pdb = self.pdb.as_ref()?;
        let offset = self.original(il_offset)?;
        let location = pdb.location(self.method, offset).ok()??;
        // Once, where it begins.
        let begins = match offset.checked_sub(1) {
            Some(before) => pdb.location(self.method, before).ok()? != Some(location.clone()),
            None => true,
        };
        begins.then(|| location.to_string())
    }

    #[cfg(not(feature = "lines"))]
    fn source(&self, il_offset: u32) -> Option<String> {
        let _ = self.original(il_offset);
        None
    }
}
