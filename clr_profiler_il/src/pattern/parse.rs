//! The parser of patterns and lists.

use super::error::PatternErrorKind as Kind;
use super::glob::Glob;
use super::path::{Step, TypePath, parts};
use super::scan::{Parser, Result, is_plain};
use super::types::{DEPTH, ListItem, TypePattern};
use super::{AttributeOwner, MethodPattern};
use crate::attributes::MemberAccess;
use crate::signature::TypeSig;

/// A pattern that is not in a list.
pub(super) fn one(text: &str) -> Result<MethodPattern> {
    let mut parser = Parser::new(text, false);
    parser.skip();
    if parser.rest().starts_with('-') {
        return Err(parser.fail(Kind::Exclusion));
    }
    parser.pattern()
}

/// The patterns of a list.
pub(super) fn list(text: &str) -> Result<Vec<MethodPattern>> {
    let mut parser = Parser::new(text, true);
    let mut patterns = Vec::new();
    loop {
        parser.skip();
        match parser.peek() {
            None => return Ok(patterns),
            Some(';' | '\n') => parser.advance(),
            Some('#') => {
                let comment = parser.rest();
                parser.at += comment.find('\n').unwrap_or(comment.len());
            }
            Some(_) => patterns.push(parser.pattern()?),
        }
    }
}

/// A segment of a path.
struct Segment {
    start: usize,
    is_nested: bool,
    /// `None` for `**`.
    name: Option<Glob>,
    arguments: Option<Vec<ListItem>>,
}

