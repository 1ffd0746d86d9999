//! Parses bodies and fragments.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::body::{LazyCode, MethodBody};
use crate::code::{Bounds, ClauseKind, END, UNPLACED};
use crate::fragment::Fragment;
use crate::instruction::Label;
use crate::lexer::{Cursor, TextError, TextErrorKind};
use crate::opcode::Opcode;
use crate::signature::{LocalsSig, MAX_LOCALS, TokenNames, TypeParser, TypeSig, TypeTokens};

/// Names of instructions in addition to those of the opcode table.
const ALIASES: &[(&str, Opcode)] = &[
    ("brinst", Opcode::Brtrue),
    ("brinst.s", Opcode::BrtrueS),
    ("brnull", Opcode::Brfalse),
    ("brnull.s", Opcode::BrfalseS),
    ("brzero", Opcode::Brfalse),
    ("brzero.s", Opcode::BrfalseS),
    ("endfault", Opcode::Endfinally),
    ("ldelem.any", Opcode::Ldelem),
    ("ldelem.u8", Opcode::LdelemI8),
    ("ldind.u8", Opcode::LdindI8),
    ("stelem.any", Opcode::Stelem),
];

static MNEMONICS: LazyLock<HashMap<&'static str, Opcode>> = LazyLock::new(|| {
    let table = Opcode::ALL
        .iter()
        .map(|opcode| (opcode.mnemonic(), *opcode));
    table.chain(ALIASES.iter().copied()).collect()
});

/// The highest number of an exit label of a fragment.
pub(super) const MAX_OUTSIDE: u64 = 0xffff;

/// A named label.
struct Named {
    /// The node that it precedes.
    at: Option<u32>,
    /// The label for branches.
    label: Option<Label>,
    /// The position of its first use, if it was used before its definition.
    used: usize,
}

/// An exception clause whose labels may not be defined yet.
struct Pending<'t> {
    kind: ClauseKind,
    value: (u32, bool),
    /// The bounds of try region and handler.
    regions: [Bound<'t>; 4],
    filter: Option<Bound<'t>>,
}

/// The name of a label, and its position in the text.
type Bound<'t> = (&'t str, usize);

/// Parses a text line by line.
pub(super) struct Assembler<'t, 'k> {
    text: &'t str,
    pub(super) cursor: Cursor<'t>,
    pub(super) tokens: &'k mut dyn TypeTokens,
    pub(super) out: Fragment,
    /// The number of labels for numbered exits.
    pub(super) outside: u32,
    labels: HashMap<&'t str, Named>,
    clauses: Vec<Pending<'t>>,
    header: Option<Header>,
}

/// The directives of a body.
#[derive(Default)]
struct Header {
    max_stack: u16,
    init_locals: bool,
    locals_token: u32,
    locals: Vec<TypeSig>,
}

impl FromStr for MethodBody {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse_text(text, &mut TokenNames)
    }
}

impl MethodBody {
    /// Parses a body from its [text](crate::text). `tokens` resolves the types of locals and of the
    /// signatures of `calli`; `text.parse()` does the same, with types only by token.
    ///
    /// Without a `.maxstack`, the body declares 8. The offsets in the names of labels are ignored,
    /// and no instruction has an [original
    /// offset](crate::instruction::Instruction::original_offset).
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse_text(text: &str, tokens: &mut impl TypeTokens) -> Result<Self, TextError> {
        let header = Header {
            max_stack: 8,
            ..Header::default()
        };
        let mut assembler = Assembler::new(text, tokens, Some(header));
        assembler.lines()?;
        if !assembler.out.pending.is_empty() {
            return Err(assembler.cursor.expected("an instruction after a prefix"));
        }
        let header = assembler.header.take().unwrap_or_default();
        let mut body = Self::new();
        body.code = LazyCode::new(assembler.out.code);
        body.set_max_stack(header.max_stack);
        body.set_init_locals(header.init_locals);
        body.locals.token = header.locals_token;
        let told = !header.locals.is_empty();
        // A token alone does not tell the types.
        let known = told || header.locals_token == 0;
        body.locals.signature = known.then_some(LocalsSig {
            locals: header.locals,
        });
        body.locals.changed = told && header.locals_token == 0;
        Ok(body)
    }
}

