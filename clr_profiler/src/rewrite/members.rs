//! New types and members: [`ProfilerInfo::define_type`] and [`ProfilerInfo::extend_type`].

use std::path::Path;
use std::sync::Arc;

use super::context::own_instance;
use super::import::Importer;
use super::module_metadata::ModuleMetadata;
use super::store::{Module, store};
use super::subject::Subject;
use super::{LocalTypes, Memory, RewriteContext, edited};
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::info::{CorProfilerInfo, CorProfilerInfo3, CorProfilerInfo7, ModuleFlags};
use crate::metadata::{MetadataEmit, MetadataImport, MetadataWriter};
use crate::runtime::{ProfilerInfo, lock, own_library};
use clr_profiler_il::attributes::{
    CallConv, MethodAttributes, MethodImplAttributes, PInvokeAttributes,
};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::declaration::{
    NewField, NewType, SPECIAL, body_without_code, method_attributes,
};
use clr_profiler_il::edit::NotInstrumentable;
use clr_profiler_il::metadata::MetadataResolver;
use clr_profiler_il::signature::{FieldSig, MethodSig, TokenNames, TypeSig};
use clr_profiler_il::symbol::{FieldSymbol, MethodSymbol, TypeSymbol};
use clr_profiler_il::token::{MethodDef, TypeDef};

/// A library with native functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NativeLibrary<'a> {
    /// The profiler's own library. Its functions must be exported: `#[unsafe(no_mangle)] pub extern "C" fn`.
    Own,
    /// A library by its path.
    Path(&'a Path),
    /// A library by a name, which the runtime resolves.
    Name(&'a str),
}

/// Adds members to a type: see [`ProfilerInfo::define_type`].
pub struct TypeBuilder<'info> {
    info: &'info ProfilerInfo,
    module: ModuleId,
    cached: Arc<Module>,
    writer: MetadataWriter<'info>,
    class: TypeDef,
    is_new: bool,
    symbol: TypeSymbol,
}

