//! The meaning of a module's tokens according to its metadata, and the tokens of symbols.
//!
//! An embedder implements two traits over the rows of the metadata: [`Tables`] reads them,
//! [`Emitter`] finds and adds them. On the first is built a [`Resolver`](crate::symbol::Resolver),
//! the [`MetadataResolver`], and on the second a [`TokenSource`](crate::symbol::TokenSource), the
//! [`Importer`]: these take generic types and methods, nested types, primitives and signatures
//! apart. Both cache their results.

mod cache;
mod import;
mod resolver;
#[cfg(test)]
mod tests;

use crate::token::{Token, TypeDef, TypeToken};

pub use cache::{Cache, ResolutionCache};
pub use import::{ImportError, Importer, TokenCache};
pub use resolver::MetadataResolver;

/// A method or field, defined or referenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The type that declares it, by any kind of type token.
    pub parent: Token,
    /// Its name.
    pub name: String,
    /// The blob of its signature.
    pub signature: Vec<u8>,
}

impl Member {
    fn view(&self) -> MemberView<'_> {
        MemberView {
            parent: self.parent,
            name: &self.name,
            signature: &self.signature,
        }
    }
}

/// A [`Member`] whose name and signature are borrowed from the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberView<'a> {
    /// The type that declares it, by any kind of type token.
    pub parent: Token,
    /// Its name.
    pub name: &'a str,
    /// The blob of its signature.
    pub signature: &'a [u8],
}

/// The name of a type, borrowed from the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeNameView<'a> {
    /// The namespace; empty if `name` is the full name, or the type has no namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl<'a> TypeNameView<'a> {
    /// The name of a type in the namespace `System`; `None` for any other.
    fn in_system(self) -> Option<&'a str> {
        match self.namespace {
            "" => self.name.strip_prefix("System."),
            "System" => Some(self.name),
            _ => None,
        }
    }
}

/// Read access to the metadata of one module. `None` if there is no such row.
///
/// The methods whose names begin with `with_` read a row without copying it. A [`MetadataResolver`]
/// calls these; by default they call the others.
pub trait Tables {
    /// The method or field of a `MethodDef`, `FieldDef` or `MemberRef`.
    fn member(&self, token: Token) -> Option<Member>;

    /// The generic method of a `MethodSpec` and the blob of its arguments.
    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)>;

    /// The blob of a `StandAloneSig`.
    fn stand_alone_sig(&self, token: Token) -> Option<Vec<u8>>;

    /// The blob of a `TypeSpec`.
    fn type_spec(&self, token: Token) -> Option<Vec<u8>>;

    /// The name of a `TypeDef` or `TypeRef`, with the base type of a `TypeDef` or the resolution
    /// scope of a `TypeRef`.
    fn type_name(&self, token: Token) -> Option<(String, Token)>;

    /// Whether the module is the core library, which defines the primitives.
    fn is_core_library(&self) -> bool;

    /// Reads the row that [`member`](Self::member) returns.
    fn with_member<R>(&self, token: Token, read: impl FnOnce(MemberView<'_>) -> R) -> Option<R> {
        Some(read(self.member(token)?.view()))
    }

    /// Reads the row that [`method_spec`](Self::method_spec) returns.
    fn with_method_spec<R>(&self, token: Token, read: impl FnOnce(Token, &[u8]) -> R) -> Option<R> {
        let (generic, arguments) = self.method_spec(token)?;
        Some(read(generic, &arguments))
    }

    /// Reads the blob that [`stand_alone_sig`](Self::stand_alone_sig) returns.
    fn with_stand_alone_sig<R>(&self, token: Token, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Some(read(&self.stand_alone_sig(token)?))
    }

    /// Reads the blob that [`type_spec`](Self::type_spec) returns.
    fn with_type_spec<R>(&self, token: Token, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Some(read(&self.type_spec(token)?))
    }

    /// Reads the row that [`type_name`](Self::type_name) returns.
    fn with_type_name<R>(
        &self,
        token: Token,
        read: impl FnOnce(TypeNameView<'_>, Token) -> R,
    ) -> Option<R> {
        let (name, other) = self.type_name(token)?;
        let (namespace, name) = ("", name.as_str());
        Some(read(TypeNameView { namespace, name }, other))
    }
}

/// The resolution scope of the types of an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolutionScope {
    /// The module itself.
    Module,
    /// The assembly with this reference.
    Assembly(Token),
}

/// Finds tokens in the metadata of one module, and adds missing ones.
pub trait Emitter {
    /// The reason why there is no such token.
    type Error: From<ImportError> + std::fmt::Display;

    /// The resolution scope of a type of an assembly. The name `corelib` denotes the core library,
    /// under whichever name the module refers to it. `path` is the name of the type after those of
    /// its enclosing types, separated by `/`.
    ///
    /// # Errors
    ///
    /// If the module cannot refer to the assembly.
    fn resolution_scope(
        &mut self,
        assembly: &str,
        path: &str,
    ) -> Result<ResolutionScope, Self::Error>;

    /// A type that the module defines.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn type_def(&self, name: &str, outer: Option<TypeDef>) -> Result<Option<TypeDef>, Self::Error>;

    /// The reference to a type in a scope: an assembly or the enclosing type. `whole` is the token
    /// of the assembly and the full path.
    ///
    /// # Errors
    ///
    /// If the type is known not to exist.
    fn type_ref(
        &mut self,
        scope: Token,
        name: &str,
        whole: (Token, &str),
    ) -> Result<TypeToken, Self::Error>;

    /// A method or field that a type of the module declares itself.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn member_def(
        &self,
        class: TypeDef,
        name: &str,
        signature: &[u8],
    ) -> Result<Option<Token>, Self::Error>;

    /// The reference to a member of a type.
    ///
    /// # Errors
    ///
    /// If the member is known not to exist.
    fn member_ref(
        &mut self,
        parent: TypeToken,
        name: &str,
        signature: &[u8],
    ) -> Result<Token, Self::Error>;

    /// The `TypeSpec` of a signature.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn type_spec(&mut self, signature: &[u8]) -> Result<TypeToken, Self::Error>;

    /// The `MethodSpec` of a generic method with type arguments.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Result<Token, Self::Error>;

    /// The `StandAloneSig` of a signature.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn stand_alone_sig(&mut self, signature: &[u8]) -> Result<Token, Self::Error>;

    /// The token of a string.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn user_string(&mut self, text: &str) -> Result<Token, Self::Error>;
}