impl Parser<'_> {
    fn pattern(&mut self) -> Result<MethodPattern> {
        self.skip();
        let start = self.at;
        let is_exclusion = self.eat("-");
        self.skip();
        if self.is_at_end() {
            return Err(self.fail(Kind::Empty));
        }
        let mut is_generated = false;
        let mut access = None;
        let mut attributes = Vec::new();
        loop {
            let word = self.at;
            if let Some(found) = self.access() {
                if access.replace(found).is_some() {
                    return Err(self.fail_at(word, Kind::SecondAccess));
                }
            } else if self.eat_word(&["generated"]).is_some() {
                is_generated = true;
            } else if self.peek() == Some('[') {
                attributes.push(self.attribute()?);
            } else {
                break;
            }
        }
        let assembly = self.assembly()?;
        let first = self.at;
        let segments = self.path(true, 0)?;
        if self.rest().starts_with('/') || self.rest().starts_with("::") {
            return Err(self.fail(Kind::Separator));
        }
        let (class, method, method_arguments) = self.split_method(first, segments)?;
        self.skip();
        let parameters = match self.eat("(") {
            true => Some(self.list_until(')', 0)?),
            false => None,
        };
        self.skip();
        let mut bases = Vec::new();
        if !self.rest().starts_with("::") && self.eat(":") {
            loop {
                bases.push(self.type_pattern(0)?);
                self.skip();
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.skip();
        if !self.is_at_end() {
            return Err(self.unexpected());
        }
        let text = self.text.get(start..self.at).unwrap_or("").trim_end();
        Ok(MethodPattern {
            text: text.into(),
            is_exclusion,
            is_generated,
            access,
            attributes,
            assembly,
            class,
            method,
            method_arguments,
            parameters,
            bases,
        })
    }

    fn access(&mut self) -> Option<MemberAccess> {
        let word = self.eat_word(&["public", "internal", "protected", "private"])?;
        Some(match word {
            "protected" if self.eat_word(&["internal"]).is_some() => MemberAccess::FamOrAssem,
            "private" if self.eat_word(&["protected"]).is_some() => MemberAccess::FamAndAssem,
            "public" => MemberAccess::Public,
            "internal" => MemberAccess::Assembly,
            "protected" => MemberAccess::Family,
            _ => MemberAccess::Private,
        })
    }

    fn attribute(&mut self) -> Result<(AttributeOwner, TypePattern)> {
        let start = self.at;
        self.eat("[");
        self.skip();
        let target = self.at;
        let rest = self.rest();
        let length = rest
            .find(|found: char| !is_plain(found))
            .unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("");
        self.at += length;
        self.skip();
        let is_target = !self.rest().starts_with("::") && self.eat(":");
        let owner = match word {
            _ if !is_target => {
                self.at = target;
                AttributeOwner::Method
            }
            "method" => AttributeOwner::Method,
            "type" => AttributeOwner::Type,
            "assembly" => AttributeOwner::Assembly,
            _ => return Err(self.fail_at(target, Kind::AttributeTarget)),
        };
        let class = self.type_pattern(0)?;
        self.skip();
        self.expect(']')?;
        if !self.is_at_end()
            && self
                .peek()
                .is_some_and(|next| next != '[' && !next.is_whitespace())
        {
            return Err(self.fail_at(start, Kind::AssemblyInBrackets));
        }
        self.skip();
        Ok((owner, class))
    }

    fn assembly(&mut self) -> Result<Option<(Box<str>, Glob)>> {
        let start = self.at;
        let mut name = vec![String::new()];
        while let Some(found) = self.peek() {
            match found {
                '\'' => self.quoted(&mut name)?,
                '*' => {
                    self.advance();
                    name.push(String::new());
                }
                '.' | '+' => self.push(&mut name),
                _ if is_plain(found) => self.push(&mut name),
                '!' if self.at == start => return Err(self.fail(Kind::NoName)),
                '!' => {
                    let text = self.text.get(start..self.at).unwrap_or("");
                    self.advance();
                    return Ok(Some((text.into(), Glob::new(name))));
                }
                _ => break,
            }
        }
        self.at = start;
        Ok(None)
    }

    fn path(&mut self, is_method: bool, depth: usize) -> Result<Vec<Segment>> {
        let mut segments = vec![self.segment(false, String::new(), depth)?];
        loop {
            let at = self.at;
            let is_nested = match self.peek() {
                Some('.') => false,
                Some('+') => true,
                _ => return Ok(segments),
            };
            self.advance();
            let mut dot = String::new();
            if !is_nested && self.rest().starts_with('.') {
                let rest = self.rest();
                let is_constructor = [".ctor", ".cctor"].iter().any(|name| {
                    let after = rest.strip_prefix(name);
                    after.is_some_and(|rest| {
                        !rest.starts_with(|next: char| is_plain(next) || ".+*'<`".contains(next))
                    })
                });
                if !(is_method && is_constructor) {
                    return Err(self.fail_at(at, Kind::SpecialName));
                }
                self.advance();
                dot.push('.');
            }
            segments.push(self.segment(is_nested, dot, depth)?);
        }
    }

    fn segment(&mut self, is_nested: bool, text: String, depth: usize) -> Result<Segment> {
        let start = self.at;
        let mut segment = Segment {
            start,
            is_nested,
            name: None,
            arguments: None,
        };
        let mut name = vec![text];
        if self.eat("**") {
            let next = self.peek();
            let is_part = |next: char| is_plain(next) || "*'<`".contains(next);
            return match next.is_some_and(is_part) {
                true => Err(self.fail_at(start, Kind::PartialSegment)),
                false => Ok(segment),
            };
        }
        while let Some(found) = self.peek() {
            match found {
                '*' => {
                    if self.rest().starts_with("**") {
                        return Err(self.fail(Kind::PartialSegment));
                    }
                    self.advance();
                    name.push(String::new());
                }
                '\'' => self.quoted(&mut name)?,
                '<' if self.at == start => self.generated(&mut name)?,
                _ if is_plain(found) => self.push(&mut name),
                _ => break,
            }
        }
        if self.at == start {
            return Err(self.unexpected());
        }
        segment.name = Some(Glob::new(name));
        segment.arguments = self.arguments(depth)?;
        if segment.arguments.is_some() && self.rest().starts_with(['<', '`']) {
            return Err(self.fail(Kind::SecondArguments));
        }
        Ok(segment)
    }

    fn arguments(&mut self, depth: usize) -> Result<Option<Vec<ListItem>>> {
        if self.eat("<") {
            return self.list_until('>', depth + 1).map(Some);
        }
        if !self.eat("`") {
            return Ok(None);
        }
        let rest = self.rest();
        let end = rest.find(|found: char| !found.is_ascii_digit());
        let digits = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
        let Ok(arity) = digits.parse::<u16>() else {
            return Err(self.fail(Kind::Arity));
        };
        self.at += digits.len();
        Ok(Some(any_types(usize::from(arity))))
    }

    /// A list and its closing bracket.
    fn list_until(&mut self, close: char, depth: usize) -> Result<Vec<ListItem>> {
        let mut items = Vec::new();
        self.skip();
        // Only a list of parameters can be empty.
        if close == ')' && self.eat(")") {
            return Ok(items);
        }
        loop {
            self.skip();
            items.push(self.item(close, depth)?);
            self.skip();
            if !self.eat(",") {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn item(&mut self, close: char, depth: usize) -> Result<ListItem> {
        if let Some(after) = self.rest().strip_prefix("**") {
            let after = after.trim_start();
            if after.starts_with([',', close]) {
                self.at += 2;
                return Ok(ListItem::Any);
            }
        }
        self.type_pattern(depth).map(ListItem::Type)
    }

    fn type_pattern(&mut self, depth: usize) -> Result<TypePattern> {
        self.skip();
        if depth > DEPTH {
            return Err(self.fail(Kind::TooDeep));
        }
        let by_reference = self.eat_word(&["ref", "out", "in"]).is_some();
        let mut is_reference = false;
        let mut class = match self.keyword() {
            Some((keyword, name)) => {
                is_reference = matches!(keyword, "string" | "object" | "void");
                Some(TypePath {
                    steps: name.split('.').map(|part| literal(false, part)).collect(),
                    arguments: None,
                })
            }
            None => {
                let segments = self.path(false, depth)?;
                match &*segments {
                    [only] if only.arguments.is_none() && is_any(only) => None,
                    _ => Some(type_path(segments)),
                }
            }
        };
        let mut suffix = String::new();
        loop {
            let before = self.at;
            self.skip();
            match self.peek() {
                Some('[') => {
                    self.advance();
                    suffix.push('[');
                    while self.eat(",") {
                        suffix.push(',');
                    }
                    self.expect(']')?;
                    suffix.push(']');
                }
                Some(found @ ('&' | '*')) => {
                    suffix.push(found);
                    self.advance();
                }
                Some('?') => {
                    if is_reference || class.is_none() || !suffix.is_empty() {
                        return Err(self.fail(Kind::Nullable));
                    }
                    self.advance();
                    let inner = TypePattern {
                        class,
                        suffix: String::new(),
                    };
                    is_reference = true;
                    class = Some(TypePath {
                        steps: vec![literal(false, "System"), literal(false, "Nullable")],
                        arguments: Some(vec![ListItem::Type(inner)]),
                    });
                }
                _ => {
                    self.at = before;
                    break;
                }
            }
        }
        if by_reference {
            suffix.push('&');
        }
        Ok(TypePattern { class, suffix })
    }

    /// A C# keyword, and the full name of its type.
    fn keyword(&mut self) -> Option<(&str, &'static str)> {
        let rest = self.rest();
        let length = rest
            .find(|found: char| !is_plain(found))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(length)?;
        if after.starts_with(['.', '+', '<', '`', '\'']) {
            return None;
        }
        let class = TypeSig::class_of_keyword(word)?;
        self.at += length;
        Some((word, class))
    }

    /// Splits a path at its last segment.
    fn split_method(
        &self,
        start: usize,
        mut segments: Vec<Segment>,
    ) -> Result<(TypePath, Glob, Option<Vec<ListItem>>)> {
        let count = segments.len();
        let Some(last) = segments.pop() else {
            return Err(self.fail_at(start, Kind::NoName));
        };
        let Some(name) = last.name else {
            // `**`: any method, of any type from here on.
            segments.push(Segment { name: None, ..last });
            return Ok((type_path(segments), Glob::any(), None));
        };
        if last.is_nested {
            return Err(self.fail(Kind::NoMethod));
        }
        if count == 1 {
            let kind = match name.is_any() && last.arguments.is_none() {
                true => Kind::LoneWildcard,
                false => Kind::NoType,
            };
            return Err(self.fail_at(last.start, kind));
        }
        Ok((type_path(segments), name, last.arguments))
    }
}

fn any_types(count: usize) -> Vec<ListItem> {
    vec![ListItem::Type(TypePattern::default()); count]
}

fn is_any(segment: &Segment) -> bool {
    segment.name.as_ref().is_none_or(Glob::is_any)
}

fn literal(is_nested: bool, name: &str) -> Step {
    Step::Segment {
        is_nested,
        name: Glob::new(vec![name.to_owned()]),
    }
}

fn type_path(segments: Vec<Segment>) -> TypePath {
    let mut path = TypePath::default();
    for segment in segments {
        if let Some(arguments) = segment.arguments {
            path.arguments.get_or_insert_default().extend(arguments);
        }
        let is_nested = segment.is_nested;
        match segment.name {
            None => path.steps.push(Step::Any),
            // A quoted name is split like the name of the metadata.
            Some(name) => match name.literal() {
                Some(text) => {
                    for (number, part) in parts(text).into_iter().enumerate() {
                        let is_nested = if number == 0 {
                            is_nested
                        } else {
                            part.is_nested
                        };
                        path.steps.push(literal(is_nested, part.name));
                        if part.arity > 0 {
                            let arguments = any_types(part.arity);
                            path.arguments.get_or_insert_default().extend(arguments);
                        }
                    }
                }
                None => path.steps.push(Step::Segment { is_nested, name }),
            },
        }
    }
    path
}
