//! Parses signatures: the inverse of `display` in the exact style.

mod array;
mod lists;
mod method;

use super::{
    FieldSig, LocalsSig, MAX_DEPTH, MemberRefSig, MethodSig, MethodSpecSig, PropertySig,
    StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};
use crate::lexer::{Cursor, TextError, TextErrorKind};
use crate::token::{Token, TypeToken};

/// The largest count or index in a signature.
const MAX_NUMBER: u64 = 0x1fff_ffff;

/// The keyword before the name of a type in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKeyword {
    /// `class`: a reference type.
    Class,
    /// `valuetype`.
    ValueType,
    /// `modreq` or `modopt`: a modifier, which may be either kind of type.
    Modifier,
}

/// Resolves the names of types in a text to tokens.
///
/// Implemented by closures `FnMut(&str, TypeKeyword) -> Option<TypeToken>`, and by [`TokenNames`] for
/// texts that refer to types by token: `class 0x01000005`.
pub trait TypeTokens {
    /// The token of a type by its name in the text, without quotes:
    /// ``[System.Collections]System.Collections.Generic.List`1/Enumerator``. `None` if there is
    /// none; parsing then fails.
    fn type_token(&mut self, name: &str, kind: TypeKeyword) -> Option<TypeToken>;
}

impl<F: FnMut(&str, TypeKeyword) -> Option<TypeToken>> TypeTokens for F {
    fn type_token(&mut self, name: &str, kind: TypeKeyword) -> Option<TypeToken> {
        self(name, kind)
    }
}

impl TypeTokens for TokenNames {
    fn type_token(&mut self, name: &str, _kind: TypeKeyword) -> Option<TypeToken> {
        let digits = name.strip_prefix("0x")?;
        let raw = u32::from_str_radix(digits, 16).ok()?;
        TypeToken::try_from(Token::new(raw)).ok()
    }
}

/// Implements `parse_text` for signatures.
macro_rules! texts {
    ($($name:ident, $parser:ident => $parse:expr;)*) => {$(
        impl $name {
            /// Parses the output of [`text`](Self::text). Also accepts primitives and function
            /// pointers in the form of `ilasm`: `int32`, `native int`, `method void *(int)`.
            ///
            /// # Errors
            ///
            /// A malformed text, with the position of the error, or a type without a token.
            pub fn parse_text(
                text: &str,
                tokens: &mut impl TypeTokens,
            ) -> Result<Self, TextError> {
                let mut cursor = Cursor::new(text);
                let mut $parser = TypeParser::new(&mut cursor, tokens);
                let parsed = $parse?;
                cursor.finish()?;
                Ok(parsed)
            }
        }
    )*};
}

texts! {
    TypeSig, parser => parser.type_sig();
    MethodSig, parser => parser.method_sig();
    FieldSig, parser => parser.type_sig().map(|field_type| FieldSig { field_type });
    PropertySig, parser => parser.property_sig();
    LocalsSig, parser => parser.locals_sig();
    TypeSpecSig, parser => parser.type_sig().map(|type_sig| TypeSpecSig { type_sig });
    MethodSpecSig, parser => parser.arguments().map(|arguments| MethodSpecSig { arguments });
    MemberRefSig, parser => parser.member();
    StandAloneSig, parser => parser.stand_alone();
}

/// A parsed item, and the nesting depth of its types.
struct Nested<T> {
    of: T,
    height: usize,
}

/// Parses types.
pub(crate) struct TypeParser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    tokens: &'c mut dyn TypeTokens,
    /// The number of types that enclose this position.
    depth: usize,
}

impl<'c, 't> TypeParser<'c, 't> {
    pub(crate) fn new(cursor: &'c mut Cursor<'t>, tokens: &'c mut dyn TypeTokens) -> Self {
        Self {
            cursor,
            tokens,
            depth: 0,
        }
    }

    pub(crate) fn type_sig(&mut self) -> Result<TypeSig, TextError> {
        self.nested(false).map(|nested| nested.of)
    }

    /// A type. Before the parameters of a `method` pointer, the `*` belongs to these.
    fn nested(&mut self, in_pointer: bool) -> Result<Nested<TypeSig>, TextError> {
        self.cursor.skip();
        if self.depth == MAX_DEPTH {
            return Err(self
                .cursor
                .error(TextErrorKind::TooDeep(MAX_DEPTH), self.cursor.at()));
        }
        self.depth += 1;
        let nested = self.prefix();
        self.depth -= 1;
        let Nested { mut of, mut height } = nested?;
        loop {
            self.cursor.skip();
            let start = self.cursor.at();
            if height > MAX_DEPTH {
                return Err(self.cursor.error(TextErrorKind::TooDeep(MAX_DEPTH), start));
            }
            of = match self.cursor.peek() {
                Some('*') => {
                    self.cursor.eat("*");
                    if in_pointer && (self.cursor.follows("(") || self.cursor.follows("<[")) {
                        self.cursor.go_to(start);
                        return Ok(Nested { of, height });
                    }
                    TypeSig::Pointer(Box::new(of))
                }
                Some('&') => {
                    self.cursor.eat("&");
                    TypeSig::ByRef(Box::new(of))
                }
                Some('[') => match self.shape()? {
                    Some(Some(shape)) => TypeSig::Array {
                        element: Box::new(of),
                        shape: Box::new(shape),
                    },
                    Some(None) => TypeSig::SzArray(Box::new(of)),
                    None => {
                        self.cursor.go_to(start);
                        return Ok(Nested { of, height });
                    }
                },
                Some('p' | 'm') => match self.cursor.word() {
                    "pinned" => TypeSig::Pinned(Box::new(of)),
                    word @ ("modreq" | "modopt") => TypeSig::Modified {
                        required: word == "modreq",
                        modifier: self.modifier()?,
                        inner: Box::new(of),
                    },
                    _ => {
                        self.cursor.go_to(start);
                        return Ok(Nested { of, height });
                    }
                },
                _ => return Ok(Nested { of, height }),
            };
            height += 1;
        }
    }

