//! Parses symbols in the form in which `ildasm` prints references to members.

use std::fmt;
use std::str::FromStr;

use super::{CallShape, FieldSymbol, MethodSymbol, TypeSymbol, shape};
use crate::lexer::{Cursor, TextError, write_name, write_quoted, write_type_name};
use crate::signature::{
    FieldSig, MethodSig, TypeKeyword, TypeParser, TypeSig, TypeSpecSig, TypeTokens,
};
use crate::token::{TypeRef, TypeToken};

/// A token for every type: only the form of the text is checked.
fn any_type(_name: &str, _kind: TypeKeyword) -> Option<TypeToken> {
    Some(TypeRef::NIL.into())
}

/// The shape of a call; `None` if the text is not a signature.
pub(super) fn shape_of(text: &str) -> Option<CallShape> {
    let signature = MethodSig::parse_text(text, &mut any_type).ok()?;
    Some(CallShape::from(&signature))
}

/// Whether a text starts like a type in a signature, not like the plain name of a type.
fn begins_specification(cursor: &mut Cursor<'_>) -> bool {
    match cursor.peek_word() {
        "class" | "valuetype" | "method" | "delegate" | "native" | "unsigned" => true,
        "" => cursor.follows("!"),
        word => TypeSig::from_primitive_name(word).is_some(),
    }
}

/// Whether a text is exactly one type, as in a signature.
fn is_specification(text: &str) -> bool {
    begins_specification(&mut Cursor::new(text))
        && TypeSpecSig::parse_text(text, &mut any_type).is_ok()
}

impl TypeSymbol {
    /// Parses a type: its name, possibly with quoted parts, or any type in the form of signatures,
    /// to which a module refers by a `TypeSpec`.
    ///
    /// ```
    /// use clr_profiler_il::symbol::TypeSymbol;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let closure = TypeSymbol::parse("[Shop]Shop.Cart/'<>c'")?;
    /// assert_eq!(&*closure.name, "[Shop]Shop.Cart/<>c");
    /// assert!(!closure.is_specification());
    /// assert_eq!(closure.to_string(), "[Shop]Shop.Cart/'<>c'");
    ///
    /// let list = TypeSymbol::parse("class [System.Collections]System.Collections.Generic.List`1<int>")?;
    /// assert!(list.is_specification());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        whole(text, type_symbol)
    }

    /// Whether the text is not the name of a type but has the form of signatures: a primitive, or a
    /// text that starts with `class`, `valuetype`, `method`, `delegate*` or `!`.
    /// [`specification`](Self::specification) parses it.
    #[must_use]
    pub fn is_specification(&self) -> bool {
        is_specification(&self.name)
    }

    /// The type, if the symbol [is a specification](Self::is_specification).
    ///
    /// # Errors
    ///
    /// If it is not, or there is no token for a type in it.
    pub fn specification(&self, tokens: &mut impl TypeTokens) -> Result<TypeSpecSig, TextError> {
        TypeSpecSig::parse_text(&self.name, tokens)
    }
}

impl fmt::Display for TypeSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_specification() {
            return f.write_str(&self.name);
        }
        let mut cursor = Cursor::new(&self.name);
        let word = cursor.peek_word();
        let misread = begins_specification(&mut cursor) && word == &*self.name;
        if misread || self.name.starts_with("0x") {
            // A quoted text is neither a type of a signature nor a token.
            return write_quoted(f, &self.name);
        }
        write_type_name(f, &self.name)
    }
}

impl MethodSymbol {
    /// Parses a method in the form in which `ildasm` prints references: calling convention and
    /// return type, declaring type, `::`, name, type arguments, parameters.
    ///
    /// ```
    /// use clr_profiler_il::symbol::MethodSymbol;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = "!!0 [System.Linq]System.Linq.Enumerable::First<string>(\
    ///             class [System.Runtime]System.Collections.Generic.IEnumerable`1<!!0>)";
    /// let first = MethodSymbol::parse(text)?;
    /// assert_eq!(&*first.owner.name, "[System.Linq]System.Linq.Enumerable");
    /// assert_eq!(&*first.name, "First");
    /// assert_eq!(first.type_arguments, ["string".into()]);
    /// assert_eq!(first.to_string(), text);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Names with characters other than letters, digits, dots and ``_$@?` `` are quoted:
    /// `'<Main>$'`. A generic method without type arguments has their number instead, `First<[1]>`.
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        whole(text, method_symbol)
    }

    /// Checks the text that [`new`](Self::new) took unchecked.
    ///
    /// # Errors
    ///
    /// A malformed signature or type argument, with the position of the error.
    pub fn check(&self) -> Result<(), TextError> {
        self.sig(&mut any_type)?;
        self.argument_sigs(&mut any_type).map(|_| ())
    }

    /// The signature as in metadata: with type arguments, that of the generic method definition.
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error, or a type without a token.
    pub fn sig(&self, tokens: &mut impl TypeTokens) -> Result<MethodSig, TextError> {
        let mut sig = MethodSig::parse_text(&self.signature, tokens)?;
        if sig.generic_parameter_count == 0 {
            // The count fits: more type arguments than 32 bits can count do not fit into memory.
            sig.generic_parameter_count = self.type_arguments.len() as u32;
        }
        Ok(sig)
    }

    /// The type arguments as in the signature of a `MethodSpec` token.
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error, or a type without a token.
    pub fn argument_sigs(&self, tokens: &mut impl TypeTokens) -> Result<Vec<TypeSig>, TextError> {
        let arguments = self.type_arguments.iter();
        arguments
            .map(|argument| TypeSig::parse_text(argument, tokens))
            .collect()
    }
}

