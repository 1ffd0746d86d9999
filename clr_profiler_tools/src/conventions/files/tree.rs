//! YAML as a tree, with the line and the column of each node.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::Fault;

/// How deep nodes may nest.
const DEPTH: usize = 64;
/// The limit for nodes, which aliases repeat.
const NODES: usize = 1_000_000;

/// A node with its place, from 1.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) is: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar {
        text: String,
        style: Style,
    },
    List(Vec<Node>),
    /// Keys, which are scalars, with their values.
    Map(Vec<(Node, Node)>),
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Quoted,
    Block,
}

impl Node {
    pub(super) fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault {
            line: self.line,
            column: self.column,
            problem: problem.into(),
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Result<&str, Fault> {
        match &self.is {
            Kind::Scalar { text, .. } => Ok(text),
            _ => Err(self.fault("a text is expected here")),
        }
    }

    /// Whether it is empty: no value was given.
    pub(super) fn is_empty(&self) -> bool {
        match &self.is {
            Kind::Scalar { text, style } => {
                *style == Style::Plain && (text.is_empty() || text == "~" || text == "null")
            }
            Kind::List(all) => all.is_empty(),
            Kind::Map(all) => all.is_empty(),
        }
    }

    pub(super) fn list(&self) -> Result<&[Self], Fault> {
        match &self.is {
            Kind::List(all) => Ok(all),
            _ if self.is_empty() => Ok(&[]),
            _ => Err(self.fault("a list is expected here: each item begins with `-`")),
        }
    }

    pub(super) fn map(&self) -> Result<&[(Self, Self)], Fault> {
        match &self.is {
            Kind::Map(all) => Ok(all),
            _ if self.is_empty() => Ok(&[]),
            _ => Err(self.fault("keys with values are expected here: `key: value`")),
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let all = self.map().ok()?;
        let found = all.iter().find(|(known, _)| known.text() == Ok(key));
        found.map(|(_, value)| value).filter(|it| !it.is_empty())
    }

    /// The value of a key that has to be there.
    pub(super) fn need(&self, key: &str) -> Result<&Self, Fault> {
        self.map()?;
        self.get(key)
            .ok_or_else(|| self.fault(format!("`{key}` is missing here")))
    }

    /// Refuses keys other than these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Fault> {
        for (key, _) in self.map()? {
            let name = key.text()?;
            if !known.contains(&name) {
                return Err(key.fault(format!(
                    "there is no key `{name}` here; the keys are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// The place of a character of a scalar's text: of a line and a column from 1 in it.
    pub(super) fn place(&self, source: &str, line: usize, column: usize) -> (usize, usize) {
        let style = match &self.is {
            Kind::Scalar { style, .. } => *style,
            _ => Style::Plain,
        };
        match style {
            // Its place is that of its first line; lines that are folded are one line of the text.
            Style::Block => {
                let (mut at, mut column) = (self.line + line - 1, column);
                loop {
                    let text = source.lines().nth(at - 1).unwrap_or_default();
                    let indent = text.chars().take_while(|it| it.is_whitespace()).count();
                    let length = text.trim().chars().count();
                    if column <= length + 1 || text.is_empty() {
                        return (at, indent + column);
                    }
                    column -= length + 1;
                    at += 1;
                }
            }
            _ if line > 1 => (self.line + line - 1, column),
            Style::Quoted => (self.line, self.column + column),
            Style::Plain => (self.line, self.column + column - 1),
        }
    }
}

/// Reads the first document of a text.
pub(super) fn read(source: &str) -> Result<Node, Fault> {
    let mut reader = Reader {
        parser: Parser::new_from_str(source),
        anchors: Vec::new(),
        nodes: 0,
    };
    loop {
        let (event, line, column) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd | Event::DocumentEnd => {
                return Err(Fault {
                    line: 1,
                    column: 1,
                    problem: "the file is empty".to_owned(),
                });
            }
            event => return reader.node(event, (line, column), 0),
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: Vec<(usize, Node)>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize, usize), Fault> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, span.start.line(), span.start.col() + 1)),
            Some(Err(error)) => Err(Fault {
                line: error.marker().line(),
                column: error.marker().col() + 1,
                problem: error.info().to_owned(),
            }),
            None => Ok((Event::StreamEnd, 1, 1)),
        }
    }

    fn node(
        &mut self,
        event: Event<'a>,
        (line, column): (usize, usize),
        depth: usize,
    ) -> Result<Node, Fault> {
        let fault = |problem: &str| Fault {
            line,
            column,
            problem: problem.to_owned(),
        };
        self.nodes += 1;
        if depth > DEPTH || self.nodes > NODES {
            return Err(fault("the file has too many nodes"));
        }
        let (is, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    _ => Style::Block,
                };
                let text = text.into_owned();
                (Kind::Scalar { text, style }, anchor)
            }
            Event::SequenceStart(anchor, _) => {
                let mut all = Vec::new();
                loop {
                    let (event, line, column) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        break;
                    }
                    all.push(self.node(event, (line, column), depth + 1)?);
                }
                (Kind::List(all), anchor)
            }
            Event::MappingStart(anchor, _) => {
                let mut all: Vec<(Node, Node)> = Vec::new();
                loop {
                    let (event, line, column) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        break;
                    }
                    let key = self.node(event, (line, column), depth + 1)?;
                    let name = key.text()?;
                    if all.iter().any(|(known, _)| known.text() == Ok(name)) {
                        return Err(key.fault(format!("the key `{name}` is there twice")));
                    }
                    let (event, line, column) = self.next()?;
                    let value = self.node(event, (line, column), depth + 1)?;
                    all.push((key, value));
                }
                (Kind::Map(all), anchor)
            }
            Event::Alias(anchor) => {
                let known = self.anchors.iter().find(|(known, _)| *known == anchor);
                let node = known.map(|(_, node)| node.clone());
                let node = node.ok_or_else(|| fault("the alias is of no node before it"))?;
                self.nodes += size(&node);
                return match self.nodes > NODES {
                    true => Err(fault("the file has too many nodes")),
                    false => Ok(node),
                };
            }
            _ => return Err(fault("a value is missing")),
        };
        let node = Node { line, column, is };
        if anchor != 0 {
            self.anchors.push((anchor, node.clone()));
        }
        Ok(node)
    }
}

fn size(of: &Node) -> usize {
    1 + match &of.is {
        Kind::Scalar { .. } => 0,
        Kind::List(all) => all.iter().map(size).sum(),
        Kind::Map(all) => all.iter().map(|(_, value)| 1 + size(value)).sum(),
    }
}
