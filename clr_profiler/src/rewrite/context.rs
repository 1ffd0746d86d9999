//! [`RewriteContext`]: the method whose body is edited, for the code that edits it.

use super::import::Importer;
use super::module_metadata::ModuleMetadata;
use super::store::Module;
use super::subject::Subject;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::info::method_facts::{Known, MethodDefinition};
use crate::metadata::{Metadata, MetadataImport, MetadataImport2, MethodProps};
use crate::runtime::{ProfilerInfo, lock};
use clr_profiler_il::metadata::MetadataResolver;
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// The functions of a context of edits that follow from its `token`, `props`, `signature`, `this_type`, `resolver` and
/// `importing`: those of [`RewriteContext`], and of the context of `clr_profiler_test`, in which the same code edits files.
#[doc(hidden)]
#[macro_export]
macro_rules! __edit_context {
    ($a:lifetime) => {
        /// The properties of the method that `MethodBody::wrap` needs.
        ///
        /// # Errors
        ///
        /// That the method cannot be wrapped.
        pub fn shape(&self) -> $crate::Result<$crate::il::wrap::MethodShape<'_>> {
            let props = self.props();
            let shape = $crate::il::wrap::MethodShape::new(self.signature())
                .implementation(props.implementation)?;
            let is_constructor = props.name == ".ctor"
                && !props.attributes.is_static()
                && !self.resolver.is_in_value_type(props.class.into());
            Ok(if is_constructor {
                shape.constructor(&self.resolver)
            } else {
                shape
            })
        }

        /// Resolves the tokens of the module.
        #[must_use]
        pub fn resolver(&self) -> &(dyn $crate::il::symbol::Resolver + $a) {
            &self.resolver
        }

        /// The token of a type in this module, such as `[System.Runtime]System.Exception`; a missing reference is
        /// added to the metadata.
        ///
        /// `[corelib]` is the core library, by the name by which the module refers to it. That may be a
        /// facade, `netstandard` or `mscorlib`: a type that is newer than the facade is referred to in the
        /// assembly that defines it.
        ///
        /// # Errors
        ///
        /// A mistake in the text, or an error of the metadata.
        pub fn import_type(&mut self, name: &str) -> $crate::Result<$crate::il::token::TypeToken> {
            use $crate::il::symbol::TokenSource as _;
            self.importing(|importer| {
                let token = importer.type_token(&$crate::il::symbol::TypeSymbol::new(name))?;
                $crate::il::token::TypeToken::try_from(token).map_err($crate::Error::other)
            })
        }

        /// A type in terms of this module, for locals and signatures: ``class [corelib]System.Exception``,
        /// `int[]`.
        ///
        /// # Errors
        ///
        /// A mistake in the text, or an error of the metadata.
        pub fn type_sig(&mut self, text: &str) -> $crate::Result<$crate::il::signature::TypeSig> {
            self.importing(|importer| importer.type_sig(text))
        }

        /// The type that declares the method, as the owner in symbols; of a generic type, the instance over its
        /// own parameters. For this module alone.
        ///
        /// # Errors
        ///
        /// An error of the metadata.
        pub fn own_type(&self) -> $crate::Result<$crate::il::symbol::TypeSymbol> {
            Ok($crate::il::symbol::TypeSymbol::new(
                &self
                    .this_type()?
                    .text(&$crate::il::signature::TokenNames)
                    .to_string(),
            ))
        }

        /// A field of the type that declares the method. Its type is in terms of the type's parameters: `!0[]`.
        ///
        /// # Errors
        ///
        /// An error of the metadata.
        ///
        /// ```
        /// # use clr_profiler::prelude::*;
        /// use clr_profiler::il::fragment::Fragment;
        ///
        /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
        /// // In `class Box<T> { static int count; ... }`:
        /// info.method(function)?.rewrite(|body, cx| {
        ///     let count = cx.own_field("count", "int")?;
        ///     body.prologue(Fragment::new().ldsfld(&count).ldc_i4(1).add().stsfld(&count))?;
        ///     Ok(())
        /// })?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn own_field(
            &self,
            name: &str,
            field_type: &str,
        ) -> $crate::Result<$crate::il::symbol::FieldSymbol> {
            Ok($crate::il::symbol::FieldSymbol {
                owner: self.own_type()?,
                name: name.into(),
                field_type: field_type.into(),
            })
        }

        /// A method of the type that declares this one. Its signature is in terms of the type's parameters, and
        /// `type_arguments` are the arguments for its own: those of this method are `!!0` and so on.
        ///
        /// # Errors
        ///
        /// An error of the metadata.
        pub fn own_method(
            &self,
            name: &str,
            signature: &str,
            type_arguments: &[&str],
        ) -> $crate::Result<$crate::il::symbol::MethodSymbol> {
            Ok($crate::il::symbol::MethodSymbol {
                owner: self.own_type()?,
                name: name.into(),
                signature: signature.into(),
                type_arguments: type_arguments.iter().map(|&text| text.into()).collect(),
            })
        }

        /// The token by which the method refers to itself, for `ldtoken` or a recursive call; of generic code,
        /// the same instance.
        ///
        /// # Errors
        ///
        /// An error of the metadata.
        pub fn own_token(&mut self) -> $crate::Result<$crate::il::token::Token> {
            let this = self.this_type()?;
            let (token, props, signature) = (self.token(), self.props(), self.signature());
            self.importing(|importer| {
                let method = match &this {
                    $crate::il::signature::TypeSig::GenericInstance { .. } => {
                        importer.member_of(this, &props.name, signature)?
                    }
                    _ => token.into(),
                };
                match signature.generic_parameter_count {
                    0 => Ok(method),
                    count => importer.instance(
                        method,
                        (0..count)
                            .map($crate::il::signature::TypeSig::MVar)
                            .collect(),
                    ),
                }
            })
        }

        /// The type of the value that `ret` takes. Of a runtime-async method, it differs from the one in the
        /// signature.
        ///
        /// # Errors
        ///
        /// That the method is a runtime-async one whose return type such methods cannot have.
        pub fn return_type(&self) -> $crate::Result<$crate::il::signature::TypeSig> {
            let shape = $crate::il::wrap::MethodShape::new(self.signature());
            let shape = shape.implementation(self.props().implementation)?;
            Ok(shape.return_type().clone())
        }

        /// The token of a type as an operand, such as that of `box`: of a primitive, the type of the core
        /// library; of instances of generic types, arrays and parameters, a `TypeSpec`.
        ///
        /// # Errors
        ///
        /// An error of the metadata.
        pub fn type_operand(
            &mut self,
            type_sig: &$crate::il::signature::TypeSig,
        ) -> $crate::Result<$crate::il::token::TypeToken> {
            self.importing(|importer| importer.operand_of(type_sig.clone()))
        }

        /// The token of a method in this module; a missing reference is added to the metadata.
        ///
        /// # Errors
        ///
        /// A mistake in the text, or an error of the metadata.
        pub fn import_method(
            &mut self,
            method: &$crate::il::symbol::MethodSymbol,
        ) -> $crate::Result<$crate::il::token::Token> {
            use $crate::il::symbol::TokenSource as _;
            self.importing(|importer| importer.method(method))
        }
    };
}