    fn modifier(&mut self) -> Result<TypeToken, TextError> {
        self.cursor.expect("(", "`(` and a modifier")?;
        if !self.cursor.eat_word("class") {
            self.cursor.eat_word("valuetype");
        }
        let token = self.token(TypeKeyword::Modifier)?;
        self.cursor.expect(")", "`)` after a modifier")?;
        Ok(token)
    }

    fn token(&mut self, kind: TypeKeyword) -> Result<TypeToken, TextError> {
        self.cursor.skip();
        let start = self.cursor.at();
        let name = self.cursor.type_name()?;
        match self.tokens.type_token(&name, kind) {
            Some(token) => Ok(token),
            None => {
                let kind = TextErrorKind::UnknownType(name.into());
                Err(self.cursor.error(kind, start))
            }
        }
    }

    fn index(&mut self) -> Result<u32, TextError> {
        let number = self
            .cursor
            .unsigned(MAX_NUMBER, "the number of a generic parameter")?;
        Ok(number as u32)
    }

    /// The start of a type.
    fn prefix(&mut self) -> Result<Nested<TypeSig>, TextError> {
        const EXPECTED: &str = "a type: a primitive, or `class` or `valuetype` and a name";
        let leaf = |of| Ok(Nested { of, height: 1 });
        if self.cursor.eat("!!") {
            return leaf(TypeSig::MVar(self.index()?));
        }
        if self.cursor.eat("!") {
            return leaf(TypeSig::Var(self.index()?));
        }
        let start = self.cursor.at();
        match self.cursor.word() {
            "class" => self.named(false),
            "valuetype" => self.named(true),
            "method" => self.method_pointer(),
            "delegate" => self.delegate(),
            "native" => match self.cursor.word() {
                "int" => leaf(TypeSig::NativeInt),
                "uint" => leaf(TypeSig::NativeUint),
                "unsigned" if self.cursor.eat_word("int") => leaf(TypeSig::NativeUint),
                _ => {
                    self.cursor.go_to(start);
                    Err(self.cursor.expected("`native int` or `native uint`"))
                }
            },
            "unsigned" => match self.cursor.word() {
                "int8" => leaf(TypeSig::U1),
                "int16" => leaf(TypeSig::U2),
                "int32" => leaf(TypeSig::U4),
                "int64" => leaf(TypeSig::U8),
                _ => {
                    self.cursor.go_to(start);
                    Err(self.cursor.expected("`unsigned int32` or another width"))
                }
            },
            word => match TypeSig::from_primitive_name(word) {
                Some(primitive) => leaf(primitive),
                None => {
                    self.cursor.go_to(start);
                    Err(self.cursor.expected(EXPECTED))
                }
            },
        }
    }

    fn named(&mut self, is_value_type: bool) -> Result<Nested<TypeSig>, TextError> {
        let kind = if is_value_type {
            TypeKeyword::ValueType
        } else {
            TypeKeyword::Class
        };
        let definition = self.token(kind)?;
        if self.cursor.follows("<") && !self.follows_arity() {
            let arguments = self.nested_arguments()?;
            return Ok(Nested {
                height: arguments.height + 1,
                of: TypeSig::GenericInstance {
                    is_value_type,
                    definition,
                    arguments: arguments.of,
                },
            });
        }
        let of = if is_value_type {
            TypeSig::ValueType(definition)
        } else {
            TypeSig::Class(definition)
        };
        Ok(Nested { of, height: 1 })
    }

    pub(crate) fn arguments(&mut self) -> Result<Vec<TypeSig>, TextError> {
        self.nested_arguments().map(|nested| nested.of)
    }

    fn nested_arguments(&mut self) -> Result<Nested<Vec<TypeSig>>, TextError> {
        self.cursor.expect("<", "`<` and types")?;
        let (mut of, mut height) = (Vec::new(), 0);
        loop {
            let argument = self.nested(false)?;
            height = height.max(argument.height);
            of.push(argument.of);
            if !self.cursor.eat(",") {
                self.cursor.expect(">", "`,` or `>` after a type")?;
                return Ok(Nested { of, height });
            }
        }
    }
}