impl ProfilerInfo {
    /// Adds a type to a module and calls `build` to add its members; returns the result of `build`.
    ///
    /// `name` includes the namespace. The type and its members are public. Code of the module, including
    /// inserted code, names them by the symbols that the builder returns. A type of the core library is
    /// available in every program.
    ///
    /// The runtime learns of the additions, whether `build` succeeds or not. If it fails, the additions until
    /// then stay.
    ///
    /// **Context**: in `module_load_finished` of the module, before any of its code runs. Later, it depends
    /// on the runtime whether the program can find the type by its name; inserted code can use it.
    ///
    /// # Errors
    ///
    /// That the module has a type of that name, the error of `build`, or an error of the metadata or the
    /// runtime. `CORPROF_E_MODULE_IS_DYNAMIC` for a module that the program builds at run time
    /// (`AssemblyBuilder`), which stays unchanged: no runtime finds types there that the program has not
    /// built.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::rewrite::{NewField, NewType};
    ///
    /// # fn loaded(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    /// let hit = info.define_type(module, "Injected.Counter", NewType::Static, |class| {
    ///     let hits = class.field("Hits", "int", NewField::Static)?;
    ///     class.method("Hit", "void ()", |body, _| {
    ///         body.append(Fragment::new().ldsfld(&hits).ldc_i4(1).add().stsfld(&hits).ret())?;
    ///         Ok(())
    ///     })
    /// })?;
    /// // For code in methods of that module: `Fragment::new().call(&hit)`.
    /// assert_eq!(hit.to_string(), "void Injected.Counter::Hit()");
    /// # Ok(())
    /// # }
    /// ```
    pub fn define_type<R>(
        &self,
        module: ModuleId,
        name: &str,
        kind: NewType,
        build: impl FnOnce(&mut TypeBuilder<'_>) -> Result<R>,
    ) -> Result<R> {
        let cached = module_cache(self, module, "ProfilerInfo::define_type")?;
        let base = import(self, module, &cached, |importer| {
            if importer.emitter().has_type(name)? {
                return Err(Error::other(format!("the module has a type {name}")));
            }
            importer.named_type(kind.base())
        })?;
        let writer = self.module_metadata_for_writing(module)?;
        let class = writer.define_type_def(name, kind.attributes(), Some(base), &[])?;
        let builder = TypeBuilder {
            info: self,
            module,
            cached,
            writer,
            class,
            is_new: true,
            symbol: TypeSymbol::new(name),
        };
        builder.built_by(build)
    }

    /// Adds members to an existing type of a module, and returns the result of `build`.
    ///
    /// **Context**: before the runtime has loaded the type: in `module_load_finished` of the module. The
    /// runtime reads the members of a type only once: later additions do not exist, and code that uses them
    /// fails. Static fields can only be added to [new types](Self::define_type).
    ///
    /// # Errors
    ///
    /// The error of `build`, or an error of the metadata or the runtime; for a module that the program builds
    /// at run time, as of [`define_type`](Self::define_type).
    pub fn extend_type<R>(
        &self,
        module: ModuleId,
        class: TypeDef,
        build: impl FnOnce(&mut TypeBuilder<'_>) -> Result<R>,
    ) -> Result<R> {
        let cached = module_cache(self, module, "ProfilerInfo::extend_type")?;
        let writer = self.module_metadata_for_writing(module)?;
        let props = writer.type_def_props(class)?;
        let is_nested = writer.nested_class_props(class)?.is_some();
        let module_metadata = ModuleMetadata::open(self, module)?;
        let resolver = MetadataResolver::new(&module_metadata, &cached.resolutions);
        let own = own_instance(&resolver, &writer, class)?;
        let symbol = match own {
            TypeSig::Class(_) | TypeSig::ValueType(_) if !is_nested => TypeSymbol::new(&props.name),
            // The type by its token, with its own parameters if it is generic.
            own => TypeSymbol::new(&own.text(&TokenNames).to_string()),
        };
        drop(module_metadata);
        let builder = TypeBuilder {
            info: self,
            module,
            cached,
            writer,
            class,
            is_new: false,
            symbol,
        };
        builder.built_by(build)
    }
}

/// The data of a module. A module that the program builds at run time is refused: the runtime takes its types
/// from the program alone, and the program and the profiler would change its metadata at once.
fn module_cache(info: &ProfilerInfo, module: ModuleId, call: &'static str) -> Result<Arc<Module>> {
    let (_, flags) = info.module_info2(module)?;
    if flags.contains(ModuleFlags::DYNAMIC) {
        return Err(Error::rule_with_code(
            call,
            "the program builds the module at run time: types and members cannot be added to it",
            Hresult::CORPROF_E_MODULE_IS_DYNAMIC,
        ));
    }
    Ok(store(info).module(module))
}

fn import<R>(
    info: &ProfilerInfo,
    module: ModuleId,
    cached: &Module,
    import: impl FnOnce(&mut Importer<'_, '_>) -> Result<R>,
) -> Result<R> {
    let module_metadata = ModuleMetadata::open(info, module)?;
    let mut tokens = lock(&cached.tokens);
    import(&mut tokens.importer(&module_metadata))
}

/// A new method without a body. Until it has one, it does no harm: the runtime takes it for an internal call,
/// which it resolves when it is called. A type with a method that should have a body and has none cannot be
/// loaded.
struct Unfinished<'a> {
    writer: &'a MetadataWriter<'a>,
    method: MethodDef,
    attributes: MethodAttributes,
}

impl<'a> Unfinished<'a> {
    fn define(
        writer: &'a MetadataWriter<'a>,
        class: TypeDef,
        name: &str,
        attributes: MethodAttributes,
        signature: &MethodSig,
    ) -> Result<Self> {
        let (class, harmless) = (Some(class), attributes & !SPECIAL);
        let internal_call = MethodImplAttributes::INTERNAL_CALL;
        let method = writer.define_method(class, name, harmless, signature, 0, internal_call)?;
        Ok(Self {
            writer,
            method,
            attributes,
        })
    }

    /// Sets the body and the final attributes.
    fn finish(self, info: &ProfilerInfo, module: ModuleId, body: &[u8]) -> Result<()> {
        info.set_il_function_body(module, self.method, body)?;
        let (attributes, il) = (Some(self.attributes), Some(MethodImplAttributes::empty()));
        self.writer
            .set_method_props(self.method, attributes, None, il)
    }
}

impl TypeBuilder<'_> {
    /// The token of the type.
    #[must_use]
    pub fn token(&self) -> TypeDef {
        self.class
    }

    /// The name of the type for code of its module; of a generic one, with its own parameters.
    #[must_use]
    pub fn symbol(&self) -> &TypeSymbol {
        &self.symbol
    }

    /// Adds a field. `field_type` is a type in text, as in a [`FieldSymbol`].
    ///
    /// # Errors
    ///
    /// A mistake in the text, or an error of the metadata; a static field of a type that the module had
    /// before, with which runtimes consider the module corrupt.
    pub fn field(&mut self, name: &str, field_type: &str, field: NewField) -> Result<FieldSymbol> {
        if !self.is_new && field == NewField::Static {
            // The layout of static fields was decided when the module was loaded.
            return Err(Error::other(format!(
                "the static field {name} was not added: it must be one of a new type"
            )));
        }
        let type_sig = self.import(|importer| importer.type_sig(field_type))?;
        let signature = FieldSig {
            field_type: type_sig,
        };
        self.writer
            .define_field(Some(self.class), name, field.attributes(), &signature, None)?;
        Ok(FieldSymbol {
            owner: self.symbol.clone(),
            name: name.into(),
            field_type: field_type.into(),
        })
    }