/// The method whose body is being edited, and its module.
///
/// Code that edits seldom needs tokens: fragments hold symbols, which become tokens of the module when the
/// body is encoded. Locals are the exception, because their types are in terms of the module:
/// [`import_type`](Self::import_type).
pub struct RewriteContext<'a> {
    pub(super) module_metadata: &'a ModuleMetadata<'a>,
    pub(super) module: &'a Module,
    pub(super) resolver: MetadataResolver<'a, ModuleMetadata<'a>>,
    pub(super) subject: &'a Subject<'a>,
    pub(super) map_offsets: bool,
}

impl<'a> RewriteContext<'a> {
    /// Refuses edits that need tokens which the module lacks.
    pub(crate) fn refuse_new_tokens(&self) {
        self.module_metadata.close();
    }

    /// The runtime.
    #[must_use]
    pub fn info(&self) -> &'a ProfilerInfo {
        self.module_metadata.info()
    }

    /// The module that defines the method.
    #[must_use]
    pub fn module(&self) -> ModuleId {
        self.module_metadata.module()
    }

    /// The method in its metadata.
    #[must_use]
    pub fn token(&self) -> MethodDef {
        self.subject.method
    }

    /// The full name; generic parameters by their names, because all instances share the body.
    #[must_use]
    pub fn full_name(&self) -> &'a str {
        self.subject.name()
    }

    /// Name, attributes and flags.
    #[must_use]
    pub fn props(&self) -> &'a MethodProps {
        &self.subject.props
    }

    /// The signature.
    #[must_use]
    pub fn signature(&self) -> &'a MethodSig {
        &self.subject.signature
    }

    /// The type that declares the method, in terms of this module; of a generic type, the instance over its
    /// own parameters, ``Cart`1<!0>``.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn this_type(&self) -> Result<TypeSig> {
        own_instance(&self.resolver, &self.subject.metadata, self.props().class)
    }

    crate::__edit_context!('a);

    /// The indices of the patterns that match the method, as
    /// [`MethodPatterns::matching`](clr_profiler_il::pattern::MethodPatterns::matching) has them, for edits that depend on the pattern.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn matching(&self, patterns: &MethodPatterns) -> Result<Vec<usize>> {
        patterns.matching(&MethodDefinition {
            info: self.info(),
            module: self.module(),
            metadata: self.info().module_metadata(self.module())?,
            token: self.token(),
            props: self.props().clone(),
            known: Known::default(),
        })
    }

    /// The names of the parameters, without `this`; `None` for one without a name.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn parameter_names(&self) -> Result<Vec<Option<String>>> {
        let mut names = vec![None; self.signature().params.len()];
        let metadata = self.info().module_metadata(self.module())?;
        for parameter in metadata.params(self.token()) {
            let props = metadata.param_props(parameter?)?;
            let index = (props.sequence as usize).checked_sub(1);
            if let Some(name) = index.and_then(|index| names.get_mut(index)) {
                *name = Some(props.name).filter(|name| !name.is_empty());
            }
        }
        Ok(names)
    }

    /// Whether the runtime gets a map from the original offsets to those of the new body. By default it does:
    /// stack traces and debuggers then show the lines of the source.
    pub fn map_offsets(&mut self, map: bool) -> &mut Self {
        self.map_offsets = map;
        self
    }

    pub(super) fn importing<R>(
        &self,
        import: impl FnOnce(&mut Importer<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let mut tokens = lock(&self.module.tokens);
        import(&mut tokens.importer(self.module_metadata))
    }
}

/// A type that a module defines, as its own code refers to it: of a generic type, the instance over its own
/// parameters.
pub(super) fn own_instance(
    resolver: &MetadataResolver<'_, ModuleMetadata<'_>>,
    metadata: &Metadata<'_>,
    class: TypeDef,
) -> Result<TypeSig> {
    let mut parameters = metadata.generic_params(class);
    let count = parameters.try_fold(0, |count, parameter| parameter.map(|_| count + 1))?;
    Ok(resolver.own_instance(class, count))
}

opaque! { RewriteContext<'_> { this => method: this.full_name(), map_offsets: this.map_offsets } }
