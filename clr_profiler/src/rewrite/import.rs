//! [`Importer`]: symbols become tokens of one module.

use std::collections::HashMap;

use super::lookup::{Lookup, NotFound, outermost};
use super::primitives::primitive_name;
use super::scope::{CORE_LIBRARY, Scope};
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::{
    AssemblyProps, AssemblyVersion, MetadataAssemblyEmit, MetadataAssemblyImport, NewAssemblyRef,
};
use clr_profiler_il::signature::{
    FieldSig, LocalsSig, MethodSig, MethodSpecSig, SignatureError, TokenNames, TypeKind, TypeSig,
    TypeSpecSig, TypeTokens,
};
use clr_profiler_il::symbol::{FieldSymbol, MethodSymbol, Symbol, TokenSource, TypeSymbol};
use clr_profiler_il::text::TextError;
use clr_profiler_il::token::{AssemblyRef, Token, TypeDef, TypeToken};

/// What the core library may be called: it is one and the same, whichever a module refers to.
const CORE_LIBRARIES: [&str; 4] = [
    "System.Runtime",
    "netstandard",
    "mscorlib",
    "System.Private.CoreLib",
];
/// What stands for whichever of them a module refers to.
const ALIAS: &str = "corelib";

/// The tokens that one module was asked for.
#[derive(Default)]
pub(super) struct Tokens {
    assemblies: Option<Assemblies>,
    types: HashMap<Box<str>, TypeToken>,
    symbols: HashMap<Symbol, Token>,
    stand_alone: HashMap<Vec<u8>, Token>,
    type_specs: HashMap<Vec<u8>, TypeToken>,
    method_specs: HashMap<(Token, Vec<u8>), Token>,
}

/// The assembly of a module and those that it refers to.
struct Assemblies {
    own: Option<String>,
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

    /// Refuses references of the core library.
    fn may_refer_to(&self, name: &str) -> Result<()> {
        if self.is_own(CORE_LIBRARY) {
            return Err(Error::other(format!(
                "the core library cannot refer to {name}: use what it has itself"
            )));
        }
        Ok(())
    }
}

/// Looks tokens up, and defines what is not there. Whoever has one holds the lock of the module.
pub(super) struct Importer<'a, 'info> {
    scope: &'a Scope<'info>,
    tokens: &'a mut Tokens,
}

/// Where a type stands.
#[derive(Clone, Copy)]
enum Home {
    /// In the module itself.
    Here,
    /// In an assembly that it refers to.
    Assembly(Token),
}

impl<'a, 'info> Importer<'a, 'info> {
    pub(super) fn new(scope: &'a Scope<'info>, tokens: &'a mut Tokens) -> Self {
        Self { scope, tokens }
    }

    fn assemblies(&mut self) -> Result<&mut Assemblies> {
        if self.tokens.assemblies.is_none() {
            self.tokens.assemblies = Some(Assemblies {
                own: self.scope.own_assembly()?,
                references: self.scope.assembly_refs()?,
            });
        }
        let missing = || Error::other("the assemblies of the module are not known");
        self.tokens.assemblies.as_mut().ok_or_else(missing)
    }

    /// Where a type of an assembly is found by this module.
    fn home(&mut self, assembly: &str, path: &str) -> Result<Home> {
        let assemblies = self.assemblies()?;
        let is_core = assembly == ALIAS || CORE_LIBRARIES.contains(&assembly);
        if assemblies.is_own(assembly) || (is_core && assemblies.is_own(CORE_LIBRARY)) {
            return Ok(Home::Here);
        }
        // Who asks for the core library by its own name may mean a type that no facade forwards.
        if is_core && assembly != CORE_LIBRARY {
            return self.core_home(assembly, path);
        }
        if let Some(token) = assemblies.reference(assembly) {
            return Ok(Home::Assembly(token));
        }
        assemblies.may_refer_to(assembly)?;
        // The core library is there, whatever is known.
        if !is_core && !Lookup::of(self.scope.info()).is_loaded(assembly) {
            return Err(Error::other(format!(
                "no assembly {assembly} is loaded, and the module does not refer to one: where the \
                 runtime will find it, RewriteContext::assume_loadable says so"
            )));
        }
        self.new_reference(assembly)
    }

