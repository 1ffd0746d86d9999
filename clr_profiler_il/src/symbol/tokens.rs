use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::{CallShape, FieldSymbol, MethodSymbol, Reference, Symbol, TypeSymbol};
use crate::signature::{LocalsSig, MethodSig, TypeSig};
use crate::token::{Token, TypeToken};

/// Implements a trait for references by forwarding.
macro_rules! forward {
    (@ $this:ident [$($receiver:tt)*] $method:ident $argument:ident ($type:ty) ($result:ty)) => {
        fn $method($($receiver)*, $argument: $type) -> $result {
            (**$this).$method($argument)
        }
    };
    ($this:ident $receiver:tt $($method:ident($argument:ident: $type:ty) -> $result:ty;)*) => {
        $(forward!(@ $this $receiver $method $argument ($type) ($result));)*
    };
}

/// Turns symbols into tokens of one module while a body is encoded.
///
/// In a profiler this is the module's metadata emitter, in a test a table. It is asked once for
/// each operand, so it should cache its results.
pub trait TokenSource {
    /// The reason why there is no token.
    type Error;

    /// The token of a method (`MethodDef`, `MemberRef` or `MethodSpec`).
    ///
    /// # Errors
    ///
    /// If the module cannot refer to it.
    fn method(&mut self, method: &MethodSymbol) -> Result<Token, Self::Error>;

    /// The token of a type (`TypeDef`, `TypeRef` or `TypeSpec`).
    ///
    /// # Errors
    ///
    /// If the module cannot refer to it.
    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token, Self::Error>;

    /// The token of a field (`FieldDef` or `MemberRef`).
    ///
    /// # Errors
    ///
    /// If the module cannot refer to it.
    fn field(&mut self, field: &FieldSymbol) -> Result<Token, Self::Error>;

    /// The token of a string.
    ///
    /// # Errors
    ///
    /// If the module cannot hold it.
    fn user_string(&mut self, text: &str) -> Result<Token, Self::Error>;

    /// The `StandAloneSig` token of the signature of a `calli`.
    ///
    /// # Errors
    ///
    /// If the module cannot hold it.
    fn signature(&mut self, signature: &MethodSig) -> Result<Token, Self::Error>;

    /// The `StandAloneSig` token of local variables.
    ///
    /// # Errors
    ///
    /// If the module cannot hold it.
    fn locals(&mut self, locals: &LocalsSig) -> Result<Token, Self::Error>;
}

/// A [`TokenSource`] for bodies without symbols.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTokens;

/// A symbol where only tokens can be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedSymbol {
    /// The symbol in text.
    pub symbol: String,
}

impl fmt::Display for UnresolvedSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no token for {}", self.symbol)
    }
}

impl Error for UnresolvedSymbol {}

fn unresolved(symbol: impl fmt::Display) -> Result<Token, UnresolvedSymbol> {
    Err(UnresolvedSymbol {
        symbol: symbol.to_string(),
    })
}

impl TokenSource for NoTokens {
    type Error = UnresolvedSymbol;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token, UnresolvedSymbol> {
        unresolved(method)
    }

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token, UnresolvedSymbol> {
        unresolved(name)
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token, UnresolvedSymbol> {
        unresolved(field)
    }

    fn user_string(&mut self, text: &str) -> Result<Token, UnresolvedSymbol> {
        unresolved(format_args!("{text:?}"))
    }

    fn signature(&mut self, _signature: &MethodSig) -> Result<Token, UnresolvedSymbol> {
        unresolved("a signature of calli")
    }

    fn locals(&mut self, _locals: &LocalsSig) -> Result<Token, UnresolvedSymbol> {
        unresolved("the locals")
    }
}

impl<T: TokenSource + ?Sized> TokenSource for &mut T {
    type Error = T::Error;

    forward! { self [&mut self]
        method(method: &MethodSymbol) -> Result<Token, T::Error>;
        type_token(name: &TypeSymbol) -> Result<Token, T::Error>;
        field(field: &FieldSymbol) -> Result<Token, T::Error>;
        user_string(text: &str) -> Result<Token, T::Error>;
        signature(signature: &MethodSig) -> Result<Token, T::Error>;
        locals(locals: &LocalsSig) -> Result<Token, T::Error>;
    }
}

impl Symbol {
    /// Asks a source for the token.
    pub(crate) fn token<S: TokenSource>(&self, source: &mut S) -> Result<Token, S::Error> {
        match self {
            Self::Method(method) => source.method(method),
            Self::Type(name) => source.type_token(name),
            Self::Field(field) => source.field(field),
            Self::String(text) => source.user_string(text),
            Self::Signature(signature) => source.signature(signature),
        }
    }
}

/// The kind of a type in a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeKind {
    /// A class, interface or delegate: its values are references to objects.
    Class,
    /// A structure.
    ValueType,
    /// An enumeration, with its underlying type.
    Enum(TypeSig),
}

/// A method with the type that declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedMethod {
    /// The result of [`Resolver::method`].
    pub signature: MethodSig,
    /// The result of [`Resolver::declaring_type`].
    pub declaring_type: Option<TypeSig>,
}

