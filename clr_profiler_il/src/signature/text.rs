//! Signatures from text: the way back of `display` in the exact style.

use super::{
    ArrayShape, CallingConvention, FieldSig, LocalsSig, MAX_DEPTH, MAX_LOCALS, MemberRefSig,
    MethodSig, MethodSpecSig, PropertySig, StandAloneSig, TokenNames, TypeSig, TypeSpecSig,
};
use crate::text::{Cursor, TextError, TextErrorKind};
use crate::token::{Token, TypeToken};

/// The largest number that a signature can hold in the place of a count or index.
const MAX_NUMBER: u64 = 0x1fff_ffff;
/// The lowest indexes that an array can begin with.
const LOWER_BOUNDS: (i64, i64) = (-0x1000_0000, 0x0fff_ffff);

/// What stands before the name of a type in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `class`: a reference type.
    Class,
    /// `valuetype`.
    ValueType,
    /// `modreq` or `modopt`: a modifier, which may be either.
    Modifier,
}

/// Finds the tokens of the types that a text names.
///
/// Implemented by closures `FnMut(&str, TypeKind) -> Option<TypeToken>`, and by [`TokenNames`] for
/// texts that name types by tokens: `class 0x01000005`.
pub trait TypeTokens {
    /// The token of a type by its name as it stands in the text, without quotes:
    /// ``[System.Collections]System.Collections.Generic.List`1/Enumerator``. `None` if there is
    /// none; reading then ends with an error.
    fn type_token(&mut self, name: &str, kind: TypeKind) -> Option<TypeToken>;
}

impl<F: FnMut(&str, TypeKind) -> Option<TypeToken>> TypeTokens for F {
    fn type_token(&mut self, name: &str, kind: TypeKind) -> Option<TypeToken> {
        self(name, kind)
    }
}

impl TypeTokens for TokenNames {
    fn type_token(&mut self, name: &str, _kind: TypeKind) -> Option<TypeToken> {
        let digits = name.strip_prefix("0x")?;
        let raw = u32::from_str_radix(digits, 16).ok()?;
        TypeToken::try_from(Token::new(raw)).ok()
    }
}