impl FromStr for Fragment {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse_text(text, &mut TokenNames)
    }
}

impl Fragment {
    /// Parses a fragment from its [text](crate::text). `tokens` resolves the types of the
    /// signatures of `calli`; `text.parse()` does the same, with types only by token.
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse_text(text: &str, tokens: &mut impl TypeTokens) -> Result<Self, TextError> {
        Self::assemble(text, tokens, &[]).map(|(fragment, _)| fragment)
    }

    /// As [`parse_text`](Self::parse_text), with names for exits; their labels are returned in the
    /// same order.
    ///
    /// ```
    /// use clr_profiler_il::fragment::Fragment;
    /// use clr_profiler_il::signature::TokenNames;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = "ldarg.0; brtrue out".replace("; ", "\n");
    /// let (skip, [out]) = Fragment::parse_with_exits(&text, &mut TokenNames, ["out"])?;
    /// let mut same = Fragment::new();
    /// let label = same.label();
    /// same.ldarg(0).brtrue(label);
    /// assert_eq!(skip, same);
    /// # let _ = out;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A malformed text, with the position of the error.
    pub fn parse_with_exits<const N: usize>(
        text: &str,
        tokens: &mut impl TypeTokens,
        exits: [&str; N],
    ) -> Result<(Self, [Label; N]), TextError> {
        let (fragment, first) = Self::assemble(text, tokens, &exits)?;
        let mut number = first;
        let labels = exits.map(|_| {
            number += 1;
            fragment.code.label(number - 1)
        });
        Ok((fragment, labels))
    }

    /// The fragment, and the index of the label of the first exit.
    fn assemble<'t>(
        text: &'t str,
        tokens: &mut dyn TypeTokens,
        exits: &[&'t str],
    ) -> Result<(Self, u32), TextError> {
        let mut assembler = Assembler::new(text, tokens, None);
        assembler.reserve_outside();
        for exit in exits {
            let label = assembler.out.label();
            let named = Named {
                at: Some(UNPLACED),
                label: Some(label),
                used: 0,
            };
            assembler.labels.insert(*exit, named);
        }
        let first = assembler.outside;
        assembler.lines()?;
        Ok((assembler.out, first))
    }
}

/// The end of a line, which continues while a parenthesis is open.
fn line_end(text: &str, start: usize) -> usize {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut characters = text.get(start..).unwrap_or("").char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        match (character, quote) {
            ('\n', _) if depth == 0 => return start + index,
            // A quoted part ends with the line.
            ('\n', _) => quote = None,
            ('\\', Some(_)) => {
                characters.next_if(|&(_, escaped)| escaped != '\n');
            }
            (_, Some(open)) if character == open => quote = None,
            ('\'' | '"', None) => quote = Some(character),
            ('(', None) => depth += 1,
            (')', None) => depth = depth.saturating_sub(1),
            ('/', None) if characters.next_if(|&(_, next)| next == '/').is_some() => {
                while characters.next_if(|&(_, next)| next != '\n').is_some() {}
            }
            _ => {}
        }
    }
    text.len()
}

impl<'t, 'k> Assembler<'t, 'k> {
    fn new(text: &'t str, tokens: &'k mut dyn TypeTokens, header: Option<Header>) -> Self {
        Self {
            text,
            cursor: Cursor::new(text),
            tokens,
            out: Fragment::new(),
            outside: 0,
            labels: HashMap::new(),
            clauses: Vec::new(),
            header,
        }
    }

