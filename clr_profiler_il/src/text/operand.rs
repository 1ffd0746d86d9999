//! The operands of instructions.

use super::assemble::{Assembler, MAX_OUTSIDE};
use crate::fragment::{AnyName, Callee, FieldName, SignatureName, StringName, TypeName};
use crate::instruction::Label;
use crate::lexer::{TextError, TextErrorKind};
use crate::opcode::{Opcode, OperandKind};
use crate::signature::TypeParser;
use crate::symbol::{field_symbol, method_symbol, type_symbol};
use crate::token::Token;

impl<'t> Assembler<'t, '_> {
    /// Appends an instruction after its opcode was read.
    pub(super) fn operand(&mut self, opcode: Opcode) -> Result<(), TextError> {
        let opcode = opcode.long_form();
        match opcode.operand_kind() {
            OperandKind::None => {
                let number = opcode.argument(0).or(opcode.local(0)).unwrap_or(0);
                self.out.push(opcode, u64::from(number), None);
            }
            OperandKind::Int8 => {
                let number = self.cursor.signed((-128, 127), "a number of 8 bits")?;
                self.out.push(opcode, u64::from(number as u8), None);
            }
            OperandKind::Int32 => {
                let range = (i64::from(i32::MIN), i64::from(u32::MAX));
                let number = self.cursor.signed(range, "a number of 32 bits")?;
                self.out.push(opcode, u64::from(number as u32), None);
            }
            OperandKind::Int64 => {
                const EXPECTED: &str = "a number of 64 bits";
                let number = if self.cursor.follows("-") {
                    self.cursor.signed((i64::MIN, i64::MAX), EXPECTED)? as u64
                } else {
                    self.cursor.unsigned(u64::MAX, EXPECTED)?
                };
                self.out.push(opcode, number, None);
            }
            OperandKind::Float32 => {
                let bits = match self.not_a_number()? {
                    Some(bits) => bits,
                    None => u64::from(self.float::<f32>()?.to_bits()),
                };
                self.out.push(opcode, bits & u64::from(u32::MAX), None);
            }
            OperandKind::Float64 => {
                let bits = match self.not_a_number()? {
                    Some(bits) => bits,
                    None => self.float::<f64>()?.to_bits(),
                };
                self.out.push(opcode, bits, None);
            }
            OperandKind::ShortVariable | OperandKind::Variable => {
                let number = self.cursor.unsigned(0xffff, "the number of a variable")?;
                let opcode = opcode.for_variable(number as u16);
                self.out.push(opcode, number, None);
            }
            OperandKind::ShortTarget | OperandKind::Target => {
                let target = self.target()?;
                self.out.branch(opcode, target);
            }
            OperandKind::Switch => {
                let targets = self.targets()?;
                self.out.switch(&targets);
            }
            OperandKind::Method => {
                let callee = match self.token()? {
                    Some(token) => Callee::from(token),
                    None => method_symbol(&mut self.cursor)?.into(),
                };
                self.out.method(opcode, callee);
            }
            OperandKind::Field => {
                let field = match self.token()? {
                    Some(token) => FieldName::from(token),
                    None => field_symbol(&mut self.cursor)?.into(),
                };
                self.out.field(opcode, field);
            }
            OperandKind::Type => {
                let name = self.type_name()?;
                self.out.typed(opcode, name);
            }
            OperandKind::AnyToken => {
                let name = match self.token()? {
                    Some(token) => AnyName::from(token),
                    None => self.member_or_type()?,
                };
                self.out.any(opcode, name);
            }
            OperandKind::String => {
                let text = match self.token()? {
                    Some(token) => StringName::from(token),
                    None => self.string()?.as_str().into(),
                };
                self.out.string(opcode, text);
            }
            OperandKind::Signature => {
                let signature = match self.token()? {
                    Some(token) => SignatureName::from(token),
                    None => TypeParser::new(&mut self.cursor, self.tokens)
                        .method_sig()?
                        .into(),
                };
                self.out.indirect(opcode, signature);
            }
        }
        Ok(())
    }

    /// Adds a prefix, already read, to the next instruction.
    pub(super) fn prefix(&mut self, opcode: Opcode) -> Result<(), TextError> {
        match opcode.operand_kind() {
            OperandKind::None => self.out.prefix(opcode, 0, false),
            OperandKind::Int8 => {
                let number = self.cursor.unsigned(0xff, "an unsigned number of 8 bits")?;
                self.out.prefix(opcode, number as u32, false)
            }
            _ => {
                let name = self.type_name()?;
                self.out.constrained(name)
            }
        };
        Ok(())
    }

    pub(super) fn type_name(&mut self) -> Result<TypeName, TextError> {
        Ok(match self.token()? {
            Some(token) => token.into(),
            None => type_symbol(&mut self.cursor)?.into(),
        })
    }

    /// A token, `0x0a000001`; `None` if the text is something else.
    pub(super) fn token(&mut self) -> Result<Option<Token>, TextError> {
        if !self.cursor.peek_word().starts_with("0x") {
            return Ok(None);
        }
        let raw = self.cursor.unsigned(u64::from(u32::MAX), "a token")?;
        Ok(Some(Token::new(raw as u32)))
    }

    /// The operand of `ldtoken`: a method or field if it contains `::`, otherwise a type. An error
    /// is that of the reading that got furthest.
    fn member_or_type(&mut self) -> Result<AnyName, TextError> {
        let start = self.cursor;
        let error = match type_symbol(&mut self.cursor) {
            Ok(name) if self.cursor.is_at_end() => return Ok(name.into()),
            Ok(_) => self.cursor.expected("a type, method or field"),
            Err(error) => error,
        };
        self.cursor = start;
        let error = match method_symbol(&mut self.cursor) {
            Ok(method) => return Ok(method.into()),
            Err(other) if other.offset() > error.offset() => other,
            Err(_) => error,
        };
        self.cursor = start;
        match field_symbol(&mut self.cursor) {
            Ok(field) if self.cursor.is_at_end() => Ok(field.into()),
            Err(other) if other.offset() > error.offset() => Err(other),
            _ => Err(error),
        }
    }

    fn float<F: std::str::FromStr>(&mut self) -> Result<F, TextError> {
        self.cursor.skip();
        let start = self.cursor.at();
        self.sign();
        // An exponent may have its own sign.
        if self.cursor.word().ends_with(['e', 'E']) {
            self.sign();
            self.cursor.word();
        }
        self.cursor.since(start).parse().map_err(|_| {
            self.cursor.go_to(start);
            self.cursor.expected("a floating-point number")
        })
    }

    fn sign(&mut self) {
        if self.cursor.rest().starts_with(['-', '+']) {
            self.cursor.go_to(self.cursor.at() + 1);
        }
    }

    /// The bits after `NaN`.
    fn not_a_number(&mut self) -> Result<Option<u64>, TextError> {
        const EXPECTED: &str = "`NaN(` and its bits";
        let start = self.cursor.at();
        if !self.cursor.eat_word("NaN") || !self.cursor.eat("(") {
            self.cursor.go_to(start);
            return Ok(None);
        }
        let bits = self.cursor.unsigned(u64::MAX, EXPECTED)?;
        self.cursor.expect(")", "`)` after the bits of `NaN`")?;
        Ok(Some(bits))
    }

    fn targets(&mut self) -> Result<Vec<Label>, TextError> {
        self.cursor.expect("(", "`(` and labels")?;
        let mut targets = Vec::new();
        if self.cursor.eat(")") {
            return Ok(targets);
        }
        loop {
            targets.push(self.target()?);
            if !self.cursor.eat(",") {
                self.cursor.expect(")", "`,` or `)` after a label")?;
                return Ok(targets);
            }
        }
    }

    fn target(&mut self) -> Result<Label, TextError> {
        let start = self.cursor;
        if self.outside > 0 && self.cursor.eat_word("label") {
            if let Ok(number) = self.cursor.unsigned(MAX_OUTSIDE, "a number")
                && number < u64::from(self.outside)
            {
                return Ok(self.out.code.label(number as u32));
            }
            self.cursor = start;
        }
        self.cursor.skip();
        let at = self.cursor.at();
        let name = self.cursor.word();
        if name.is_empty() {
            return Err(self.cursor.expected("a label"));
        }
        Ok(self.reference(name, at))
    }

    /// A string with the escapes of Rust.
    fn string(&mut self) -> Result<String, TextError> {
        self.cursor.expect("\"", "a string in quotes")?;
        let start = self.cursor.at();
        let rest = self.cursor.rest();
        let mut text = String::new();
        let mut characters = rest.char_indices();
        while let Some((index, character)) = characters.next() {
            match character {
                '"' => {
                    self.cursor.go_to(start + index + 1);
                    return Ok(text);
                }
                '\\' => {
                    let after = characters.as_str();
                    let Some((escaped, length)) = escape(after) else {
                        self.cursor.go_to(start + index);
                        return Err(self.cursor.expected("an escape as in Rust"));
                    };
                    text.push(escaped);
                    for _ in 0..length {
                        characters.next();
                    }
                }
                '\n' | '\r' => break,
                _ => text.push(character),
            }
        }
        self.cursor.go_to(start);
        let kind = TextErrorKind::Expected {
            expected: "a string that ends in `\"`",
            found: rest.lines().next().unwrap_or("").chars().take(24).collect(),
        };
        Err(self.cursor.error(kind, start))
    }
}

/// The character of an escape after a `\`, and the length of the escape.
fn escape(after: &str) -> Option<(char, usize)> {
    let simple = |character| Some((character, 1));
    match after.chars().next()? {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '0' => simple('\0'),
        character @ ('\\' | '\'' | '"') => simple(character),
        'u' => {
            let digits = after.strip_prefix("u{")?.split_once('}')?.0;
            if digits.len() > 6 {
                return None;
            }
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((character, digits.len() + 3))
        }
        _ => None,
    }
}
