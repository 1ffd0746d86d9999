use std::collections::HashMap;
use std::error::Error;

use super::{Emitter, ResolutionScope};
use crate::core_library::ALIAS;
use crate::lexer::TextError;
use crate::messages::messages;
use crate::signature::{
    FieldSig, LocalsSig, MethodSig, MethodSpecSig, SignatureError, TokenNames, TypeKeyword,
    TypeSig, TypeSpecSig, TypeTokens,
};
use crate::symbol::{FieldSymbol, MethodSymbol, Symbol, TokenSource, TypeSymbol};
use crate::token::{Token, TypeDef, TypeToken};

messages! {
    /// The reason why there is no token for a symbol, in addition to the errors of the embedder.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ImportError {
        /// A text that cannot be parsed.
        Text(error: TextError) => "{error}";
        /// A signature that cannot be written: nothing else checks it before the JIT does.
        Signature(error: SignatureError) => "{error}";
        /// A type without an assembly that the module does not define.
        NoType {
            /// Its name, without the enclosing types.
            name: String,
            /// The full name.
            whole: String,
        } => "the module defines no type {name} (of {whole}); one of another assembly is named \
              [Assembly]Namespace.Type";
        /// A name without parts.
        NoName(name: String) => "{name} names no type";
        /// A type of the module itself does not have this member.
        NoMember(name: String) =>
            "the type is defined by the module and has no {name} with this signature";
        /// An error, with its symbol.
        NoToken {
            /// The symbol in text.
            symbol: String,
            /// The reason.
            problem: String,
        } => "there is no token for {symbol}: {problem}";
    }
}

impl Error for ImportError {}

impl From<TextError> for ImportError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl From<SignatureError> for ImportError {
    fn from(error: SignatureError) -> Self {
        Self::Signature(error)
    }
}

/// The tokens that were resolved for one module.
#[derive(Debug, Default)]
pub struct TokenCache {
    types: HashMap<Box<str>, TypeToken>,
    symbols: HashMap<Symbol, Token>,
    stand_alone: HashMap<Vec<u8>, Token>,
    type_specs: HashMap<Vec<u8>, TypeToken>,
    method_specs: HashMap<(Token, Vec<u8>), Token>,
}

impl TokenCache {
    /// The bytes of the entries, without the names in symbols.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let names = self.types.keys().map(|name| name.len());
        let blobs = self.stand_alone.keys().chain(self.type_specs.keys());
        let blobs = blobs.chain(self.method_specs.keys().map(|(_, blob)| blob));
        self.types.capacity() * size_of::<(Box<str>, TypeToken)>()
            + names.sum::<usize>()
            + self.symbols.capacity() * size_of::<(Symbol, Token)>()
            + self.stand_alone.capacity() * size_of::<(Vec<u8>, Token)>()
            + self.type_specs.capacity() * size_of::<(Vec<u8>, TypeToken)>()
            + self.method_specs.capacity() * size_of::<(Token, Vec<u8>, Token)>()
            + blobs.map(Vec::len).sum::<usize>()
    }
}

/// Resolves symbols to tokens, and the types of symbols to those of the module.
#[derive(Debug)]
pub struct Importer<'a, E> {
    emitter: E,
    tokens: &'a mut TokenCache,
}

impl<'a, E: Emitter> Importer<'a, E> {
    /// An importer for a module with these cached tokens.
    #[must_use]
    pub fn new(emitter: E, tokens: &'a mut TokenCache) -> Self {
        Self { emitter, tokens }
    }

    /// The emitter of the module.
    pub fn emitter(&mut self) -> &mut E {
        &mut self.emitter
    }