    /// Creates the labels that the text refers to by number, so that they get these numbers.
    fn reserve_outside(&mut self) {
        for (index, word) in self.text.match_indices("label ") {
            let mut cursor = Cursor::new(self.text);
            cursor.go_to(index + word.len());
            if let Ok(number) = cursor.unsigned(MAX_OUTSIDE, "a number") {
                self.outside = self.outside.max(number as u32 + 1);
            }
        }
        for _ in 0..self.outside {
            self.out.label();
        }
    }

    fn lines(&mut self) -> Result<(), TextError> {
        while !self.cursor.is_at_end() {
            let end = line_end(self.text, self.cursor.at());
            self.cursor = self.cursor.until(end);
            self.line()?;
            if !self.cursor.is_at_end() {
                return Err(self.cursor.expected("the end of the line"));
            }
            self.cursor = self.cursor.until(self.text.len());
        }
        self.finish()
    }

    fn line(&mut self) -> Result<(), TextError> {
        loop {
            if self.cursor.is_at_end() {
                return Ok(());
            }
            let start = self.cursor.at();
            let word = self.cursor.word();
            if !word.is_empty() && self.cursor.follows(":") && !self.cursor.follows("::") {
                self.cursor.eat(":");
                self.define(word, start)?;
                continue;
            }
            return match word {
                ".try" => self.clause(),
                ".maxstack" | ".locals" | ".local" if self.header.is_some() => self.directive(word),
                _ => {
                    self.cursor.go_to(start);
                    self.instruction()
                }
            };
        }
    }

    fn instruction(&mut self) -> Result<(), TextError> {
        loop {
            let start = self.cursor.at();
            let word = self.cursor.word();
            if word.is_empty() {
                return Err(self.cursor.expected("an instruction"));
            }
            let Some(&opcode) = MNEMONICS.get(word) else {
                let kind = TextErrorKind::UnknownInstruction(word.into());
                return Err(self.cursor.error(kind, start));
            };
            if !opcode.is_prefix() {
                return self.operand(opcode);
            }
            if self.out.pending.iter().any(|one| one.opcode == opcode) {
                let kind = TextErrorKind::RepeatedPrefix(word.into());
                return Err(self.cursor.error(kind, start));
            }
            self.prefix(opcode)?;
            // `ildasm` prints the prefix on a line of its own.
            if self.cursor.is_at_end() {
                return Ok(());
            }
        }
    }

    fn directive(&mut self, word: &str) -> Result<(), TextError> {
        let Some(mut header) = self.header.take() else {
            return Ok(());
        };
        match word {
            ".maxstack" => {
                let depth = self.cursor.unsigned(0xffff, "a depth of at most 65535")?;
                header.max_stack = depth as u16;
            }
            ".locals" => {
                let init = self.cursor.eat_word("init");
                header.init_locals |= init;
                let token = self.token()?;
                header.locals_token = token.map_or(header.locals_token, |token| token.raw());
                if self.cursor.follows("(") {
                    let parsed = TypeParser::new(&mut self.cursor, self.tokens).locals_sig()?;
                    header.locals = parsed.locals;
                } else if !init && token.is_none() {
                    let expected = "`init`, a token or the types of locals";
                    return Err(self.cursor.expected(expected));
                }
            }
            _ => {
                if header.locals.len() == MAX_LOCALS {
                    return Err(self.cursor.expected("no more locals than 65534"));
                }
                let mut parser = TypeParser::new(&mut self.cursor, self.tokens);
                parser.local_number(header.locals.len())?;
                header.locals.push(parser.local()?);
            }
        }
        self.header = Some(header);
        Ok(())
    }