impl fmt::Display for MethodSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, arity, params) = split_signature(&self.signature);
        write!(f, "{before} {}::", self.owner)?;
        write_name(f, &self.name)?;
        match self.type_arguments.split_first() {
            Some((first, others)) => {
                write!(f, "<{first}")?;
                others.iter().try_for_each(|other| write!(f, ", {other}"))?;
                f.write_str(">")?;
            }
            None => f.write_str(arity)?,
        }
        f.write_str(params)
    }
}

/// The text before the parameters, the number of generic parameters, and the parameters.
fn split_signature(text: &str) -> (&str, &str, &str) {
    let mut cursor = Cursor::new(text);
    let mut tokens = any_type;
    let mut parts = || {
        let mut parser = TypeParser::new(&mut cursor, &mut tokens);
        parser.method_header()?;
        parser.type_sig()?;
        let before = cursor.since(0).trim();
        cursor.skip();
        let start = cursor.at();
        TypeParser::new(&mut cursor, &mut tokens).arity()?;
        let arity = cursor.since(start).trim_end();
        cursor.skip();
        Ok::<_, TextError>((before, arity, text.get(cursor.at()..).unwrap_or("")))
    };
    parts().unwrap_or_else(|_| {
        let (before, params) = shape::split_params(text);
        (before.trim_end(), "", params)
    })
}

impl FieldSymbol {
    /// Parses a field in the form in which `ildasm` prints references: its type, the declaring
    /// type, `::`, its name.
    ///
    /// ```
    /// use clr_profiler_il::symbol::FieldSymbol;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let empty = FieldSymbol::parse("string [System.Runtime]System.String::Empty")?;
    /// assert_eq!(empty, FieldSymbol::new("[System.Runtime]System.String", "Empty", "string"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        whole(text, field_symbol)
    }

    /// The signature as in metadata.
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error, or a type without a token.
    pub fn sig(&self, tokens: &mut impl TypeTokens) -> Result<FieldSig, TextError> {
        FieldSig::parse_text(&self.field_type, tokens)
    }
}

impl fmt::Display for FieldSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}::", self.field_type, self.owner)?;
        write_name(f, &self.name)
    }
}

/// Implements `FromStr` for symbols.
macro_rules! from_str {
    ($($name:ident)*) => {$(
        impl FromStr for $name {
            type Err = TextError;

            fn from_str(text: &str) -> Result<Self, TextError> {
                Self::parse(text)
            }
        }
    )*};
}

from_str!(TypeSymbol MethodSymbol FieldSymbol);

fn whole<'t, T>(
    text: &'t str,
    read: fn(&mut Cursor<'t>) -> Result<T, TextError>,
) -> Result<T, TextError> {
    let mut cursor = Cursor::new(text);
    let symbol = read(&mut cursor)?;
    cursor.finish()?;
    Ok(symbol)
}

/// Skips a type and returns its text.
fn type_text(cursor: &mut Cursor<'_>) -> Result<String, TextError> {
    cursor.skip();
    let start = cursor.at();
    TypeParser::new(cursor, &mut any_type).type_sig()?;
    Ok(cursor.tidied_since(start))
}

pub(crate) fn type_symbol(cursor: &mut Cursor<'_>) -> Result<TypeSymbol, TextError> {
    if begins_specification(cursor) {
        return type_text(cursor).map(|name| TypeSymbol::new(&name));
    }
    cursor.type_name().map(|name| TypeSymbol::new(&name))
}

/// `[Assembly]Type::Member`, without the name of the member.
fn owner(cursor: &mut Cursor<'_>) -> Result<TypeSymbol, TextError> {
    let owner = type_symbol(cursor)?;
    cursor.expect("::", "`::` between a type and its member")?;
    Ok(owner)
}

pub(crate) fn method_symbol(cursor: &mut Cursor<'_>) -> Result<MethodSymbol, TextError> {
    let mut tokens = any_type;
    cursor.skip();
    let start = cursor.at();
    let mut parser = TypeParser::new(cursor, &mut tokens);
    let called = parser.method_header()?;
    parser.type_sig()?;
    let before = cursor.tidied_since(start);
    let owner = owner(cursor)?;
    let name = cursor.name("the name of a method")?;
    cursor.skip();
    let start = cursor.at();
    let generic = TypeParser::new(cursor, &mut tokens).arity()? > 0;
    let arity = cursor.tidied_since(start);
    let mut type_arguments = Vec::new();
    if !generic && cursor.eat("<") {
        loop {
            type_arguments.push(type_text(cursor)?.into());
            if !cursor.eat(",") {
                break;
            }
        }
        cursor.expect(">", "`,` or `>` after a type")?;
    }
    cursor.skip();
    let start = cursor.at();
    TypeParser::new(cursor, &mut tokens).params(called)?;
    let params = cursor.tidied_since(start);
    Ok(MethodSymbol {
        owner,
        name: name.into(),
        signature: format!("{before} {arity}{params}").into(),
        type_arguments,
    })
}

pub(crate) fn field_symbol(cursor: &mut Cursor<'_>) -> Result<FieldSymbol, TextError> {
    let field_type = type_text(cursor)?.into();
    let owner = owner(cursor)?;
    let name = cursor.name("the name of a field")?;
    Ok(FieldSymbol {
        owner,
        name: name.into(),
        field_type,
    })
}
