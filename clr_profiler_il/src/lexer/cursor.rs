use super::{TextError, TextErrorKind};

/// The maximum number of characters of a text that an error quotes.
const MAX_FOUND: usize = 24;

/// A position in a text. White space and comments (`//` to the end of the line) are skipped before
/// each item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

/// Whether a character may occur in the unquoted parts of names and words.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '@' | '?' | '`' | '.' | '/')
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
        }
    }

    /// The same position in a text that ends earlier.
    pub(crate) const fn until(self, end: usize) -> Self {
        Self { end, ..self }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or("")
    }

    /// The text from an earlier position up to this one.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// As [`since`](Self::since), without comments and with single spaces, outside of quotes.
    pub(crate) fn tidied_since(&self, start: usize) -> String {
        let mut part = Self {
            text: self.text,
            at: start,
            end: self.at,
        };
        let mut tidied = String::new();
        while !part.is_at_end() {
            if !tidied.is_empty() {
                tidied.push(' ');
            }
            let run = part.at;
            while let Some(character) = part.rest().chars().next()
                && !character.is_whitespace()
                && !part.rest().starts_with("//")
            {
                if character != '\'' || part.quoted(&mut String::new()).is_err() {
                    part.at += character.len_utf8();
                }
            }
            tidied.push_str(part.since(run));
        }
        tidied
    }

    pub(crate) fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    pub(crate) fn follows(&mut self, symbol: &str) -> bool {
        self.skip();
        self.rest().starts_with(symbol)
    }

    pub(crate) fn eat(&mut self, symbol: &str) -> bool {
        let follows = self.follows(symbol);
        if follows {
            self.at += symbol.len();
        }
        follows
    }

    pub(crate) fn expect(&mut self, symbol: &str, expected: &'static str) -> Result<(), TextError> {
        if self.eat(symbol) {
            return Ok(());
        }
        Err(self.expected(expected))
    }

    pub(crate) fn finish(&mut self) -> Result<(), TextError> {
        if self.is_at_end() {
            return Ok(());
        }
        Err(self.expected("the end"))
    }

    /// The longest run of plain characters from here; empty if there is none.
    pub(crate) fn peek_word(&mut self) -> &'t str {
        self.skip();
        self.plain()
    }

    fn plain(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !is_plain(character));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        // A comment may follow directly.
        word.find("//")
            .and_then(|comment| word.get(..comment))
            .unwrap_or(word)
    }

    pub(crate) fn word(&mut self) -> &'t str {
        let word = self.peek_word();
        self.at += word.len();
        word
    }

    pub(crate) fn eat_word(&mut self, wanted: &str) -> bool {
        let found = self.peek_word() == wanted;
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// A name: plain characters and single-quoted parts, without the quotes.
    pub(crate) fn name(&mut self, expected: &'static str) -> Result<String, TextError> {
        self.skip();
        let start = self.at;
        let mut name = String::new();
        self.name_part(&mut name)?;
        if self.at == start {
            return Err(self.expected(expected));
        }
        Ok(name)
    }

    /// The name of a type, optionally prefixed by its assembly in square brackets.
    pub(crate) fn type_name(&mut self) -> Result<String, TextError> {
        const EXPECTED: &str = "the name of a type";
        self.skip();
        let mut name = String::new();
        if self.rest().starts_with('[') {
            self.at += 1;
            name.push('[');
            while let Some(character) = self.rest().chars().next() {
                match character {
                    ']' | '/' => break,
                    '\'' => self.quoted(&mut name)?,
                    _ if character.is_whitespace() => break,
                    _ => {
                        name.push(character);
                        self.at += character.len_utf8();
                    }
                }
            }
            self.expect("]", "`]` after the name of an assembly")?;
            name.push(']');
        }
        let start = self.at;
        self.name_part(&mut name)?;
        if self.at == start {
            return Err(self.expected(EXPECTED));
        }
        Ok(name)
    }

    fn name_part(&mut self, name: &mut String) -> Result<(), TextError> {
        loop {
            if self.rest().starts_with('\'') {
                self.quoted(name)?;
                continue;
            }
            let plain = self.plain();
            if plain.is_empty() {
                return Ok(());
            }
            name.push_str(plain);
            self.at += plain.len();
        }
    }

    fn quoted(&mut self, name: &mut String) -> Result<(), TextError> {
        let start = self.at;
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((index, character)) = characters.next() {
            match character {
                '\'' => {
                    self.at = start + index + 1;
                    return Ok(());
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => name.push('\n'),
                    Some((_, 'r')) => name.push('\r'),
                    Some((_, escaped)) => name.push(escaped),
                    None => break,
                },
                '\n' | '\r' => break,
                _ => name.push(character),
            }
        }
        Err(self.expected("a name that ends in `'`"))
    }

    /// A decimal number, or a hexadecimal one after `0x`.
    pub(crate) fn unsigned(&mut self, most: u64, expected: &'static str) -> Result<u64, TextError> {
        self.skip();
        let rest = self.rest();
        let (radix, skipped) = if rest.starts_with("0x") {
            (16, 2)
        } else {
            (10, 0)
        };
        let digits = rest.get(skipped..).unwrap_or("");
        let end = digits.find(|character: char| !character.is_digit(radix));
        let digits = digits.get(..end.unwrap_or(digits.len())).unwrap_or("");
        match u64::from_str_radix(digits, radix) {
            Ok(number) if number <= most => {
                self.at += skipped + digits.len();
                Ok(number)
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// A number in a range, possibly negative.
    pub(crate) fn signed(
        &mut self,
        (least, most): (i64, i64),
        expected: &'static str,
    ) -> Result<i64, TextError> {
        let start = self.at;
        let negative = self.eat("-");
        let number = self.unsigned(u64::MAX, expected)?;
        let number = if negative {
            -i128::from(number)
        } else {
            i128::from(number)
        };
        match i64::try_from(number) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => {
                self.at = start;
                Err(self.expected(expected))
            }
        }
    }

    #[cold]
    pub(crate) fn expected(&mut self, expected: &'static str) -> TextError {
        self.skip();
        let line = self.rest().lines().next().unwrap_or("").trim_end();
        let end = line.char_indices().nth(MAX_FOUND).map(|(end, _)| end);
        let found = line.get(..end.unwrap_or(line.len())).unwrap_or("").into();
        self.error(TextErrorKind::Expected { expected, found }, self.at)
    }

    #[cold]
    pub(crate) fn error(&self, kind: TextErrorKind, offset: usize) -> TextError {
        TextError::new(kind, self.text, offset)
    }
}
