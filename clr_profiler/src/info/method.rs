//! [`Method`], a method with its names and its IL.

use super::names::class_names;
use super::{CorProfilerInfo, CorProfilerInfo2, FunctionInfo2, ProfilerInfo};
use crate::error::Result;
use crate::ids::{FunctionId, ModuleId};
use crate::metadata::method_name;
use crate::metadata::{Instantiation, Metadata, MetadataImport, MethodProps};
use clr_profiler_il::token::MethodDef;

/// The method that a function is an instance of.
///
/// From [`ProfilerInfo::method`]. Its methods may be called from every callback, but not during a
/// collection.
#[derive(Debug)]
pub struct Method<'info> {
    info: &'info ProfilerInfo,
    function: FunctionId,
    facts: FunctionInfo2,
}

impl<'info> Method<'info> {
    pub(super) fn of(info: &'info ProfilerInfo, function: FunctionId) -> Result<Self> {
        let facts = info.function_info2(function)?;
        Ok(Self {
            info,
            function,
            facts,
        })
    }

    pub(crate) fn info(&self) -> &'info ProfilerInfo {
        self.info
    }

    /// The function.
    #[must_use]
    pub fn function(&self) -> FunctionId {
        self.function
    }

    /// The module that defines the method.
    #[must_use]
    pub fn module(&self) -> ModuleId {
        self.facts.module
    }

    /// The method in the metadata of that module.
    #[must_use]
    pub fn token(&self) -> MethodDef {
        self.facts.token
    }

    /// The metadata of the module.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo::module_metadata`].
    pub fn metadata(&self) -> Result<Metadata<'info>> {
        self.info.module_metadata(self.module())
    }

    /// The name, signature and attributes.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn props(&self) -> Result<MethodProps> {
        self.metadata()?.method_props(self.token())
    }

    /// The name alone, such as `Add`.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn name(&self) -> Result<String> {
        Ok(self.props()?.name)
    }

    /// The name with namespace, type, generic arguments and parameter types, such as
    /// `Shop.Cart<int>+Line.Add<T>(string, int[])`.
    ///
    /// Generic arguments are those of this function if the runtime knows them, otherwise the names of the
    /// parameters.
    ///
    /// # Errors
    ///
    /// The error of the native call; an error for a malformed signature.
    pub fn full_name(&self) -> Result<String> {
        let metadata = self.metadata()?;
        let props = metadata.method_props(self.token())?;
        let type_arguments = match self.facts.class {
            // Unknown arguments are no reason to fail: the names of the parameters replace them.
            Some(class) => self
                .info
                .class_id_info2(class)
                .map(|class| class.type_arguments),
            None => Ok(Vec::new()),
        };
        let instantiation = Instantiation {
            type_arguments: class_names(self.info, &type_arguments.unwrap_or_default(), 0),
            method_arguments: class_names(self.info, &self.facts.type_arguments, 0),
        };
        method_name(&metadata, self.token(), &props, instantiation)
    }

    /// The simple name of the assembly that defines the method.
    ///
    /// # Errors
    ///
    /// The error of the native call; another error while the assembly is being loaded.
    pub fn assembly_name(&self) -> Result<String> {
        match self.info.module_info(self.module())?.assembly {
            Some(assembly) => Ok(self.info.assembly_info(assembly)?.name),
            None => Ok(self.metadata()?.scope_props()?.name),
        }
    }

    /// The current method body.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo::il_function_body`].
    pub fn il_body(&self) -> Result<Vec<u8>> {
        self.info.il_function_body(self.module(), self.token())
    }

    /// Replaces the method body, from the next compilation on.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo::set_il_function_body`].
    #[cfg(feature = "rewrite")]
    pub fn set_il_body(&self, body: &[u8]) -> Result<()> {
        self.info
            .set_il_function_body(self.module(), self.token(), body)
    }
}
