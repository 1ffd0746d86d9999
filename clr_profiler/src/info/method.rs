//! [`Method`], a method with its names and its IL.

use std::sync::OnceLock;

#[cfg(feature = "patterns")]
use super::method_facts::{Known, MethodDefinition};
use super::names::{self, class_names};
use super::{CorProfilerInfo, CorProfilerInfo2, FunctionInfo2, ProfilerInfo};
use crate::error::{Error, Result};
use crate::ids::{ClassId, FunctionId, ModuleId};
use crate::metadata::method_name;
use crate::metadata::{
    Instantiation, Metadata, MetadataImport, MethodProps, parameter_types, plain_method_name,
    type_def_name,
};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The method that a function is an instance of.
///
/// From [`ProfilerInfo::method`]. Its methods may be called from every callback, but not during a
/// collection. Patterns, [`MethodPattern`](crate::il::pattern::MethodPattern), are matched with it.
#[derive(Debug)]
pub struct Method<'info> {
    info: &'info ProfilerInfo,
    function: FunctionId,
    facts: FunctionInfo2,
    /// The first answer: patterns ask for several of its fields.
    props: OnceLock<MethodProps>,
}

impl<'info> Method<'info> {
    pub(super) fn of(info: &'info ProfilerInfo, function: FunctionId) -> Result<Self> {
        let facts = info.function_info2(function)?;
        Ok(Self {
            info,
            function,
            facts,
            props: OnceLock::new(),
        })
    }

    pub(super) fn facts(&self) -> &FunctionInfo2 {
        &self.facts
    }

    pub(super) fn known_props(&self) -> Result<&MethodProps> {
        match self.props.get() {
            Some(props) => Ok(props),
            None => {
                let props = self.props()?;
                Ok(self.props.get_or_init(|| props))
            }
        }
    }

    #[cfg(feature = "patterns")]
    pub(crate) fn definition(&self) -> Result<MethodDefinition<'info>> {
        Ok(MethodDefinition {
            info: self.info,
            module: self.module(),
            metadata: self.metadata()?,
            token: self.token(),
            props: self.known_props()?.clone(),
            known: Known::default(),
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

    /// The type that declares the method, in the metadata of its module.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn declaring_type(&self) -> Result<TypeDef> {
        let class = self.known_props()?.class;
        // Metadata has no type for global methods, but the first row is theirs.
        match class.is_nil() {
            true => TypeDef::from_row(1).ok_or_else(|| Error::other("there is no `<Module>`")),
            false => Ok(class),
        }
    }

    /// The name of the declaring type with namespace, enclosing types and generic arguments, such as
    /// `Shop.Cart<int>+Line`.
    ///
    /// Generic arguments are those of [`full_name`](Self::full_name). The type of global methods is `<Module>`.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn type_name(&self) -> Result<String> {
        let metadata = self.metadata()?;
        let class = self.declaring_type()?;
        let known = class_names(self.info, &self.type_arguments(), 0);
        let names = crate::metadata::parameter_names(&metadata, class.into())?;
        let arguments = if known.len() == names.len() {
            known
        } else {
            names
        };
        type_def_name(&metadata, class, &arguments)
    }

    /// The namespace of the declaring type, or of the outermost type around it; empty for the global one.
    ///
    /// # Errors
    ///
    /// The error of the native call.
    pub fn namespace(&self) -> Result<String> {
        let path = names::type_path(&self.metadata()?, self.declaring_type()?)?;
        let outermost = path.split('+').next().unwrap_or_default();
        let namespace = outermost.rsplit_once('.').map(|(namespace, _)| namespace);
        Ok(namespace.unwrap_or_default().to_owned())
    }

    /// The types of the parameters as they are declared, such as `string`, `T` and `int&`.
    ///
    /// # Errors
    ///
    /// The error of the native call; an error for a malformed signature.
    pub fn parameter_types(&self) -> Result<Vec<String>> {
        parameter_types(&self.metadata()?, self.token(), self.known_props()?)
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
        if let Some(name) = plain_method_name(&metadata, self.token()) {
            return Ok(name);
        }
        let props = metadata.method_props(self.token())?;
        let instantiation = Instantiation {
            type_arguments: class_names(self.info, &self.type_arguments(), 0),
            method_arguments: class_names(self.info, &self.facts.type_arguments, 0),
        };
        method_name(&metadata, self.token(), &props, instantiation)
    }

    /// The generic arguments of the declaring type, as far as they are known.
    pub(super) fn type_arguments(&self) -> Vec<ClassId> {
        let Some(class) = self.facts.class else {
            return Vec::new();
        };
        // Unknown arguments are no reason to fail: the names of the parameters replace them.
        let class = self.info.class_id_info2(class);
        class.map(|class| class.type_arguments).unwrap_or_default()
    }

    /// The names of the generic arguments of the declaring type, as far as they are known.
    #[cfg(feature = "lines")]
    pub(crate) fn type_argument_names(&self) -> Vec<String> {
        class_names(self.info, &self.type_arguments(), 0)
    }

    /// The simple name of the assembly that defines the method.
    ///
    /// # Errors
    ///
    /// The error of the native call; another error while the assembly is being loaded.
    pub fn assembly_name(&self) -> Result<String> {
        names::assembly_name(self.info, self.module(), &self.metadata()?)
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