/// Gives signatures their `parse_text`.
macro_rules! texts {
    ($($name:ident, $parser:ident => $parse:expr;)*) => {$(
        impl $name {
            /// Reads what [`text`](Self::text) prints. Primitives may also have their names in
            /// `ilasm` (`int32`, `native int`), function pointers its form (`method void *(int)`).
            ///
            /// # Errors
            ///
            /// What is wrong with the text and where, or a type without a token.
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

/// Something that was read, and how deep the types in it are nested.
struct Nested<T> {
    of: T,
    height: usize,
}

/// What stands in front of a method.
#[derive(Clone, Copy)]
pub(crate) struct HowCalled {
    convention: CallingConvention,
    has_this: bool,
    explicit_this: bool,
}

/// Parameters and the place of the sentinel.
type Params = (Vec<TypeSig>, Option<usize>);

/// Reads types from a text.
pub(crate) struct TypeParser<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    tokens: &'c mut dyn TypeTokens,
    /// How many types are being read around this place.
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

    /// A type. In front of the parameters of a `method` pointer, the `*` belongs to them.
    fn nested(&mut self, in_pointer: bool) -> Result<Nested<TypeSig>, TextError> {
        self.cursor.skip();
        if self.depth == MAX_DEPTH {
            return Err(self.cursor.error(TextErrorKind::TooDeep, self.cursor.at()));
        }
        self.depth += 1;
        let nested = self.prefix();
        self.depth -= 1;
        let Nested { mut of, mut height } = nested?;
        loop {
            self.cursor.skip();
            let start = self.cursor.at();
            if height > MAX_DEPTH {
                return Err(self.cursor.error(TextErrorKind::TooDeep, start));
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
        let token = self.token(TypeKind::Modifier)?;
        self.cursor.expect(")", "`)` behind a modifier")?;
        Ok(token)
    }

    fn token(&mut self, kind: TypeKind) -> Result<TypeToken, TextError> {
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

    /// What a type begins with.
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
            TypeKind::ValueType
        } else {
            TypeKind::Class
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
                self.cursor.expect(">", "`,` or `>` behind a type")?;
                return Ok(Nested { of, height });
            }
        }
    }

    /// `None` if no bounds follow, but the name of an assembly or a list of types; `Some(None)` for
    /// a vector.
    fn shape(&mut self) -> Result<Option<Option<ArrayShape>>, TextError> {
        self.cursor.eat("[");
        let bounds = matches!(
            self.cursor.peek(),
            Some(']' | ',' | '*' | '-' | '.' | '0'..='9')
        );
        if !bounds && self.cursor.peek_word() != "rank" {
            return Ok(None);
        }
        if self.cursor.eat("]") {
            return Ok(Some(None));
        }
        let mut shape = ArrayShape::unbounded(0);
        loop {
            self.dimension(&mut shape)?;
            shape.rank = shape.rank.saturating_add(1);
            if !self.cursor.eat(",") {
                break;
            }
        }
        if self.cursor.eat_word("rank") {
            let start = self.cursor.at();
            let rank = self.cursor.unsigned(MAX_NUMBER, "a number of dimensions")? as u32;
            let bounded = shape.sizes.len().max(shape.lower_bounds.len());
            if rank == 0 || bounded > rank as usize {
                self.cursor.go_to(start);
                return Err(self.cursor.expected("as many dimensions as have bounds"));
            }
            shape.rank = rank;
        }
        self.cursor
            .expect("]", "`]` behind the bounds of an array")?;
        Ok(Some(Some(shape)))
    }

    /// `4`, `1...`, `1...4`, `*` or nothing.
    fn dimension(&mut self, shape: &mut ArrayShape) -> Result<(), TextError> {
        const EXPECTED: &str = "a bound, given to all dimensions before this one too";
        let start = self.cursor.at();
        let (mut lowest, mut size) = (None, None);
        if matches!(self.cursor.peek(), Some('-' | '0'..='9')) {
            let number = self.cursor.signed((i64::MIN, i64::MAX), "a bound")?;
            if self.cursor.eat("...") {
                lowest = Some(number);
                if matches!(self.cursor.peek(), Some('-' | '0'..='9')) {
                    let highest = self.cursor.signed((i64::MIN, i64::MAX), "a bound")?;
                    size = Some(i128::from(highest) - i128::from(number) + 1);
                }
            } else {
                size = Some(i128::from(number));
            }
        } else if !self.cursor.eat("*") {
            self.cursor.eat("...");
        }
        let dimension = shape.rank as usize;
        let fits = lowest.is_none_or(|lowest| {
            (LOWER_BOUNDS.0..=LOWER_BOUNDS.1).contains(&lowest)
                && shape.lower_bounds.len() == dimension
        }) && size.is_none_or(|size| {
            (0..=i128::from(MAX_NUMBER)).contains(&size) && shape.sizes.len() == dimension
        });
        if !fits {
            self.cursor.go_to(start);
            return Err(self.cursor.expected(EXPECTED));
        }
        shape
            .lower_bounds
            .extend(lowest.map(|lowest| lowest as i32));
        shape.sizes.extend(size.map(|size| size as u32));
        Ok(())
    }

    /// The words in front of a method: `instance explicit unmanaged[Cdecl]`.
    pub(crate) fn how_called(&mut self) -> Result<HowCalled, TextError> {
        let mut called = HowCalled {
            convention: CallingConvention::Default,
            has_this: false,
            explicit_this: false,
        };
        loop {
            match self.cursor.peek_word() {
                "instance" => called.has_this = true,
                "explicit" => called.explicit_this = true,
                "vararg" => called.convention = CallingConvention::VarArg,
                "default" | "managed" => {}
                "unmanaged" => {
                    self.cursor.word();
                    called.convention = self.unmanaged()?;
                    continue;
                }
                _ => return Ok(called),
            }
            self.cursor.word();
        }
    }

    fn unmanaged(&mut self) -> Result<CallingConvention, TextError> {
        let brackets = self.cursor.eat("[");
        let convention = match self.cursor.peek_word() {
            "Cdecl" | "cdecl" => CallingConvention::C,
            "Stdcall" | "stdcall" => CallingConvention::StdCall,
            "Thiscall" | "thiscall" => CallingConvention::ThisCall,
            "Fastcall" | "fastcall" => CallingConvention::FastCall,
            "vararg" if !brackets => CallingConvention::NativeVarArg,
            _ if brackets => {
                let expected = "`Cdecl`, `Stdcall`, `Thiscall` or `Fastcall`";
                return Err(self.cursor.expected(expected));
            }
            _ => return Ok(CallingConvention::Unmanaged),
        };
        self.cursor.word();
        if brackets {
            self.cursor.expect("]", "`]` behind a calling convention")?;
        }
        Ok(convention)
    }

    fn follows_arity(&mut self) -> bool {
        let start = self.cursor.at();
        let follows = self.cursor.eat("<") && self.cursor.follows("[");
        self.cursor.go_to(start);
        follows
    }

    /// `<[2]>`: the number of a method's own generic parameters.
    pub(crate) fn arity(&mut self) -> Result<u32, TextError> {
        if !self.follows_arity() {
            return Ok(0);
        }
        self.cursor.eat("<");
        self.cursor.eat("[");
        let start = self.cursor.at();
        let expected = "the number of generic parameters, at least 1";
        let arity = self.cursor.unsigned(MAX_NUMBER, expected)?;
        if arity == 0 {
            self.cursor.go_to(start);
            return Err(self.cursor.expected(expected));
        }
        self.cursor.expect("]", "`]>` behind a number")?;
        self.cursor.expect(">", "`]>` behind a number")?;
        Ok(arity as u32)
    }

    pub(crate) fn params(&mut self, called: HowCalled) -> Result<(), TextError> {
        self.nested_params(called.convention, ["(", ")"])
            .map(|_| ())
    }

    /// Types between two brackets, perhaps with a sentinel before one of them.
    fn nested_params(
        &mut self,
        convention: CallingConvention,
        [open, close]: [&'static str; 2],
    ) -> Result<Nested<Params>, TextError> {
        self.cursor.expect(open, "a list of parameters")?;
        let (mut params, mut sentinel, mut height) = (Vec::new(), None, 0);
        if self.cursor.eat(close) {
            return Ok(Nested {
                of: (params, sentinel),
                height,
            });
        }
        loop {
            if convention.allows_sentinel() && sentinel.is_none() && self.cursor.eat("...") {
                sentinel = Some(params.len());
                self.cursor.expect(",", "`,` and a further argument")?;
            }
            let param = self.nested(false)?;
            height = height.max(param.height);
            params.push(param.of);
            if !self.cursor.eat(",") {
                self.cursor.expect(close, "`,` or the end of the list")?;
                return Ok(Nested {
                    of: (params, sentinel),
                    height,
                });
            }
        }
    }

    /// `delegate* unmanaged[Cdecl]<int, void>`, the word being read.
    fn delegate(&mut self) -> Result<Nested<TypeSig>, TextError> {
        self.cursor.expect("*", "`*` behind `delegate`")?;
        let called = self.how_called()?;
        let arity = self.arity()?;
        let Nested {
            of: (mut params, sentinel),
            height,
        } = self.nested_params(called.convention, ["<", ">"])?;
        let Some(return_type) = params.pop().filter(|_| sentinel != Some(params.len())) else {
            return Err(self.cursor.expected("parameters and a return type"));
        };
        let method = called.method(arity, return_type, (params, sentinel));
        Ok(Nested {
            of: TypeSig::FunctionPointer(Box::new(method)),
            height: height + 1,
        })
    }

    /// `method unmanaged cdecl void *(int)`, the word being read.
    fn method_pointer(&mut self) -> Result<Nested<TypeSig>, TextError> {
        let called = self.how_called()?;
        let return_type = self.nested(true)?;
        let arity = self.arity()?;
        self.cursor
            .expect("*", "`*(` and the parameters of a function pointer")?;
        let params = self.nested_params(called.convention, ["(", ")"])?;
        let method = called.method(arity, return_type.of, params.of);
        Ok(Nested {
            of: TypeSig::FunctionPointer(Box::new(method)),
            height: return_type.height.max(params.height) + 1,
        })
    }

    pub(crate) fn method_sig(&mut self) -> Result<MethodSig, TextError> {
        let called = self.how_called()?;
        let return_type = self.type_sig()?;
        let arity = self.arity()?;
        let params = self.nested_params(called.convention, ["(", ")"])?;
        Ok(called.method(arity, return_type, params.of))
    }

    /// A method, or a field: a type and nothing else.
    fn member(&mut self) -> Result<MemberRefSig, TextError> {
        let start = *self.cursor;
        let of = self.type_sig();
        if let Ok(field_type) = of
            && self.cursor.is_at_end()
        {
            return Ok(MemberRefSig::Field(FieldSig { field_type }));
        }
        *self.cursor = start;
        self.method_sig().map(MemberRefSig::Method)
    }

    fn stand_alone(&mut self) -> Result<StandAloneSig, TextError> {
        if self.cursor.follows("(") {
            return self.locals_sig().map(StandAloneSig::Locals);
        }
        self.member().map(|member| match member {
            MemberRefSig::Method(method) => StandAloneSig::Method(method),
            MemberRefSig::Field(field) => StandAloneSig::Field(field),
        })
    }

    fn property_sig(&mut self) -> Result<PropertySig, TextError> {
        let has_this = self.cursor.eat_word("instance");
        let property_type = self.type_sig()?;
        let mut params = Vec::new();
        for brackets in [["[", "]"], ["(", ")"]] {
            let [open, _] = brackets;
            if self.cursor.follows(open) {
                let list = self.nested_params(CallingConvention::Default, brackets)?;
                params = list.of.0;
                break;
            }
        }
        Ok(PropertySig {
            has_this,
            property_type,
            params,
        })
    }

    /// `([0] int, [1] string)`; the numbers may be left out.
    pub(crate) fn locals_sig(&mut self) -> Result<LocalsSig, TextError> {
        self.cursor.expect("(", "`(` and the types of locals")?;
        let mut locals = Vec::new();
        if self.cursor.eat(")") {
            return Ok(LocalsSig { locals });
        }
        loop {
            if locals.len() == MAX_LOCALS {
                return Err(self.cursor.expected("no more locals than 65534"));
            }
            self.local_number(locals.len())?;
            locals.push(self.local()?);
            if !self.cursor.eat(",") {
                self.cursor.expect(")", "`,` or `)` behind a local")?;
                return Ok(LocalsSig { locals });
            }
        }
    }

    /// The type of a local, and perhaps its name, which is not kept.
    pub(crate) fn local(&mut self) -> Result<TypeSig, TextError> {
        let local = self.type_sig()?;
        if !self.cursor.peek_word().is_empty() || self.cursor.follows("'") {
            self.cursor.name("the name of a local")?;
        }
        Ok(local)
    }

    /// `[2]` before the local of this number.
    pub(crate) fn local_number(&mut self, number: usize) -> Result<(), TextError> {
        const EXPECTED: &str = "the number of the local, counted from 0";
        self.cursor.skip();
        let start = self.cursor.at();
        if self.cursor.eat("[") {
            let given = self.cursor.unsigned(MAX_LOCALS as u64, EXPECTED)?;
            if given != number as u64 {
                self.cursor.go_to(start);
                return Err(self.cursor.expected(EXPECTED));
            }
            self.cursor
                .expect("]", "`]` behind the number of a local")?;
        }
        Ok(())
    }
}

impl HowCalled {
    fn method(
        self,
        generic_parameter_count: u32,
        return_type: TypeSig,
        (params, sentinel): Params,
    ) -> MethodSig {
        let Self {
            convention,
            has_this,
            explicit_this,
        } = self;
        MethodSig {
            convention,
            has_this,
            explicit_this,
            generic_parameter_count,
            return_type,
            params,
            sentinel,
        }
    }
}
