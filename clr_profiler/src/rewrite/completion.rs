//! Decides when the work of a method is complete: [`RewriteContext::completion`].

use clr_profiler_il::attributes::MethodImplAttributes;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::completion::{Completion, CompletionContext};
use clr_profiler_il::metadata::Tables;
use clr_profiler_il::signature::MethodSig;
use clr_profiler_il::symbol::Resolver;
use clr_profiler_il::token::{AssemblyRef, TypeDef, TypeRef, TypeToken};

use super::RewriteContext;
use super::lookup::Lookup;
use crate::error::{Error, Result};
use crate::metadata::MetadataImport;

impl RewriteContext<'_> {
    /// When the work of the method is complete, as far as its signature, its attributes and its own body
    /// show. Inserted code that measures the method should not end before.
    ///
    /// `body` is that of the method, unchanged.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::rewrite::Completion;
    /// use clr_profiler::il::wrap::Wrap;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let wrap = match cx.completion(body)? {
    ///         Completion::Task(followed) => {
    ///             let completes = followed.method("[Helper]Tracer", "Completes", "string");
    ///             let name = cx.full_name().to_owned();
    ///             Wrap::new().replace_result(move |code, _, result| {
    ///                 code.ldstr(&name).ldloc(result).call(&completes);
    ///             })
    ///         }
    ///         _ => Wrap::new(),
    ///     };
    ///     body.wrap(&wrap, &cx.shape()?)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn completion(&mut self, body: &MethodBody) -> Result<Completion> {
        Completion::of(self, body)
    }
}

impl CompletionContext for RewriteContext<'_> {
    type Error = Error;

    fn signature(&self) -> &MethodSig {
        self.signature()
    }

    fn implementation(&self) -> MethodImplAttributes {
        self.props().implementation
    }

    fn name(&self) -> &str {
        &self.props().name
    }

    fn resolver(&self) -> &dyn Resolver {
        self.resolver()
    }

    fn is_core_library(&self) -> bool {
        self.module_metadata.is_core_library()
    }

    fn type_def_name(&self, class: TypeDef) -> Result<String> {
        Ok(self.subject.metadata.type_def_props(class)?.name)
    }

    fn type_ref_name(&self, class: TypeRef) -> Result<Option<(String, String)>> {
        let metadata = &self.subject.metadata;
        let props = metadata.type_ref_props(class)?;
        let Ok(assembly) = AssemblyRef::try_from(props.resolution_scope) else {
            return Ok(None);
        };
        Ok(Some((metadata.assembly_ref_name(assembly)?, props.name)))
    }

    fn has_attribute(&self, name: &str) -> Result<bool> {
        let attribute = self
            .subject
            .metadata
            .custom_attribute_by_name(self.token(), name);
        Ok(attribute?.is_some())
    }

    fn has_awaiter(&self, class: TypeToken) -> bool {
        let found = Lookup::of(self.info()).in_type(self.module(), class, |definition| {
            let methods = definition
                .metadata
                .methods_with_name(definition.class, "GetAwaiter");
            Some(methods.ok()?.next().is_some())
        });
        found.unwrap_or(false)
    }
}
