use std::collections::HashMap;

use clr_profiler_il::signature::{LocalsSig, MethodSig, TokenNames, TypeSig};
use clr_profiler_il::symbol::{
    CallShape, FieldSymbol, MethodSymbol, Reference, Resolver, Symbol, TokenSource, TypeKind,
    TypeSymbol,
};
use clr_profiler_il::token::{Token, TypeToken};

/// A module that has a token for every symbol.
#[derive(Debug, Default)]
pub(crate) struct Module {
    rows: HashMap<(u8, String), u32>,
    rows_of_table: HashMap<u8, u32>,
}

/// The error of a module that never fails.
#[derive(Debug)]
pub(crate) enum Never {}

impl std::fmt::Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

impl Module {
    fn token(&mut self, table: u8, text: String) -> Result<Token, Never> {
        let last = self.rows_of_table.entry(table).or_default();
        let row = *self.rows.entry((table, text)).or_insert_with(|| {
            *last += 1;
            *last
        });
        Ok(Token::new(u32::from(table) << 24 | row))
    }
}

impl TokenSource for Module {
    type Error = Never;

    fn method(&mut self, method: &MethodSymbol) -> Result<Token, Never> {
        self.token(0x0a, method.to_string())
    }

    fn type_token(&mut self, name: &TypeSymbol) -> Result<Token, Never> {
        self.token(0x01, name.to_string())
    }

    fn field(&mut self, field: &FieldSymbol) -> Result<Token, Never> {
        self.token(0x0a, field.to_string())
    }

    fn user_string(&mut self, text: &str) -> Result<Token, Never> {
        self.token(0x70, text.to_owned())
    }

    fn signature(&mut self, signature: &MethodSig) -> Result<Token, Never> {
        self.token(0x11, format!("{signature:?}"))
    }

    fn locals(&mut self, locals: &LocalsSig) -> Result<Token, Never> {
        self.token(0x11, format!("{locals:?}"))
    }
}

/// Resolves every token to some meaning, always the same for the same token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meanings;

/// A few types of all kinds.
pub(crate) fn some_type(number: u32) -> TypeSig {
    let class = TypeToken::try_from(Token::new(0x0100_0001)).expect("a type");
    let value = TypeToken::try_from(Token::new(0x0100_0002)).expect("a type");
    match number % 12 {
        0 | 1 => TypeSig::I4,
        2 => TypeSig::Object,
        3 => TypeSig::String,
        4 => TypeSig::I8,
        5 => TypeSig::R8,
        6 => TypeSig::ByRef(Box::new(TypeSig::I4)),
        7 => TypeSig::Pointer(Box::new(TypeSig::Void)),
        8 => TypeSig::ValueType(value),
        9 => TypeSig::Class(class),
        10 => TypeSig::SzArray(Box::new(TypeSig::I4)),
        _ => TypeSig::Var(0),
    }
}

/// A method that takes up to three arguments.
pub(crate) fn some_method(number: u32) -> MethodSig {
    let return_type = match number % 3 {
        0 => TypeSig::Void,
        _ => some_type(number / 3),
    };
    let count = number / 7 % 4;
    let params = (0..count).map(|index| some_type(number / 11 + index));
    let params = params.collect();
    if number & 0x80 != 0 {
        MethodSig::instance(return_type, params)
    } else {
        MethodSig::new(return_type, params)
    }
}

impl Resolver for Meanings {
    fn method(&self, method: Reference<'_>) -> Option<MethodSig> {
        match method {
            Reference::Token(token) if token.row() % 17 == 16 => None,
            Reference::Token(token) => Some(some_method(token.row())),
            Reference::Symbol(Symbol::Method(method)) => method.sig(&mut TokenNames).ok(),
            Reference::Symbol(_) => None,
        }
    }

    fn method_shape(&self, method: Reference<'_>) -> Option<CallShape> {
        match method {
            // Avoids parsing the whole text each time.
            Reference::Symbol(Symbol::Method(method)) => Some(method.shape()),
            other => self.method(other).as_ref().map(CallShape::from),
        }
    }

    fn signature(&self, signature: Reference<'_>) -> Option<MethodSig> {
        match signature {
            Reference::Symbol(Symbol::Signature(signature)) => Some(signature.clone()),
            other => self.method(other),
        }
    }

    fn field(&self, field: Reference<'_>) -> Option<TypeSig> {
        match field {
            Reference::Token(token) => Some(some_type(token.row())),
            Reference::Symbol(_) => None,
        }
    }

    fn type_sig(&self, name: Reference<'_>) -> Option<TypeSig> {
        self.field(name)
    }

    fn type_kind(&self, name: TypeToken) -> Option<TypeKind> {
        Some(match name.row() % 4 {
            0 => TypeKind::Enum(TypeSig::I4),
            1 => TypeKind::Class,
            2 => TypeKind::ValueType,
            _ => return None,
        })
    }

    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        self.field(member)
    }

    fn is_constructor(&self, method: Reference<'_>) -> bool {
        matches!(method, Reference::Token(token) if token.row() % 5 == 1)
    }

    fn locals(&self, token: Token) -> Option<LocalsSig> {
        let count = token.row() % 9;
        let locals = (0..count).map(|index| some_type(token.row() + index));
        Some(LocalsSig {
            locals: locals.collect(),
        })
    }
}
