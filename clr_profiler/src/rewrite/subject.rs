//! [`Subject`]: the method that is rewritten.

use std::cell::OnceCell;

use crate::error::Result;
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::metadata::{
    Instantiation, Metadata, MetadataImport, MethodProps, method_name, plain_method_name,
};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::signature::MethodSig;
use clr_profiler_il::token::MethodDef;

/// A method of a module, with its metadata.
pub(super) struct Subject<'a> {
    pub(super) info: &'a ProfilerInfo,
    pub(super) module: ModuleId,
    pub(super) method: MethodDef,
    pub(super) props: MethodProps,
    pub(super) signature: MethodSig,
    /// Without the additions of the rewrite.
    pub(super) metadata: Metadata<'a>,
    name: OnceCell<String>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(info: &'a ProfilerInfo, module: ModuleId, method: MethodDef) -> Result<Self> {
        let metadata = info.module_metadata(module)?;
        let props = metadata.method_props(method)?;
        Self::with_props(info, module, metadata, method, props)
    }

    /// A method that will be added to the module, and has no token yet.
    pub(super) fn planned(
        info: &'a ProfilerInfo,
        module: ModuleId,
        props: MethodProps,
    ) -> Result<Self> {
        let metadata = info.module_metadata(module)?;
        Self::with_props(info, module, metadata, MethodDef::NIL, props)
    }

    fn with_props(
        info: &'a ProfilerInfo,
        module: ModuleId,
        metadata: Metadata<'a>,
        method: MethodDef,
        props: MethodProps,
    ) -> Result<Self> {
        Ok(Self {
            info,
            module,
            method,
            signature: props.signature()?,
            props,
            metadata,
            name: OnceCell::new(),
        })
    }

    /// The full name.
    pub(super) fn name(&self) -> &str {
        self.name.get_or_init(|| {
            if let Some(name) = plain_method_name(&self.metadata, self.method) {
                return name;
            }
            let instantiation = Instantiation::default();
            let name = method_name(&self.metadata, self.method, &self.props, instantiation);
            name.unwrap_or_else(|_| unnamed(self.module, self.method))
        })
    }

    /// The body that the runtime has now.
    pub(super) fn current_body(&self) -> Result<Vec<u8>> {
        let props = &self.props;
        match NotInstrumentable::without_il(props.attributes, props.implementation, props.rva) {
            None => self.info.il_function_body(self.module, self.method),
            // A method without an address in the image may have got its body at run time.
            Some(reason @ NotInstrumentable::Extern) => self
                .info
                .il_function_body(self.module, self.method)
                .map_err(|_| reason.into()),
            Some(reason) => Err(reason.into()),
        }
    }
}

/// The placeholder name of a method.
pub(super) fn unnamed(module: ModuleId, method: MethodDef) -> String {
    format!("the method {method} of the module {:#x}", module.raw())
}
