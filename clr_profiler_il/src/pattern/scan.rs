//! The characters of a pattern: the position in its text, words, names in quotes and names that compilers make.

use super::error::{PatternError, PatternErrorKind as Kind};

pub(super) type Result<T> = std::result::Result<T, PatternError>;

/// Whether a character is a part of a name without quotes.
pub(super) fn is_plain(found: char) -> bool {
    !found.is_whitespace() && !found.is_control() && !"!.+<>()[]{},:;#'\"*&?`/\\".contains(found)
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) in_list: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, in_list: bool) -> Self {
        let at = 0;
        Self { text, at, in_list }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn advance(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let follows = self.rest().starts_with(symbol);
        if follows {
            self.at += symbol.len();
        }
        follows
    }

    /// Skips white space, in a list up to the end of the line.
    pub(super) fn skip(&mut self) {
        let in_list = self.in_list;
        let is_blank = |found: char| found.is_whitespace() && !(in_list && found == '\n');
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_blank).len();
    }

    /// Whether the pattern ends here.
    pub(super) fn is_at_end(&self) -> bool {
        match self.peek() {
            None => true,
            Some(found) => self.in_list && matches!(found, ';' | '\n' | '#'),
        }
    }

    pub(super) fn fail(&self, kind: Kind) -> PatternError {
        self.fail_at(self.at, kind)
    }

    pub(super) fn fail_at(&self, at: usize, kind: Kind) -> PatternError {
        let before = self.text.get(..at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        PatternError::new(kind, self.in_list.then_some(line), column)
    }

    /// The error for a character that may not be here.
    pub(super) fn unexpected(&self) -> PatternError {
        match self.peek() {
            _ if self.is_at_end() => self.fail(Kind::NoName),
            Some('/') => self.fail(Kind::Separator),
            _ if self.rest().starts_with("::") => self.fail(Kind::Separator),
            Some(found) => self.fail(Kind::Unexpected(found)),
            None => self.fail(Kind::NoName),
        }
    }

    pub(super) fn expect(&mut self, symbol: char) -> Result<()> {
        if self.eat(symbol.encode_utf8(&mut [0; 4])) {
            return Ok(());
        }
        match self.is_at_end() {
            true => Err(self.fail(Kind::Missing(symbol))),
            false => Err(self.unexpected()),
        }
    }

    /// The lower-case word here, if white space follows it.
    pub(super) fn peek_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|found: char| !found.is_ascii_lowercase());
        let (word, after) = rest
            .split_at_checked(end.unwrap_or(rest.len()))
            .unwrap_or(("", ""));
        match after.starts_with(char::is_whitespace) {
            true => word,
            false => "",
        }
    }

    pub(super) fn eat_word(&mut self, words: &[&str]) -> Option<&'t str> {
        let word = self.peek_word();
        if !words.contains(&word) {
            return None;
        }
        self.at += word.len();
        self.skip();
        Some(word)
    }

    /// Adds a character to the last literal.
    pub(super) fn push(&mut self, name: &mut [String]) {
        if let (Some(last), Some(found)) = (name.last_mut(), self.peek()) {
            last.push(found);
            self.advance();
        }
    }

    pub(super) fn quoted(&mut self, name: &mut [String]) -> Result<()> {
        let start = self.at;
        self.advance();
        loop {
            match self.peek() {
                None | Some('\n') => return Err(self.fail_at(start, Kind::Missing('\''))),
                Some('\'') => {
                    self.advance();
                    return Ok(());
                }
                Some('\\') => {
                    self.advance();
                    if self.peek().is_none_or(|next| next == '\n') {
                        return Err(self.fail_at(start, Kind::Missing('\'')));
                    }
                }
                Some(_) => {}
            }
            self.push(name);
        }
    }

    /// A name that the compiler has made, up to the closing bracket.
    pub(super) fn generated(&mut self, name: &mut Vec<String>) -> Result<()> {
        let (start, mut depth) = (self.at, 0_usize);
        loop {
            match self.peek() {
                Some('*') => {
                    self.advance();
                    name.push(String::new());
                    continue;
                }
                Some('\'') => {
                    self.quoted(name)?;
                    continue;
                }
                Some('<') => depth += 1,
                Some('>') => depth -= 1,
                None | Some(';' | '\n') => return Err(self.fail_at(start, Kind::Missing('>'))),
                Some(_) => {}
            }
            self.push(name);
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