impl ResolvedMethod {
    /// A method with this signature.
    #[must_use]
    pub const fn new(signature: MethodSig, declaring_type: Option<TypeSig>) -> Self {
        Self {
            signature,
            declaring_type,
        }
    }
}

/// A field with the type that declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedField {
    /// The result of [`Resolver::field`].
    pub field_type: TypeSig,
    /// The result of [`Resolver::declaring_type`].
    pub declaring_type: Option<TypeSig>,
}

impl ResolvedField {
    /// A field of this type.
    #[must_use]
    pub const fn new(field_type: TypeSig, declaring_type: Option<TypeSig>) -> Self {
        Self {
            field_type,
            declaring_type,
        }
    }
}

/// Returns the meaning of the tokens and symbols in one module's bodies.
///
/// Exact stack depths need the shapes of calls; checking the kinds of values needs types too.
/// `None` means that the answer is not known.
pub trait Resolver {
    /// The signature of the method that `call`, `callvirt`, `newobj`, `ldftn` or `jmp` refers to.
    ///
    /// For a method of a generic type or a generic method: with the type arguments substituted if
    /// they are known, otherwise in terms of `!n` and `!!n`.
    fn method(&self, method: Reference<'_>) -> Option<MethodSig>;

    /// The signature that a `calli` refers to.
    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig>;

    /// The type of a field.
    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        let _ = field;
        None
    }

    /// The type that a type operand refers to: `I4` for a reference to `System.Int32`, a class or
    /// value type, or the type of a `TypeSpec`.
    fn type_sig(&self, name: Reference<'_>) -> Option<TypeSig> {
        let _ = name;
        None
    }

    /// The kind of a type that a signature refers to by token.
    ///
    /// A [`ValueType`](TypeSig::ValueType) may be an enumeration, whose values are integers on the
    /// stack. A value type of unknown kind is not checked.
    fn type_kind(&self, name: TypeToken) -> Option<TypeKind> {
        let _ = name;
        None
    }

    /// The type that declares a method or field. For a method, that is the type of `this` and of
    /// the result of `newobj`.
    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        let _ = member;
        None
    }

    /// Whether a method is an instance constructor, which is named `.ctor`.
    fn is_constructor(&self, method: Reference<'_>) -> bool {
        matches!(method, Reference::Symbol(Symbol::Method(method)) if &*method.name == ".ctor")
    }

    /// The locals of a `StandAloneSig` token.
    fn locals(&self, token: Token) -> Option<LocalsSig> {
        let _ = token;
        None
    }

    /// The results of [`method`](Self::method) and [`declaring_type`](Self::declaring_type) at once;
    /// `None` if the first is. The verifier calls this for each call in a body, so a resolver with a
    /// cache should return the cached value.
    fn resolved_method(&self, method: Reference<'_>) -> Option<Arc<ResolvedMethod>> {
        let signature = self.method(method)?;
        let declaring_type = self.declaring_type(method);
        Some(Arc::new(ResolvedMethod::new(signature, declaring_type)))
    }

    /// The results of [`field`](Self::field) and [`declaring_type`](Self::declaring_type) at once;
    /// `None` if the first is.
    fn resolved_field(&self, field: Reference<'_>) -> Option<Arc<ResolvedField>> {
        let field_type = self.field(field)?;
        let declaring_type = self.declaring_type(field);
        Some(Arc::new(ResolvedField::new(field_type, declaring_type)))
    }

    /// The shape of the call of a method; possibly cheaper to resolve than the whole signature.
    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        self.method(method).as_ref().map(CallShape::from)
    }

    /// The shape of a `calli`.
    fn signature_shape(&self, signature: Reference<'_>) -> Option<CallShape> {
        self.signature(signature).as_ref().map(CallShape::from)
    }
}

impl<R: Resolver + ?Sized> Resolver for &R {
    forward! { self [&self]
        method(method: Reference<'_>) -> Option<MethodSig>;
        signature(signature: Reference<'_>) -> Option<MethodSig>;
        field(field: Reference<'_>) -> Option<TypeSig>;
        type_sig(name: Reference<'_>) -> Option<TypeSig>;
        type_kind(name: TypeToken) -> Option<TypeKind>;
        declaring_type(member: Reference<'_>) -> Option<TypeSig>;
        is_constructor(method: Reference<'_>) -> bool;
        locals(token: Token) -> Option<LocalsSig>;
        resolved_method(method: Reference<'_>) -> Option<Arc<ResolvedMethod>>;
        resolved_field(field: Reference<'_>) -> Option<Arc<ResolvedField>>;
        method_shape(method: Reference<'_>) -> Option<CallShape>;
        signature_shape(signature: Reference<'_>) -> Option<CallShape>;
    }
}

/// Resolves nothing: sufficient for bodies without calls.
impl Resolver for () {
    fn method(&self, _method: Reference<'_>) -> Option<MethodSig> {
        None
    }

    fn signature(&self, _signature: Reference<'_>) -> Option<MethodSig> {
        None
    }
}
