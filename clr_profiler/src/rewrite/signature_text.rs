//! Types and signatures from text, as [`MethodSymbol`](crate::il::symbol::MethodSymbol) holds them.

use crate::error::{Error, Result};
use clr_profiler_il::signature::{CallingConvention, MethodSig, TypeSig};
use clr_profiler_il::token::TypeToken;

/// C# keyword, name in `ilasm`, name of the type.
const PRIMITIVES: &[(&str, &str, &str, TypeSig)] = &[
    ("void", "void", "System.Void", TypeSig::Void),
    ("bool", "bool", "System.Boolean", TypeSig::Bool),
    ("char", "char", "System.Char", TypeSig::Char),
    ("sbyte", "int8", "System.SByte", TypeSig::I1),
    ("byte", "uint8", "System.Byte", TypeSig::U1),
    ("short", "int16", "System.Int16", TypeSig::I2),
    ("ushort", "uint16", "System.UInt16", TypeSig::U2),
    ("int", "int32", "System.Int32", TypeSig::I4),
    ("uint", "uint32", "System.UInt32", TypeSig::U4),
    ("long", "int64", "System.Int64", TypeSig::I8),
    ("ulong", "uint64", "System.UInt64", TypeSig::U8),
    ("float", "float32", "System.Single", TypeSig::R4),
    ("double", "float64", "System.Double", TypeSig::R8),
    ("string", "string", "System.String", TypeSig::String),
    ("object", "object", "System.Object", TypeSig::Object),
    ("nint", "nint", "System.IntPtr", TypeSig::NativeInt),
    ("nuint", "nuint", "System.UIntPtr", TypeSig::NativeUint),
    (
        "typedref",
        "typedref",
        "System.TypedReference",
        TypeSig::TypedReference,
    ),
];

/// The primitive that a type of the core library is.
pub(super) fn primitive_of(name: &str) -> Option<TypeSig> {
    let row = PRIMITIVES.iter().find(|row| row.2 == name);
    row.map(|row| row.3.clone())
}

/// The name of the type that a primitive is.
pub(super) fn primitive_name(primitive: &TypeSig) -> Option<&'static str> {
    let row = PRIMITIVES.iter().find(|row| row.3 == *primitive);
    row.map(|row| row.2)
}

/// Finds the token of a type by its name, `[Assembly]Namespace.Type/Nested`.
pub(super) type Names<'a> = &'a mut dyn FnMut(&str) -> Result<TypeToken>;

/// The signature of a method: `instance void (string, class [A]N.T&)`.
pub(super) fn method_sig(text: &str, names: Names<'_>) -> Result<MethodSig> {
    let mut reader = Reader::new(text, names);
    let has_this = reader.word("instance");
    let explicit_this = reader.word("explicit");
    let return_type = reader.type_sig()?;
    reader.expect('(')?;
    let params = reader.list(')')?;
    reader.end()?;
    Ok(MethodSig {
        convention: CallingConvention::Default,
        has_this,
        explicit_this,
        generic_parameter_count: 0,
        return_type,
        params,
        sentinel: None,
    })
}

