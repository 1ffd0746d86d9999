//! [`OfflineContext`]: the method of a file whose body is edited.

use std::cell::RefCell;
use std::fmt;

use clr_metadata::rows::GenericParamRow;
use clr_profiler::Result;
use clr_profiler_il::attributes::{MethodAttributes, MethodImplAttributes};
use clr_profiler_il::metadata::{Importer, MetadataResolver, TokenCache};
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::token::{MethodDef, TypeDef};

use super::module::Module;

/// The method whose body is edited, and its file.
///
/// Its functions have the names and signatures of those of `clr_profiler::rewrite::RewriteContext`, so that the same code
/// edits here and in a profiler; those that need a runtime are missing.
pub struct OfflineContext<'a> {
    pub(super) module: &'a Module<'a>,
    pub(super) resolver: MetadataResolver<'a, Module<'a>>,
    pub(super) tokens: &'a RefCell<TokenCache>,
    pub(super) token: MethodDef,
    pub(super) name: String,
    pub(super) props: OfflineProps,
    pub(super) signature: MethodSig,
}

/// Name, attributes and flags of a method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OfflineProps {
    /// The type that declares it.
    pub class: TypeDef,
    /// The simple name.
    pub name: String,
    /// Access, `static` and so on.
    pub attributes: MethodAttributes,
    /// The kind of the code.
    pub implementation: MethodImplAttributes,
}

impl<'a> OfflineContext<'a> {
    /// The method in its metadata.
    #[must_use]
    pub fn token(&self) -> MethodDef {
        self.token
    }

    /// The full name, such as `Shop.Store.Sell(string, int)`; generic parameters by their names.
    #[must_use]
    pub fn full_name(&self) -> &str {
        &self.name
    }

    /// The simple name of the assembly.
    #[must_use]
    pub fn assembly(&self) -> &str {
        self.module.own()
    }

    /// Name, attributes and flags.
    #[must_use]
    pub fn props(&self) -> &OfflineProps {
        &self.props
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self) -> &MethodSig {
        &self.signature
    }

    /// The type that declares the method; of a generic type, the instance over its own parameters.
    ///
    /// # Errors
    ///
    /// None; as in a profiler.
    pub fn this_type(&self) -> Result<TypeSig> {
        let class = self.props.class;
        let rows = self.module.metadata.rows::<GenericParamRow>().flatten();
        let count = rows
            .filter(|row| row.owner.token() == class.token())
            .count();
        Ok(self
            .resolver
            .own_instance(class, u32::try_from(count).unwrap_or(0)))
    }

    clr_profiler::__edit_context!('a);

    /// Lets the code refer to an assembly that the file does not refer to.
    ///
    /// # Errors
    ///
    /// If the metadata has no room for more rows.
    pub fn assume_loadable(&mut self, assembly: &str) -> Result<()> {
        self.module.assume(assembly).map(|_| ())
    }

    /// Has no effect: a file has no map of offsets.
    pub fn map_offsets(&mut self, _map: bool) -> &mut Self {
        self
    }

    fn importing<R>(
        &self,
        import: impl FnOnce(&mut Importer<'_, &Module<'a>>) -> Result<R>,
    ) -> Result<R> {
        let mut tokens = self.tokens.borrow_mut();
        import(&mut Importer::new(self.module, &mut tokens))
    }
}

impl fmt::Debug for OfflineContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OfflineContext").field(&self.name).finish()
    }
}
