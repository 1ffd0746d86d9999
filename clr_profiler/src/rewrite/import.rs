//! [`ModuleNames`]: how a module refers to the types and members of symbols.

use super::identity;
use super::lookup::{Lookup, NotFound, outermost};
use super::module_metadata::ModuleMetadata;
use crate::error::{Error, OptionalExt, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::{
    AssemblyProps, AssemblyRefProps, AssemblyVersion, Encoded, MetadataAssemblyEmit,
    MetadataAssemblyImport, MetadataEmit, MetadataEmit2, MetadataImport,
};
use crate::metadata::{own, type_def_named};
use clr_profiler_il::core_library;
use clr_profiler_il::metadata::{self, Emitter, ResolutionScope};
use clr_profiler_il::token::{AssemblyRef, Token, TypeDef, TypeToken};

/// The tokens of the symbols that were resolved in one module.
#[derive(Default)]
pub(super) struct Tokens {
    assemblies: Option<Assemblies>,
    given: metadata::TokenCache,
}

/// Resolves symbols to tokens. The owner of an importer holds the lock of the module.
pub(super) type Importer<'a, 'info> = metadata::Importer<'a, ModuleNames<'a, 'info>>;

impl Tokens {
    pub(super) fn held_bytes(&self) -> usize {
        let assemblies = self.assemblies.iter().flat_map(|all| &all.references);
        let names = assemblies.map(|(name, token)| name.len() + size_of_val(&(name, token)));
        names.sum::<usize>() + self.given.held_bytes()
    }

    pub(super) fn importer<'a, 'info>(
        &'a mut self,
        module_metadata: &'a ModuleMetadata<'info>,
    ) -> Importer<'a, 'info> {
        let assemblies = &mut self.assemblies;
        Importer::new(
            ModuleNames {
                module_metadata,
                assemblies,
            },
            &mut self.given,
        )
    }
}

/// The assembly of a module and those that it refers to.
struct Assemblies {
    own: Option<String>,
    /// The core library of the runtime.
    core: &'static str,
    references: Vec<(String, Token)>,
}

impl Assemblies {
    fn is_own(&self, name: &str) -> bool {
        let own = self.own.as_deref();
        own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    fn reference(&self, name: &str) -> Option<Token> {
        let mut references = self.references.iter();
        let same = references.find(|(reference, _)| reference.eq_ignore_ascii_case(name));
        same.map(|(_, token)| *token)
    }

    /// Refuses references in the core library.
    fn may_refer_to(&self, name: &str) -> Result<()> {
        if self.is_own(self.core) {
            return Err(Error::other(format!(
                "the core library cannot refer to {name}: use its own types"
            )));
        }
        Ok(())
    }
}

/// How a module refers to types and members; adds missing references.
pub(super) struct ModuleNames<'a, 'info> {
    module_metadata: &'a ModuleMetadata<'info>,
    assemblies: &'a mut Option<Assemblies>,
}

impl ModuleNames<'_, '_> {
    fn assemblies(&mut self) -> Result<&mut Assemblies> {
        Ok(match &mut *self.assemblies {
            Some(known) => known,
            unknown => unknown.insert(Assemblies {
                own: self.module_metadata.own_assembly()?,
                core: self.module_metadata.info().core_library(),
                references: self.module_metadata.assembly_refs()?,
            }),
        })
    }

    /// Lets the module refer to an assembly by its name, even if it is not known to exist.
    pub(super) fn assume(&mut self, assembly: &str) -> Result<()> {
        let full = identity::parsed(assembly)?;
        let name = full.as_ref().map_or(assembly, |full| &full.name);
        let assemblies = self.assemblies()?;
        if assemblies.is_own(name) || assemblies.reference(name).is_some() {
            return Ok(());
        }
        assemblies.may_refer_to(name)?;
        let defined = match &full {
            Some(full) => self.define_reference(full),
            None => self.new_reference(name),
        };
        defined.map(|_| ())
    }

    /// The scope in which this module finds a type of the core library, under any of its names.
    ///
    /// A facade forwards only types that are older than itself: references to newer ones name the assembly
    /// that defines them.
    fn core_scope(&mut self, assembly: &str, path: &str) -> Result<ResolutionScope> {
        let metadata = self.module_metadata.metadata();
        let lookup = Lookup::of(self.module_metadata.info());
        let assemblies = self.assemblies()?;
        let core = assemblies.core;
        let all = core_library::NAMES.into_iter();
        let mut references: Vec<(&str, Token)> = all
            .filter_map(|name| Some((name, assemblies.reference(name)?)))
            .collect();
        let mut uses_object = Vec::with_capacity(references.len());
        for (name, token) in &references {
            let outer = metadata.find_type_ref(*token, outermost(path));
            if outer.optional()?.is_some() {
                return Ok(ResolutionScope::Assembly(*token));
            }
            let object = metadata.find_type_ref(*token, "System.Object");
            if object.optional()?.is_some() {
                uses_object.push(*name);
            }
        }
        // First the reference that was named, then the one that the module uses.
        references.sort_by_key(|(name, _)| (*name != assembly, !uses_object.contains(name)));
        let (mut unknown, mut missing) = (None, None);
        for (name, token) in references {
            match lookup.find_type(name, path) {
                Ok(()) => return Ok(ResolutionScope::Assembly(token)),
                Err(NotFound::Unknown) => unknown = unknown.or(Some(token)),
                Err(NotFound::Missing(problem)) => missing = missing.or(Some(problem)),
            }
        }
        match (lookup.find_type(core, path), unknown) {
            (Ok(()), _) => match self.assemblies()?.reference(core) {
                Some(token) => Ok(ResolutionScope::Assembly(token)),
                None => self.new_reference(core),
            },
            (_, Some(token)) => Ok(ResolutionScope::Assembly(token)),
            (Err(NotFound::Missing(problem)), None) => {
                Err(Error::other(missing.unwrap_or(problem)))
            }
            // The facade, because few programs for .NET refer to the core library itself.
            (Err(NotFound::Unknown), None) if core == core_library::PRIVATE => {
                self.new_reference(core_library::NAMES[0])
            }
            (Err(NotFound::Unknown), None) => self.new_reference(core),
        }
    }

    /// A reference that the loaded assembly of this name satisfies, or any one.
    fn new_reference(&mut self, assembly: &str) -> Result<ResolutionScope> {
        let reference = identity::reference_to(self.module_metadata.info(), assembly)?;
        self.define_reference(&reference)
    }

    fn define_reference(&mut self, reference: &AssemblyRefProps) -> Result<ResolutionScope> {
        let writer = self.module_metadata.writer()?;
        let token = Token::from(writer.define_assembly_ref(reference)?);
        let reference = (reference.name.clone(), token);
        self.assemblies()?.references.push(reference);
        Ok(ResolutionScope::Assembly(token))
    }

    /// Lets the module refer to an assembly by its full identity.
    pub(super) fn refer_to(&mut self, assembly: &AssemblyProps) -> Result<()> {
        let (info, module) = (self.module_metadata.info(), self.module_metadata.module());
        // Before the assemblies are borrowed; a reference that exists needs no new token.
        let is_open = self.module_metadata.check_open();
        let name = &assembly.name;
        let assemblies = self.assemblies()?;
        if assemblies.is_own(name) {
            return Ok(());
        }
        if let Some(token) = assemblies.reference(name) {
            let token = AssemblyRef::try_from(token).map_err(Error::other)?;
            let version = info
                .module_metadata(module)?
                .assembly_ref_props(token)?
                .version;
            // Version 0.0.0.0 comes from a symbol, and means any.
            if version == assembly.version || version == AssemblyVersion::default() {
                return Ok(());
            }
            return Err(Error::other(format!(
                "the module refers to another assembly called {name}, version {}.{}.{}.{}",
                version.major, version.minor, version.build, version.revision
            )));
        }
        assemblies.may_refer_to(name)?;
        is_open?;
        let writer = info.module_metadata_for_writing(module)?;
        let token = writer.define_assembly_ref(&identity::of(assembly))?;
        assemblies.references.push((name.clone(), token.into()));
        Ok(())
    }

    /// Refuses a type that is known to be missing.
    fn expect_type(&mut self, assembly: Token, path: &str) -> Result<()> {
        let lookup = Lookup::of(self.module_metadata.info());
        let references = &self.assemblies()?.references;
        let Some((name, _)) = references.iter().find(|(_, token)| *token == assembly) else {
            return Ok(());
        };
        match lookup.find_type(name, path) {
            Err(NotFound::Missing(problem)) => Err(Error::other(problem)),
            Ok(()) | Err(NotFound::Unknown) => Ok(()),
        }
    }

    /// Whether the module defines a type of that name that is not nested.
    pub(super) fn has_type(&self, name: &str) -> Result<bool> {
        Ok(self.type_def(name, None)?.is_some())
    }
}

/// The token of the search, if it found one.
fn found<T: Into<Token> + Copy>(answer: Result<T>) -> Result<Option<T>> {
    Ok(answer.optional()?.filter(|token| !(*token).into().is_nil()))
}

impl Emitter for ModuleNames<'_, '_> {
    type Error = Error;

    fn resolution_scope(&mut self, assembly: &str, path: &str) -> Result<ResolutionScope> {
        let assemblies = self.assemblies()?;
        let is_core = assembly == core_library::ALIAS || core_library::has_name(assembly);
        if assemblies.is_own(assembly) || (is_core && assemblies.is_own(assemblies.core)) {
            return Ok(ResolutionScope::Module);
        }
        // A symbol with the core library's own name may name a type that no facade forwards.
        if is_core && assembly != assemblies.core {
            return self.core_scope(assembly, path);
        }
        if let Some(token) = assemblies.reference(assembly) {
            return Ok(ResolutionScope::Assembly(token));
        }
        assemblies.may_refer_to(assembly)?;
        // The core library always exists.
        if !is_core && !Lookup::of(self.module_metadata.info()).is_loaded(assembly) {
            return Err(Error::other(format!(
                "no assembly {assembly} is loaded, and the module does not refer to one: where the \
                 runtime will find it, RewriteContext::assume_loadable says so"
            )));
        }
        self.new_reference(assembly)
    }

    fn type_def(&self, name: &str, outer: Option<TypeDef>) -> Result<Option<TypeDef>> {
        type_def_named(self.module_metadata.metadata(), name, outer)
    }

    fn type_ref(&mut self, scope: Token, name: &str, whole: (Token, &str)) -> Result<TypeToken> {
        if let Some(token) = found(self.module_metadata.metadata().find_type_ref(scope, name))? {
            return Ok(token.into());
        }
        self.expect_type(whole.0, whole.1)?;
        let writer = self.module_metadata.writer()?;
        Ok(writer.define_type_ref_by_name(scope, name)?.into())
    }

    fn member_def(&self, class: TypeDef, name: &str, signature: &[u8]) -> Result<Option<Token>> {
        let metadata = self.module_metadata.metadata();
        found(
            match metadata.own(|own| own::member_def(own, class, name, signature)) {
                Some(own) => Ok(own),
                None => metadata.find_member(Some(class), name, Encoded(signature)),
            },
        )
    }

    fn member_ref(&mut self, owner: TypeToken, name: &str, signature: &[u8]) -> Result<Token> {
        let parent = owner.token();
        let metadata = self.module_metadata.metadata();
        if let Some(token) = found(metadata.find_member_ref(parent, name, Encoded(signature)))? {
            return Ok(token.into());
        }
        let (module, lookup) = (
            self.module_metadata.module(),
            Lookup::of(self.module_metadata.info()),
        );
        if let Some(problem) = lookup.missing_member(module, owner, name, signature) {
            return Err(Error::other(problem));
        }
        let writer = self.module_metadata.writer()?;
        let member = writer.define_member_ref(parent, name, Encoded(signature))?;
        Ok(member.into())
    }

    fn type_spec(&mut self, signature: &[u8]) -> Result<TypeToken> {
        let writer = self.module_metadata.writer()?;
        Ok(writer.token_from_type_spec(Encoded(signature))?.into())
    }

    fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Result<Token> {
        let writer = self.module_metadata.writer()?;
        Ok(writer
            .define_method_spec(method, Encoded(arguments))?
            .into())
    }

    fn stand_alone_sig(&mut self, signature: &[u8]) -> Result<Token> {
        Ok(self
            .module_metadata
            .writer()?
            .token_from_sig(Encoded(signature))?
            .into())
    }

    fn user_string(&mut self, text: &str) -> Result<Token> {
        Ok(self
            .module_metadata
            .writer()?
            .define_user_string(text)?
            .into())
    }
}