    /// The token of `[Assembly]Namespace.Type/Nested`; without an assembly, a type of this module.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named_type(&mut self, name: &str) -> Result<TypeToken, E::Error> {
        if let Some(token) = self.tokens.types.get(name) {
            return Ok(*token);
        }
        let (home, path) = match name.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((assembly, path)) => (self.emitter.resolution_scope(assembly, path)?, path),
            None => (ResolutionScope::Module, name),
        };
        let mut token: Option<TypeToken> = None;
        for part in path.split('/') {
            token = Some(match (home, token) {
                (ResolutionScope::Module, Some(TypeToken::Def(outer))) => {
                    self.own_type(name, part, Some(outer))?
                }
                (ResolutionScope::Module, _) => self.own_type(name, part, None)?,
                (ResolutionScope::Assembly(assembly), outer) => {
                    let scope = outer.map_or(assembly, TypeToken::token);
                    self.emitter.type_ref(scope, part, (assembly, path))?
                }
            });
        }
        let token = token.ok_or_else(|| ImportError::NoName(name.to_owned()))?;
        self.tokens.types.insert(name.into(), token);
        Ok(token)
    }

    fn own_type(
        &self,
        whole: &str,
        name: &str,
        outer: Option<TypeDef>,
    ) -> Result<TypeToken, E::Error> {
        let found = self.emitter.type_def(name, outer)?;
        let missing = || ImportError::NoType {
            name: name.to_owned(),
            whole: whole.to_owned(),
        };
        Ok(found.ok_or_else(missing)?.into())
    }

    /// The token of a member of a type. The signature is in terms of the type's parameters.
    ///
    /// # Errors
    ///
    /// A malformed text or signature, or the error of the emitter.
    pub fn member_of(
        &mut self,
        class: TypeSig,
        name: &str,
        signature: &MethodSig,
    ) -> Result<Token, E::Error> {
        let parent = self.operand_of(class)?;
        self.member(parent, name, &blob(signature.to_bytes())?)
    }

    /// The token of a generic method with these type arguments.
    ///
    /// # Errors
    ///
    /// A malformed text or signature, or the error of the emitter.
    pub fn instance(&mut self, method: Token, arguments: Vec<TypeSig>) -> Result<Token, E::Error> {
        let arguments = blob(MethodSpecSig { arguments }.to_bytes())?;
        if let Some(token) = self.tokens.method_specs.get(&(method, arguments.clone())) {
            return Ok(*token);
        }
        let token = self.emitter.method_spec(method, &arguments)?;
        self.tokens.method_specs.insert((method, arguments), token);
        Ok(token)
    }

    /// The token of a type by its name, or by the token in text (`0x02000005`).
    fn named_or_numbered(&mut self, name: &str, kind: TypeKeyword) -> Result<TypeToken, E::Error> {
        match TokenNames.type_token(name, kind) {
            Some(token) => Ok(token),
            None => self.named_type(name),
        }
    }

    /// Parses a text and resolves the types that it names.
    fn read<T>(
        &mut self,
        read: impl FnOnce(
            &mut dyn FnMut(&str, TypeKeyword) -> Option<TypeToken>,
        ) -> Result<T, TextError>,
    ) -> Result<T, E::Error> {
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
            None => Ok(read.map_err(ImportError::Text)?),
        }
    }

    /// The type of a text.
    ///
    /// # Errors
    ///
    /// A malformed text or signature, or the error of the emitter.
    pub fn type_sig(&mut self, text: &str) -> Result<TypeSig, E::Error> {
        self.read(|mut tokens| TypeSig::parse_text(text, &mut tokens))
    }

    /// The signature of a method, in terms of the module.
    ///
    /// # Errors
    ///
    /// A malformed text or signature, or the error of the emitter.
    pub fn method_sig(&mut self, method: &MethodSymbol) -> Result<MethodSig, E::Error> {
        self.read(|mut tokens| method.sig(&mut tokens))
    }

    /// The token of a type as an operand or the parent of a member.
    fn type_operand(&mut self, name: &TypeSymbol) -> Result<TypeToken, E::Error> {
        if !name.is_specification() {
            return self.named_type(&name.name);
        }
        let read = self.type_sig(&name.name)?;
        self.operand_of(read)
    }

    /// The token of a type in terms of the module, as an operand or the parent of a member. For a
    /// primitive, that is the type of the core library.
    ///
    /// # Errors
    ///
    /// A malformed text or signature, or the error of the emitter.
    pub fn operand_of(&mut self, read: TypeSig) -> Result<TypeToken, E::Error> {
        if let TypeSig::Class(token) | TypeSig::ValueType(token) = read {
            return Ok(token);
        }
        if let Some((_, name)) = read.primitive_names() {
            return self.named_type(&format!("[{ALIAS}]{name}"));
        }
        let blob = blob(TypeSpecSig { type_sig: read }.to_bytes())?;
        if let Some(token) = self.tokens.type_specs.get(&blob) {
            return Ok(*token);
        }
        let token = self.emitter.type_spec(&blob)?;
        self.tokens.type_specs.insert(blob, token);
        Ok(token)
    }

    /// A member of a type: the definition if the module has it, otherwise a reference.
    fn member(
        &mut self,
        parent: TypeToken,
        name: &str,
        signature: &[u8],
    ) -> Result<Token, E::Error> {
        let TypeToken::Def(class) = parent else {
            return self.emitter.member_ref(parent, name, signature);
        };
        let found = self.emitter.member_def(class, name, signature)?;
        Ok(found.ok_or_else(|| ImportError::NoMember(name.to_owned()))?)
    }

    /// The token of a symbol, resolved once.
    fn remembered(
        &mut self,
        symbol: Symbol,
        get: impl FnOnce(&mut Self) -> Result<Token, E::Error>,
    ) -> Result<Token, E::Error> {
        if let Some(token) = self.tokens.symbols.get(&symbol) {
            return Ok(*token);
        }
        let token = get(self).map_err(|error| ImportError::NoToken {
            symbol: symbol.to_string(),
            problem: error.to_string(),
        })?;
        self.tokens.symbols.insert(symbol, token);
        Ok(token)
    }

    fn stand_alone(&mut self, blob: Vec<u8>) -> Result<Token, E::Error> {
        if let Some(token) = self.tokens.stand_alone.get(&blob) {
            return Ok(*token);
        }
        let token = self.emitter.stand_alone_sig(&blob)?;
        self.tokens.stand_alone.insert(blob, token);
        Ok(token)
    }
}

/// The blob of a signature that was written without an error: nothing else checks it before the JIT
/// does.
fn blob(written: Result<Vec<u8>, SignatureError>) -> Result<Vec<u8>, ImportError> {
    written.map_err(ImportError::Signature)
}

impl<E: Emitter> TokenSource for Importer<'_, E> {
    type Error = E::Error;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token, E::Error> {
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

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token, E::Error> {
        self.remembered(Symbol::Type(name.clone()), |importer| {
            Ok(importer.type_operand(name)?.token())
        })
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token, E::Error> {
        self.remembered(Symbol::Field(field.clone()), |importer| {
            let parent = importer.type_operand(&field.owner)?;
            let field_type = importer.type_sig(&field.field_type)?;
            let signature = blob(FieldSig { field_type }.to_bytes())?;
            importer.member(parent, &field.name, &signature)
        })
    }

    fn user_string(&mut self, text: &str) -> Result<Token, E::Error> {
        self.remembered(Symbol::String(text.into()), |importer| {
            importer.emitter.user_string(text)
        })
    }

    fn signature(&mut self, signature: &MethodSig) -> Result<Token, E::Error> {
        self.stand_alone(blob(signature.to_bytes())?)
    }

    fn locals(&mut self, locals: &LocalsSig) -> Result<Token, E::Error> {
        self.stand_alone(blob(locals.to_bytes())?)
    }
}
