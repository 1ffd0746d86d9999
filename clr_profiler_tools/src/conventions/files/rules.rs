//! Files in our own format.

use super::Fault;
use super::tree::{Kind, Node};
use crate::conventions::checked::RuleText;
use crate::conventions::parse::parse;
use crate::conventions::rule::{Mistake, Rule};

const KEYS: [&str; 9] = [
    "methods",
    "kind",
    "adds_to",
    "name",
    "attributes",
    "status",
    "inject",
    "extract",
    "about",
];

pub(super) fn read(name: &str, source: &str, tree: &Node) -> Result<Vec<RuleText>, Fault> {
    tree.only(&["rules", "about"])?;
    let rules = tree.need("rules")?.list()?;
    let rules = rules.iter().map(|node| {
        let mut reader = Reader {
            source,
            places: Vec::new(),
        };
        let text = reader.rule(name, node)?;
        reader.check(node, text)
    });
    rules.collect()
}

/// The nodes of the texts of a rule, by their places in it.
pub(super) struct Reader<'a> {
    pub(super) source: &'a str,
    pub(super) places: Vec<(String, &'a Node)>,
}

impl<'a> Reader<'a> {
    /// Checks a rule, and returns it.
    pub(super) fn check(&self, node: &Node, text: RuleText) -> Result<RuleText, Fault> {
        match Rule::read(text.clone()) {
            Ok(_) => Ok(text),
            Err(mistake) => Err(self.fault(node, mistake)),
        }
    }

    fn fault(&self, rule: &Node, mistake: Mistake) -> Fault {
        let place = self
            .places
            .iter()
            .find(|(place, _)| *place == mistake.place);
        let Some((_, node)) = place else {
            return rule.fault(format!("{}: {}", mistake.place, mistake.problem));
        };
        let (line, column) = node.place(self.source, mistake.line, mistake.column);
        Fault {
            line,
            column,
            problem: mistake.problem,
        }
    }

    /// Remembers the node of a text.
    pub(super) fn text(&mut self, place: &str, node: &'a Node) -> Result<String, Fault> {
        self.places.push((place.to_owned(), node));
        node.text().map(str::to_owned)
    }

    fn rule(&mut self, name: &str, node: &'a Node) -> Result<RuleText, Fault> {
        node.only(&KEYS)?;
        let mut rule = RuleText {
            origin: format!("{name}:{}", node.line),
            ..RuleText::default()
        };
        let methods = node.need("methods")?;
        rule.methods = match &methods.is {
            Kind::List(all) => {
                let mut lines = Vec::new();
                for one in all {
                    let text = self.text("methods", one)?;
                    // Each alone, because a mistake has the line and the column in its own text.
                    self.check(
                        node,
                        RuleText {
                            methods: text.trim_start().trim_start_matches('-').to_owned(),
                            ..RuleText::default()
                        },
                    )?;
                    self.places.pop();
                    lines.push(text);
                }
                self.places.push(("methods".to_owned(), methods));
                lines.join("\n")
            }
            _ => self.text("methods", methods)?,
        };
        if let Some(kind) = node.get("kind") {
            rule.kind = Some(self.text("kind", kind)?);
        }
        if let Some(kind) = node.get("adds_to") {
            rule.adds_to = Some(self.text("adds_to", kind)?);
        }
        if let Some(name) = node.get("name") {
            rule.name = Some(self.template(name)?);
        }
        for (key, value) in node.get("attributes").map_or(Ok(&[][..]), Node::map)? {
            let key = key.text()?.to_owned();
            let place = format!("attributes.{key}");
            let (of, value) = match value.map() {
                Ok([_, ..]) => {
                    value.only(&["value", "type"])?;
                    let of = value.get("type").map(Node::text).transpose()?;
                    (of.map(str::to_owned), value.need("value")?)
                }
                _ => (None, value),
            };
            let value = self.text(&place, value)?;
            rule.attributes.push((key, of, value));
        }
        let statuses = node.get("status").map_or(Ok(&[][..]), Node::list)?;
        for (number, status) in statuses.iter().enumerate() {
            status.only(&["error", "ok", "unset", "description"])?;
            let code = ["error", "ok", "unset"]
                .into_iter()
                .find_map(|code| Some((code, status.get(code)?)));
            let Some((code, condition)) = code else {
                return Err(status
                    .fault("a status begins with `error:`, `ok:` or `unset:`, and its condition"));
            };
            let condition = self.text(&format!("status.{number}"), condition)?;
            let description = status.get("description");
            let place = format!("status.{number}.description");
            let description = description.map(|it| self.text(&place, it)).transpose()?;
            rule.statuses
                .push((code.to_owned(), condition, description));
        }
        if let Some(inject) = node.get("inject") {
            inject.only(&["into", "has", "remove", "set"])?;
            let mut optional = |key: &str| match inject.get(key) {
                Some(node) => self.text(&format!("inject.{key}"), node),
                None => Ok(String::new()),
            };
            let (has, remove) = (optional("has")?, optional("remove")?);
            rule.inject = Some([
                self.text("inject.into", inject.need("into")?)?,
                has,
                remove,
                self.text("inject.set", inject.need("set")?)?,
            ]);
        }
        if let Some(extract) = node.get("extract") {
            extract.only(&["parent", "state"])?;
            let parent = self.text("extract.parent", extract.need("parent")?)?;
            let state = match extract.get("state") {
                Some(state) => self.text("extract.state", state)?,
                None => String::new(),
            };
            rule.extract = Some([parent, state]);
        }
        Ok(rule)
    }

    /// A text with expressions in braces, as one expression.
    fn template(&self, node: &Node) -> Result<String, Fault> {
        let text = node.text()?;
        let mut parts = Vec::new();
        let mut literal = String::new();
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        let fault = |at: usize, column: usize, problem: String| {
            let (line, column) = node.place(self.source, 1, at + column);
            Fault {
                line,
                column,
                problem,
            }
        };
        while let Some(&first) = characters.get(at) {
            let is_double = characters.get(at + 1) == Some(&first);
            match first {
                '{' | '}' if is_double => {
                    literal.push(first);
                    at += 2;
                }
                '}' => {
                    return Err(fault(
                        at,
                        1,
                        "a `}` without `{`; write `}}` for the character".to_owned(),
                    ));
                }
                '{' => {
                    let rest = &characters[at + 1..];
                    let Some(length) = rest.iter().position(|it| *it == '}') else {
                        return Err(fault(
                            at,
                            1,
                            "a `{` without `}`; write `{{` for the character".to_owned(),
                        ));
                    };
                    let expression: String = rest[..length].iter().collect();
                    if let Err((column, problem)) = parse(&expression, &mut Vec::new()) {
                        return Err(fault(at + 1, column, problem));
                    }
                    if !literal.is_empty() {
                        parts.push(quoted(&std::mem::take(&mut literal)));
                    }
                    parts.push(format!("({expression})"));
                    at += length + 2;
                }
                other => {
                    literal.push(other);
                    at += 1;
                }
            }
        }
        if !literal.is_empty() || parts.is_empty() {
            parts.push(quoted(&literal));
        }
        Ok(format!("concat({})", parts.join(", ")))
    }
}

/// A text as an expression.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