    /// Adds a method with a body. `signature` is as in a [`MethodSymbol`]; that of an instance method begins
    /// with `instance`. The name `.ctor` makes a constructor, whose code calls one of the base class, and
    /// `.cctor` a type initialiser.
    ///
    /// The closure gets an empty body and appends to it; the result is verified as in
    /// [`Method::rewrite`](crate::Method::rewrite), which refuses the new method itself
    /// ([`Added`](NotInstrumentable::Added)).
    ///
    /// # Errors
    ///
    /// A mistake in the text, the error of the closure, which rule the result breaks, or an error of the
    /// metadata or the runtime. The method then exists, and must not be called.
    pub fn method(
        &mut self,
        name: &str,
        signature: &str,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<MethodSymbol> {
        let symbol = self.member(name, signature);
        let signature = self.import(|importer| importer.method_sig(&symbol))?;
        let attributes = method_attributes(name, &signature);
        let new = Unfinished::define(&self.writer, self.class, name, attributes, &signature)?;
        let method = new.method;
        let mut memory = Memory::default();
        let made = Subject::new(self.info, self.module, method).and_then(|subject| {
            let of = (&*self.cached, LocalTypes::Read);
            edited(&subject, of, &mut memory, &[], edit)
        });
        let (bytes, outcome) = match made {
            Ok(new) => (new.bytes, Ok(symbol)),
            Err(error) => (
                body_without_code(name).to_vec(),
                Err(Error::other(format!("{symbol} was not added: {error}"))),
            ),
        };
        new.finish(self.info, self.module, &bytes)?;
        let slot = self.cached.method(method);
        slot.reserve(NotInstrumentable::Added);
        outcome
    }

    /// Adds a static method that calls a native function with the calling convention of C. The runtime
    /// resolves the function at the first call.
    ///
    /// `signature` has only types that are the same in managed and native code, such as numbers and pointers.
    ///
    /// # Errors
    ///
    /// A mistake in the text, that the path of the library is not known or not Unicode, or an error of the
    /// metadata.
    pub fn native(
        &mut self,
        name: &str,
        signature: &str,
        library: NativeLibrary<'_>,
        function: &str,
    ) -> Result<MethodSymbol> {
        const IMPLEMENTATION: MethodImplAttributes = MethodImplAttributes::PRESERVE_SIG;
        const MAP: PInvokeAttributes = PInvokeAttributes::NO_MANGLE.with_call_conv(CallConv::Cdecl);
        let own;
        let library = match library {
            NativeLibrary::Name(name) => Ok(name),
            NativeLibrary::Path(path) => path.to_str().ok_or("the path of the library is no text"),
            NativeLibrary::Own => {
                own = own_library();
                let path = own.as_deref().and_then(Path::to_str);
                path.ok_or("the path of the profiler's own library is not known, or no text")
            }
        };
        let library = library.map_err(Error::other)?;
        let symbol = self.member(name, signature);
        let signature = self.import(|importer| importer.method_sig(&symbol))?;
        if signature.has_this {
            return Err(Error::other("a native function is a static method"));
        }
        let attributes = method_attributes(name, &signature) | MethodAttributes::PINVOKE_IMPL;
        let library = self.writer.define_module_ref(library)?;
        let class = Some(self.class);
        let method =
            self.writer
                .define_method(class, name, attributes, &signature, 0, IMPLEMENTATION)?;
        self.writer
            .define_pinvoke_map(method, MAP, function, library)?;
        Ok(symbol)
    }

    /// Runs `build`, and tells the runtime of the additions.
    fn built_by<R>(mut self, build: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let built = build(&mut self);
        if self.info.version() >= 7 {
            self.info.apply_metadata(self.module)?;
        }
        built
    }

    fn member(&self, name: &str, signature: &str) -> MethodSymbol {
        MethodSymbol {
            owner: self.symbol.clone(),
            name: name.into(),
            signature: signature.into(),
            type_arguments: Vec::new(),
        }
    }

    fn import<R>(&self, read: impl FnOnce(&mut Importer<'_, '_>) -> Result<R>) -> Result<R> {
        import(self.info, self.module, &self.cached, read)
    }
}

opaque! { TypeBuilder<'_> { this => module: this.module, class: this.class, symbol: this.symbol } }