    /// `a to b catch T handler c to d`, after the word `.try`.
    fn clause(&mut self) -> Result<(), TextError> {
        let [try_start, try_end] = self.region()?;
        let start = self.cursor.at();
        let (mut value, mut filter) = ((0, false), None);
        let kind = match self.cursor.word() {
            "catch" => {
                let name = self.type_name()?;
                value = self.out.name(name.0);
                ClauseKind::Catch
            }
            "filter" => {
                filter = Some(self.bound()?);
                ClauseKind::Filter
            }
            word @ ("finally" | "fault") => {
                value.0 = self.token()?.map_or(0, |token| token.raw());
                if word == "fault" {
                    ClauseKind::Fault
                } else {
                    ClauseKind::Finally
                }
            }
            _ => {
                self.cursor.go_to(start);
                let expected = "`catch`, `filter`, `finally` or `fault`";
                return Err(self.cursor.expected(expected));
            }
        };
        if !self.cursor.eat_word("handler") {
            return Err(self.cursor.expected("`handler` and a region"));
        }
        let [handler_start, handler_end] = self.region()?;
        self.clauses.push(Pending {
            kind,
            value,
            regions: [try_start, try_end, handler_start, handler_end],
            filter,
        });
        Ok(())
    }

    fn region(&mut self) -> Result<[Bound<'t>; 2], TextError> {
        let start = self.bound()?;
        if !self.cursor.eat_word("to") {
            return Err(self.cursor.expected("`to` between two labels"));
        }
        Ok([start, self.bound()?])
    }

    fn bound(&mut self) -> Result<Bound<'t>, TextError> {
        self.cursor.skip();
        let at = self.cursor.at();
        match self.cursor.word() {
            "" => Err(self.cursor.expected("a label")),
            name => Ok((name, at)),
        }
    }

    fn next_node(&self) -> u32 {
        self.out.code.nodes.len() as u32
    }

    /// Defines a label here.
    fn define(&mut self, name: &'t str, at: usize) -> Result<(), TextError> {
        let node = self.next_node();
        let named = self.labels.entry(name).or_insert(Named {
            at: None,
            label: None,
            used: at,
        });
        if named.at.is_some() {
            let kind = TextErrorKind::RepeatedLabel(name.into());
            return Err(self.cursor.error(kind, at));
        }
        named.at = Some(node);
        if let Some(label) = named.label {
            self.out.mark(label);
        }
        Ok(())
    }

    /// The label for a branch to a name.
    pub(super) fn reference(&mut self, name: &'t str, at: usize) -> Label {
        let next = self.next_node();
        let named = self.labels.entry(name).or_insert(Named {
            at: None,
            label: None,
            used: at,
        });
        if let Some(label) = named.label {
            return label;
        }
        let label = match named.at {
            Some(node) if node < next => self.out.code.branch_label(node),
            // The instruction that branches to itself does not exist yet.
            Some(_) => {
                let label = self.out.label();
                self.out.code.place_label(label, END);
                label
            }
            None => self.out.label(),
        };
        named.label = Some(label);
        label
    }

    /// Creates the clauses, and checks that every label is defined.
    fn finish(&mut self) -> Result<(), TextError> {
        let undefined = self.labels.iter().filter(|(_, named)| named.at.is_none());
        if let Some((name, named)) = undefined.min_by_key(|(_, named)| named.used) {
            let kind = TextErrorKind::UndefinedLabel((*name).into());
            return Err(self.cursor.error(kind, named.used));
        }
        for pending in std::mem::take(&mut self.clauses) {
            let [try_start, try_end, handler_start, handler_end] = pending.regions;
            let bounds = Bounds {
                try_start: self.node_of(try_start)?,
                try_end: self.node_of(try_end)?,
                filter: pending.filter.map(|at| self.node_of(at)).transpose()?,
                handler_start: self.node_of(handler_start)?,
                handler_end: self.node_of(handler_end)?,
            };
            let code = &mut self.out.code;
            code.add_clause(pending.kind, pending.value, bounds);
        }
        Ok(())
    }

    /// The node at a bound of a clause.
    fn node_of(&self, (name, at): Bound<'t>) -> Result<u32, TextError> {
        match self.labels.get(name).and_then(|named| named.at) {
            Some(node) if node < self.next_node() => Ok(node),
            Some(node) if node != UNPLACED => Ok(END),
            _ => {
                let kind = TextErrorKind::UndefinedLabel(name.into());
                Err(self.cursor.error(kind, at))
            }
        }
    }
}