    /// Has the module refer to an assembly by its name, whether it is known to be there or not.
    pub(super) fn assume(&mut self, assembly: &str) -> Result<()> {
        let assemblies = self.assemblies()?;
        if assemblies.is_own(assembly) || assemblies.reference(assembly).is_some() {
            return Ok(());
        }
        assemblies.may_refer_to(assembly)?;
        self.new_reference(assembly).map(|_| ())
    }

    /// Where this module finds a type of the core library, whatever the module calls the latter.
    ///
    /// A facade forwards only types that are older than itself: the others are referred to where they
    /// are defined.
    fn core_home(&mut self, assembly: &str, path: &str) -> Result<Home> {
        let scope = self.scope;
        let lookup = Lookup::of(scope.info());
        let assemblies = self.assemblies()?;
        let all = CORE_LIBRARIES.into_iter();
        let mut references: Vec<(&str, Token)> = all
            .filter_map(|name| Some((name, assemblies.reference(name)?)))
            .collect();
        let mut uses_object = Vec::with_capacity(references.len());
        for (name, token) in &references {
            if scope.find_type_ref(*token, outermost(path))?.is_some() {
                return Ok(Home::Assembly(*token));
            }
            if scope.find_type_ref(*token, "System.Object")?.is_some() {
                uses_object.push(*name);
            }
        }
        // First the one that was named, then the one that the module uses.
        references.sort_by_key(|(name, _)| (*name != assembly, !uses_object.contains(name)));
        let (mut unknown, mut missing) = (None, None);
        for (name, token) in references {
            match lookup.find_type(name, path) {
                Ok(()) => return Ok(Home::Assembly(token)),
                Err(NotFound::Unknown) => unknown = unknown.or(Some(token)),
                Err(NotFound::Missing(problem)) => missing = missing.or(Some(problem)),
            }
        }
        match (lookup.find_type(CORE_LIBRARY, path), unknown) {
            (Ok(()), _) => match self.assemblies()?.reference(CORE_LIBRARY) {
                Some(token) => Ok(Home::Assembly(token)),
                None => self.new_reference(CORE_LIBRARY),
            },
            (_, Some(token)) => Ok(Home::Assembly(token)),
            (Err(NotFound::Missing(problem)), None) => {
                Err(Error::other(missing.unwrap_or(problem)))
            }
            (Err(NotFound::Unknown), None) => self.new_reference(CORE_LIBRARIES[0]),
        }
    }

    /// A reference by the name alone, which any version satisfies.
    fn new_reference(&mut self, assembly: &str) -> Result<Home> {
        let token = self.scope.define_assembly_ref(assembly)?;
        let reference = (assembly.to_owned(), token);
        self.assemblies()?.references.push(reference);
        Ok(Home::Assembly(token))
    }

