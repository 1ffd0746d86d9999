use crate::code::Code;
use crate::signature::MethodSig;
use crate::symbol::{CallShape, FieldSymbol, MethodSymbol, Symbol, TypeSymbol};
use crate::token::{
    FieldDef, MemberRef, MethodDef, MethodSpec, StandAloneSig, Token, TypeDef, TypeRef, TypeSpec,
    TypeToken, UserString,
};

/// A token or symbol that is being added to a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Token(Token),
    Symbol(Symbol),
}

impl Name {
    /// The token, or the index of the symbol in this code, and whether it is a symbol.
    pub(crate) fn within(self, code: &mut Code) -> (u32, bool) {
        match self {
            Self::Token(token) => (token.raw(), false),
            Self::Symbol(symbol) => (code.add_symbol(symbol), true),
        }
    }
}

/// The operand of a call: the token or symbol of a method, and the shape of the call if it is
/// known.
///
/// For a token, the shape is known only together with the signature: with `(token, &signature)`,
/// the fragment declares no more stack than the call needs. Without it, the call is assumed to take
/// nothing and to leave a value, which is never too little.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callee {
    pub(crate) name: Name,
    pub(crate) shape: Option<CallShape>,
}

/// The operand of `calli`: a signature or its token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SignatureName {
    pub(crate) name: Name,
    pub(crate) shape: Option<CallShape>,
}

/// The operand of an instruction on a type: a token or symbol, the latter also as plain text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeName(pub(crate) Name);

/// The operand of an instruction on a field: a token or symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldName(pub(crate) Name);

/// The operand of `ldstr`: the text or its token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringName(pub(crate) Name);

/// The operand of `ldtoken`: a type, method or field, by token or symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnyName(pub(crate) Name);

/// Implements `From` for tokens and for a symbol, by value and by reference.
macro_rules! names {
    ($($name:ident: $($token:ident),* ; $($symbol:ident in $variant:ident),*;)*) => {$(
        $(impl From<$token> for $name {
            fn from(token: $token) -> Self {
                Self(Name::Token(token.into()))
            }
        })*
        $(impl From<$symbol> for $name {
            fn from(symbol: $symbol) -> Self {
                Self(Name::Symbol(Symbol::$variant(symbol)))
            }
        }
        impl From<&$symbol> for $name {
            fn from(symbol: &$symbol) -> Self {
                Self::from(symbol.clone())
            }
        })*
    )*};
}

names! {
    TypeName: Token, TypeToken, TypeDef, TypeRef, TypeSpec; TypeSymbol in Type;
    FieldName: Token, FieldDef, MemberRef; FieldSymbol in Field;
    StringName: Token, UserString; ;
    AnyName: Token, TypeToken, TypeDef, TypeRef, TypeSpec, MethodDef, MemberRef, MethodSpec, FieldDef;
        TypeSymbol in Type, MethodSymbol in Method, FieldSymbol in Field;
}

impl From<&str> for TypeName {
    fn from(name: &str) -> Self {
        TypeSymbol::new(name).into()
    }
}

impl From<&str> for StringName {
    fn from(text: &str) -> Self {
        Self(Name::Symbol(Symbol::String(text.into())))
    }
}

impl From<&String> for StringName {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<MethodSymbol> for Callee {
    fn from(method: MethodSymbol) -> Self {
        Self {
            shape: Some(method.shape()),
            name: Name::Symbol(Symbol::Method(method)),
        }
    }
}

impl From<&MethodSymbol> for Callee {
    fn from(method: &MethodSymbol) -> Self {
        method.clone().into()
    }
}

impl From<MethodSig> for SignatureName {
    fn from(signature: MethodSig) -> Self {
        Self {
            shape: Some(CallShape::from(&signature)),
            name: Name::Symbol(Symbol::Signature(signature)),
        }
    }
}

impl From<&MethodSig> for SignatureName {
    fn from(signature: &MethodSig) -> Self {
        signature.clone().into()
    }
}

/// Implements `From` for tokens, alone and with their signature.
macro_rules! shaped {
    ($($name:ident: $($token:ident),*;)*) => {$($(
        impl From<$token> for $name {
            fn from(token: $token) -> Self {
                Self {
                    name: Name::Token(token.into()),
                    shape: None,
                }
            }
        }
        impl From<($token, &MethodSig)> for $name {
            fn from((token, signature): ($token, &MethodSig)) -> Self {
                Self {
                    name: Name::Token(token.into()),
                    shape: Some(CallShape::from(signature)),
                }
            }
        }
    )*)*};
}

shaped! {
    Callee: Token, MethodDef, MemberRef, MethodSpec;
    SignatureName: Token, StandAloneSig;
}
