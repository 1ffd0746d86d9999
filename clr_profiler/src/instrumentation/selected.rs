//! [`SelectedMethod`]: a method that rules select.

use std::fmt;

use crate::error::Result;
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::info::method_facts::MethodDefinition;
use crate::metadata::{Instantiation, method_name};
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::token::MethodDef;

/// A method that rules select, before they change it: for [`Instrumentation::except`](super::Instrumentation::except).
pub struct SelectedMethod<'a> {
    definition: &'a MethodDefinition<'a>,
}

impl<'a> SelectedMethod<'a> {
    pub(super) fn new(definition: &'a MethodDefinition<'a>) -> Self {
        Self { definition }
    }

    /// The module that defines it.
    #[must_use]
    pub fn module(&self) -> ModuleId {
        self.definition.module
    }

    /// Its token.
    #[must_use]
    pub fn token(&self) -> MethodDef {
        self.definition.token
    }

    /// The full name, as patterns and reports have it.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn full_name(&self) -> Result<String> {
        let MethodDefinition {
            metadata,
            token,
            props,
            ..
        } = self.definition;
        method_name(metadata, *token, props, Instantiation::default())
    }

    /// The indices of the patterns that match it, as [`MethodPatterns::matching`] has them.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn matching(&self, patterns: &MethodPatterns) -> Result<Vec<usize>> {
        patterns.matching(self.definition)
    }

    /// The original IL, with its header.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn il_body(&self) -> Result<Vec<u8>> {
        let MethodDefinition {
            info,
            module,
            token,
            ..
        } = self.definition;
        info.il_function_body(*module, *token)
    }
}

impl fmt::Debug for SelectedMethod<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectedMethod")
            .field("module", &self.definition.module)
            .field("token", &self.definition.token)
            .finish_non_exhaustive()
    }
}