/// A type: `int[]`, ``class [A]N.List`1<string>``, `!0`.
pub(super) fn type_sig(text: &str, names: Names<'_>) -> Result<TypeSig> {
    let mut reader = Reader::new(text, names);
    let read = reader.type_sig()?;
    reader.end()?;
    Ok(read)
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    depth: u32,
    names: Names<'a>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, names: Names<'a>) -> Self {
        Self {
            whole: text,
            rest: text.trim(),
            depth: 0,
            names,
        }
    }

    #[cold]
    fn error(&self, wanted: &str) -> Error {
        let offset = self.whole.len() - self.rest.len();
        Error::other(format!(
            "the signature \"{}\" has no {wanted} at {offset}",
            self.whole
        ))
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(symbol) else {
            return false;
        };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, symbol: char) -> Result<()> {
        if self.eat(symbol.encode_utf8(&mut [0; 4])) {
            Ok(())
        } else {
            Err(self.error(&format!("'{symbol}'")))
        }
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.error("end"))
        }
    }

    /// A word of its own.
    fn word(&mut self, word: &str) -> bool {
        let follows = self.rest.strip_prefix(word);
        let whole = follows.is_some_and(|rest| rest.starts_with(char::is_whitespace));
        whole && self.eat(word)
    }

    fn number(&mut self) -> Result<u32> {
        let end = self.rest.find(|symbol: char| !symbol.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let number = digits.parse().map_err(|_| self.error("number"))?;
        self.rest = rest.trim_start();
        Ok(number)
    }

    fn list(&mut self, end: char) -> Result<Vec<TypeSig>> {
        let mut types = Vec::new();
        let mut closing = [0; 4];
        let closing = end.encode_utf8(&mut closing);
        if self.eat(closing) {
            return Ok(types);
        }
        loop {
            types.push(self.type_sig()?);
            if self.eat(closing) {
                return Ok(types);
            }
            self.expect(',')?;
        }
    }

    fn type_sig(&mut self) -> Result<TypeSig> {
        self.depth += 1;
        if self.depth > 64 {
            return Err(self.error("type that is nested less deeply"));
        }
        let mut read = self.base()?;
        loop {
            if self.eat("[]") {
                read = TypeSig::SzArray(Box::new(read));
            } else if self.eat("&") {
                read = TypeSig::ByRef(Box::new(read));
            } else if self.eat("*") {
                read = TypeSig::Pointer(Box::new(read));
            } else {
                self.depth -= 1;
                return Ok(read);
            }
        }
    }

    fn base(&mut self) -> Result<TypeSig> {
        if self.eat("!!") {
            return self.number().map(TypeSig::MVar);
        }
        if self.eat("!") {
            return self.number().map(TypeSig::Var);
        }
        if self.word("native") {
            return match self.name()? {
                "int" => Ok(TypeSig::NativeInt),
                "uint" => Ok(TypeSig::NativeUint),
                _ => Err(self.error("native type")),
            };
        }
        let is_value_type = self.word("valuetype");
        let is_class = !is_value_type && self.word("class");
        let name = self.name()?;
        if !is_value_type && !is_class {
            let row = PRIMITIVES.iter().find(|row| row.0 == name || row.1 == name);
            if let Some((_, _, _, primitive)) = row {
                return Ok(primitive.clone());
            }
        }
        let definition = (self.names)(name)?;
        if self.eat("<") {
            return Ok(TypeSig::GenericInstance {
                is_value_type,
                definition,
                arguments: self.list('>')?,
            });
        }
        Ok(if is_value_type {
            TypeSig::ValueType(definition)
        } else {
            TypeSig::Class(definition)
        })
    }

    /// The name of a type, with the assembly in brackets if there is one.
    fn name(&mut self) -> Result<&'a str> {
        let assembly = if self.rest.starts_with('[') {
            self.rest.find(']').map_or(0, |end| end + 1)
        } else {
            0
        };
        let name = self.rest.get(assembly..).unwrap_or_default();
        let ends = |symbol: char| symbol.is_whitespace() || ",()&*<>[]".contains(symbol);
        let end = assembly + name.find(ends).unwrap_or(name.len());
        if end == assembly {
            return Err(self.error("type"));
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clr_profiler_il::token::TypeRef;

    fn known(name: &str) -> Result<TypeToken> {
        match name {
            "[A]N.T" => Ok(TypeRef::from_row(1).unwrap().into()),
            "[A]N.L`1/E" => Ok(TypeRef::from_row(2).unwrap().into()),
            _ => Err(Error::other(format!("no {name}"))),
        }
    }

    #[test]
    fn signatures_of_methods() {
        let class = TypeSig::Class(TypeRef::from_row(1).unwrap().into());
        let list = TypeSig::GenericInstance {
            is_value_type: true,
            definition: TypeRef::from_row(2).unwrap().into(),
            arguments: vec![
                TypeSig::Var(0),
                TypeSig::SzArray(Box::new(TypeSig::MVar(12))),
            ],
        };
        for (text, expected) in [
            ("void ()", MethodSig::new(TypeSig::Void, vec![])),
            (
                "instance int32 ( string , native int )",
                MethodSig::instance(TypeSig::I4, vec![TypeSig::String, TypeSig::NativeInt]),
            ),
            (
                "class [A]N.T (class [A]N.T&, void*)",
                MethodSig::new(
                    class.clone(),
                    vec![
                        TypeSig::ByRef(Box::new(class)),
                        TypeSig::Pointer(Box::new(TypeSig::Void)),
                    ],
                ),
            ),
            (
                "valuetype [A]N.L`1/E<!0, !!12[]> ()",
                MethodSig::new(list, vec![]),
            ),
        ] {
            assert_eq!(method_sig(text, &mut known).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        for text in [
            "",
            "void",
            "void (",
            "void (int",
            "void (int,)",
            "void () x",
            "(int)",
            "void (class [A]X)",
            "void (!x)",
            "[A",
            "void (class [A]N.T<int)",
        ] {
            assert!(method_sig(text, &mut known).is_err(), "{text}");
        }
        let error = method_sig("void (int", &mut known).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the signature \"void (int\" has no ',' at 9"
        );
        assert!(type_sig(&"class [A]N.T<".repeat(10_000), &mut known).is_err());
    }
}
