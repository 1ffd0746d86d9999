//! What the metadata of a module say of its tokens, and which tokens they have for symbols.
//!
//! An embedder answers a few questions about rows: [`Tables`] are those of reading, [`Emitter`] those of
//! looking for something and adding it. From the first follows a
//! [`Resolver`](crate::symbol::Resolver), the [`MetadataResolver`], and from the second a
//! [`TokenSource`](crate::symbol::TokenSource), the [`Importer`]: generic types and methods, nested
//! types, primitives and signatures are taken apart here. Both remember what they were asked.

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
    /// The type that declares it, by any token of a type.
    pub parent: Token,
    /// Its name.
    pub name: String,
    /// The blob of its signature.
    pub signature: Vec<u8>,
}

/// The metadata of one module, as far as they are read. `None` where there is no such row.
pub trait Tables {
    /// The method or field behind a `MethodDef`, `FieldDef` or `MemberRef`.
    fn member(&self, token: Token) -> Option<Member>;

    /// The generic method of a `MethodSpec` and the blob of its arguments.
    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)>;

    /// The blob of a `StandAloneSig`.
    fn stand_alone_sig(&self, token: Token) -> Option<Vec<u8>>;

    /// The blob of a `TypeSpec`.
    fn type_spec(&self, token: Token) -> Option<Vec<u8>>;

    /// The name of a `TypeDef` or `TypeRef`, and what a `TypeDef` derives from or where a `TypeRef`
    /// is looked for.
    fn type_name(&self, token: Token) -> Option<(String, Token)>;

    /// Whether the module is the core library, which defines the primitives.
    fn is_core_library(&self) -> bool;
}

/// Where a module finds the types of an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolutionScope {
    /// In the module itself.
    Module,
    /// In an assembly that it refers to.
    Assembly(Token),
}

/// The metadata of one module, as far as tokens are looked for, and added where there are none.
pub trait Emitter {
    /// Why there is no such token.
    type Error: From<ImportError> + std::fmt::Display;

    /// Where the module finds a type of an assembly; `corelib` stands for the core library, by whichever
    /// name the module refers to it. `path` has the names of the types that enclose the type before its
    /// own, with `/` between them.
    ///
    /// # Errors
    ///
    /// Where the module cannot refer to the assembly.
    fn resolution_scope(
        &mut self,
        assembly: &str,
        path: &str,
    ) -> Result<ResolutionScope, Self::Error>;

    /// A type that the module defines.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn type_def(&self, name: &str, outer: Option<TypeDef>) -> Result<Option<TypeDef>, Self::Error>;

    /// The reference to a type in a scope, which is an assembly or the type that encloses it; `whole`
    /// is the token of the assembly and the path there.
    ///
    /// # Errors
    ///
    /// Where it is known that there is none.
    fn type_ref(
        &mut self,
        scope: Token,
        name: &str,
        whole: (Token, &str),
    ) -> Result<TypeToken, Self::Error>;

    /// A method or field that a type of the module has itself.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
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
    /// Where it is known that there is none.
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
    /// What the metadata answer.
    fn type_spec(&mut self, signature: &[u8]) -> Result<TypeToken, Self::Error>;

    /// The `MethodSpec` of a generic method with arguments.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Result<Token, Self::Error>;

    /// The `StandAloneSig` of a signature.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn stand_alone_sig(&mut self, signature: &[u8]) -> Result<Token, Self::Error>;

    /// The token of a string.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn user_string(&mut self, text: &str) -> Result<Token, Self::Error>;
}