    /// Has the module refer to an assembly by all that it states of itself.
    pub(super) fn refer_to(&mut self, assembly: &AssemblyProps) -> Result<()> {
        let (info, module) = (self.scope.info(), self.scope.module());
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
            // Version 0.0.0.0 is that of a symbol, which means any.
            if version == assembly.version || version == AssemblyVersion::default() {
                return Ok(());
            }
            return Err(Error::other(format!(
                "the module refers to another assembly called {name}, version {}.{}.{}.{}",
                version.major, version.minor, version.build, version.revision
            )));
        }
        assemblies.may_refer_to(name)?;
        let writer = info.module_metadata_for_writing(module)?;
        let token = writer.define_assembly_ref(&NewAssemblyRef {
            name,
            version: assembly.version.clone(),
            public_key_or_token: &assembly.public_key,
            // The whole key, if there is one, and nothing else.
            flags: u32::from(!assembly.public_key.is_empty()),
            ..NewAssemblyRef::default()
        })?;
        assemblies.references.push((name.clone(), token.into()));
        Ok(())
    }

    /// The token of `[Assembly]Namespace.Type/Nested`; without an assembly, a type of this module.
    pub(super) fn named_type(&mut self, name: &str) -> Result<TypeToken> {
        if let Some(token) = self.tokens.types.get(name) {
            return Ok(*token);
        }
        let (home, path) = match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((assembly, path)) => (self.home(assembly, path)?, path),
            None => (Home::Here, name),
        };
        let mut token: Option<TypeToken> = None;
        for part in path.split('/') {
            token = Some(match (home, token) {
                (Home::Here, Some(TypeToken::Def(outer))) => {
                    self.own_type(name, part, Some(outer))?
                }
                (Home::Here, _) => self.own_type(name, part, None)?,
                (Home::Assembly(assembly), outer) => {
                    let scope = outer.map_or(assembly, TypeToken::token);
                    match self.scope.find_type_ref(scope, part)? {
                        Some(token) => token.into(),
                        None => {
                            self.expect_type(assembly, path)?;
                            self.scope.define_type_ref(scope, part)?.into()
                        }
                    }
                }
            });
        }
        let token = token.ok_or_else(|| Error::other(format!("{name} names no type")))?;
        self.tokens.types.insert(name.into(), token);
        Ok(token)
    }

    /// Refuses a type that is known not to be there.
    fn expect_type(&mut self, assembly: Token, path: &str) -> Result<()> {
        let lookup = Lookup::of(self.scope.info());
        let references = &self.assemblies()?.references;
        let Some((name, _)) = references.iter().find(|(_, token)| *token == assembly) else {
            return Ok(());
        };
        match lookup.find_type(name, path) {
            Err(NotFound::Missing(problem)) => Err(Error::other(problem)),
            Ok(()) | Err(NotFound::Unknown) => Ok(()),
        }
    }

    fn own_type(&self, whole: &str, name: &str, outer: Option<TypeDef>) -> Result<TypeToken> {
        let found = self.scope.find_type_def(name, outer)?;
        let missing = || {
            Error::other(format!(
                "the module defines no type {name} (of {whole}); one of another assembly is named \
                 [Assembly]Namespace.Type"
            ))
        };
        found.map(TypeToken::from).ok_or_else(missing)
    }

    /// Whether the module defines a type of that name, in no other.
    pub(super) fn has_type(&self, name: &str) -> Result<bool> {
        Ok(self.scope.find_type_def(name, None)?.is_some())
    }

    /// The token of a member of a type with that signature, which is in terms of its parameters.
    pub(super) fn member_of(
        &mut self,
        class: TypeSig,
        name: &str,
        signature: &MethodSig,
    ) -> Result<Token> {
        let parent = self.operand_of(class)?;
        self.member(parent, name, &blob(signature.to_bytes())?)
    }

    /// The token of a generic method with arguments.
    pub(super) fn instance(&mut self, method: Token, arguments: Vec<TypeSig>) -> Result<Token> {
        let arguments = blob(MethodSpecSig { arguments }.to_bytes())?;
        if let Some(token) = self.tokens.method_specs.get(&(method, arguments.clone())) {
            return Ok(*token);
        }
        let token = self.scope.define_method_spec(method, &arguments)?.into();
        self.tokens.method_specs.insert((method, arguments), token);
        Ok(token)
    }

    /// The token of a type by its name, or by the token itself (`0x02000005`).
    fn named_or_numbered(&mut self, name: &str, kind: TypeKind) -> Result<TypeToken> {
        match TokenNames.type_token(name, kind) {
            Some(token) => Ok(token),
            None => self.named_type(name),
        }
    }

    /// Reads a text, finding the tokens of the types that it names.
    fn read<T>(
        &mut self,
        read: impl FnOnce(
            &mut dyn FnMut(&str, TypeKind) -> Option<TypeToken>,
        ) -> std::result::Result<T, TextError>,
    ) -> Result<T> {
        let mut failed = None;
        let read = read(&mut |name, kind| match self.named_or_numbered(name, kind) {
            Ok(token) => Some(token),
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        match failed {
            Some(error) => Err(error),
            None => read.map_err(Error::other),
        }
    }

    /// The type that a text means.
    pub(super) fn type_sig(&mut self, text: &str) -> Result<TypeSig> {
        self.read(|mut tokens| TypeSig::parse_text(text, &mut tokens))
    }

    pub(super) fn method_sig(&mut self, method: &MethodSymbol) -> Result<MethodSig> {
        self.read(|mut tokens| method.sig(&mut tokens))
    }

    /// The token that type operands and parents of members have for a type.
    fn type_operand(&mut self, name: &TypeSymbol) -> Result<TypeToken> {
        if !name.is_specification() {
            return self.named_type(&name.name);
        }
        let read = self.type_sig(&name.name)?;
        self.operand_of(read)
    }

    /// The same for a type in terms of the module.
    pub(super) fn operand_of(&mut self, read: TypeSig) -> Result<TypeToken> {
        if let TypeSig::Class(token) | TypeSig::ValueType(token) = read {
            return Ok(token);
        }
        if let Some(name) = primitive_name(&read) {
            return self.named_type(&format!("[{ALIAS}]{name}"));
        }
        let blob = blob(TypeSpecSig { type_sig: read }.to_bytes())?;
        if let Some(token) = self.tokens.type_specs.get(&blob) {
            return Ok(*token);
        }
        let token = self.scope.define_type_spec(&blob)?.into();
        self.tokens.type_specs.insert(blob, token);
        Ok(token)
    }

    /// A member of a type: the definition where the module has it, else a reference.
    fn member(&mut self, parent: TypeToken, name: &str, signature: &[u8]) -> Result<Token> {
        if let TypeToken::Def(class) = parent {
            let found = self.scope.find_member(class, name, signature)?;
            return found.ok_or_else(|| {
                Error::other(format!(
                    "the type is the module's own, and has no {name} with this signature"
                ))
            });
        }
        let (owner, parent) = (parent, parent.token());
        match self.scope.find_member_ref(parent, name, signature)? {
            Some(token) => Ok(token),
            None => {
                let (module, lookup) = (self.scope.module(), Lookup::of(self.scope.info()));
                if let Some(problem) = lookup.missing_member(module, owner, name, signature) {
                    return Err(Error::other(problem));
                }
                let member = self.scope.define_member_ref(parent, name, signature)?;
                Ok(member.into())
            }
        }
    }

    /// The token of a symbol, asked for once.
    fn remembered(
        &mut self,
        symbol: Symbol,
        get: impl FnOnce(&mut Self) -> Result<Token>,
    ) -> Result<Token> {
        if let Some(token) = self.tokens.symbols.get(&symbol) {
            return Ok(*token);
        }
        let token = get(self)
            .map_err(|error| Error::other(format!("there is no token for {symbol}: {error}")))?;
        self.tokens.symbols.insert(symbol, token);
        Ok(token)
    }

    fn stand_alone(&mut self, blob: Vec<u8>) -> Result<Token> {
        if let Some(token) = self.tokens.stand_alone.get(&blob) {
            return Ok(*token);
        }
        let token = self.scope.define_stand_alone_sig(&blob)?.into();
        self.tokens.stand_alone.insert(blob, token);
        Ok(token)
    }
}

/// A signature that can be read back, for nothing else checks it before the JIT does.
fn blob(written: std::result::Result<Vec<u8>, SignatureError>) -> Result<Vec<u8>> {
    written.map_err(Error::other)
}

impl TokenSource for Importer<'_, '_> {
    type Error = Error;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token> {
        self.remembered(Symbol::Method(method.clone()), |importer| {
            let parent = importer.type_operand(&method.owner)?;
            let signature = blob(importer.method_sig(method)?.to_bytes())?;
            let token = importer.member(parent, &method.name, &signature)?;
            if method.type_arguments.is_empty() {
                return Ok(token);
            }
            let arguments = importer.read(|mut tokens| method.argument_sigs(&mut tokens))?;
            importer.instance(token, arguments)
        })
    }

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token> {
        self.remembered(Symbol::Type(name.clone()), |importer| {
            Ok(importer.type_operand(name)?.token())
        })
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token> {
        self.remembered(Symbol::Field(field.clone()), |importer| {
            let parent = importer.type_operand(&field.owner)?;
            let field_type = importer.type_sig(&field.field_type)?;
            let signature = blob(FieldSig { field_type }.to_bytes())?;
            importer.member(parent, &field.name, &signature)
        })
    }

    fn user_string(&mut self, text: &str) -> Result<Token> {
        self.remembered(Symbol::String(text.into()), |importer| {
            Ok(importer.scope.define_user_string(text)?.into())
        })
    }

    fn signature(&mut self, signature: &MethodSig) -> Result<Token> {
        self.stand_alone(blob(signature.to_bytes())?)
    }

    fn locals(&mut self, locals: &LocalsSig) -> Result<Token> {
        self.stand_alone(blob(locals.to_bytes())?)
    }
}
