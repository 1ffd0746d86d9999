//! Files of OpenTelemetry .NET: `file_format: "1.0"` with targets of `no_code`.
//!
//! A file is read as it is. The names of assemblies, types and methods may have wildcards in addition, there may be any number
//! of parameters, and a target without `signature` has all overloads.

use super::Fault;
use super::rules::{Reader, quoted};
use super::tree::{Kind, Node, Style};
use crate::conventions::checked::RuleText;

pub(super) fn read(name: &str, source: &str, tree: &Node) -> Result<Vec<RuleText>, Fault> {
    if let Some(format) = tree.get("file_format") {
        let version = format.text()?;
        if version != "1.0" && !version.starts_with("1.0-") {
            return Err(format.fault(format!("the format is `{version}`; `1.0` can be read")));
        }
    }
    // Other parts of a file are those of the SDK.
    let instrumentation = tree.get("instrumentation/development");
    let dotnet = instrumentation.and_then(|it| it.get("dotnet"));
    let no_code = dotnet
        .and_then(|it| it.get("no_code"))
        .or_else(|| tree.get("no_code/development"))
        .or_else(|| tree.get("no_code"));
    let Some(no_code) = no_code else {
        return Err(
            tree.fault("there is no `no_code` under `instrumentation/development`, `dotnet`")
        );
    };
    let targets = no_code.need("targets")?.list()?;
    targets
        .iter()
        .map(|node| target(name, source, node))
        .collect()
}

fn target(name: &str, source: &str, node: &Node) -> Result<RuleText, Fault> {
    node.only(&["target", "span"])?;
    let mut reader = Reader {
        source,
        places: Vec::new(),
    };
    let target = node.need("target")?;
    target.only(&["assembly", "type", "method", "signature"])?;
    let assembly = target.need("assembly")?;
    let assembly = match &assembly.is {
        Kind::Map(_) => assembly.need("name")?.text()?,
        _ => assembly.text()?,
    };
    let (class, method) = (target.need("type")?.text()?, target.need("method")?.text()?);
    reader.places.push(("methods".to_owned(), target));
    let mut methods = format!(
        "{}!{}.{}",
        quoted_name(assembly),
        class,
        quoted_name(method)
    );
    if let Some(signature) = target.get("signature") {
        signature.only(&["return_type", "parameter_types"])?;
        let types = signature
            .get("parameter_types")
            .map_or(Ok(&[][..]), Node::list)?;
        let types: Result<Vec<String>, Fault> =
            types.iter().map(|one| Ok(type_name(one.text()?))).collect();
        methods += &format!("({})", types?.join(", "));
    }
    let mut rule = RuleText {
        origin: format!("{name}:{}", node.line),
        methods,
        ..RuleText::default()
    };
    let Some(span) = node.get("span") else {
        return reader.check(node, rule);
    };
    span.only(&["name", "name_source", "kind", "attributes", "status"])?;
    if let Some(kind) = span.get("kind") {
        rule.kind = Some(reader.text("kind", kind)?.to_ascii_lowercase());
    }
    let plain = span
        .get("name")
        .map(|it| it.text().map(quoted))
        .transpose()?;
    rule.name = match (span.get("name_source"), plain) {
        (Some(source), plain) => {
            let source = reader.text("name", source)?;
            Some(match plain {
                // The name is the one to fall back on.
                Some(plain) => format!("coalesce({source}, {plain})"),
                None => source,
            })
        }
        (None, plain) => plain,
    };
    for attribute in span.get("attributes").map_or(Ok(&[][..]), Node::list)? {
        attribute.only(&["name", "value", "source", "type"])?;
        let key = attribute.need("name")?.text()?.to_owned();
        let of = attribute.get("type").map(Node::text).transpose()?;
        let (value, source) = (attribute.get("value"), attribute.get("source"));
        let expression = match (value, source) {
            (Some(value), None) => literal(value)?,
            (None, Some(source)) => reader.text(&format!("attributes.{key}"), source)?,
            (None, None) => return Err(attribute.fault("an attribute has a `value` or a `source`")),
            _ => return Err(attribute.fault("an attribute has a `value` or a `source`, not both")),
        };
        reader.places.push((format!("attributes.{key}"), attribute));
        // Lists have no type of their own here.
        let of = of.filter(|of| !of.ends_with("_array")).map(str::to_owned);
        rule.attributes.push((key, of, expression));
    }
    let status = span.get("status");
    if let Some(status) = status {
        status.only(&["rules"])?;
    }
    let rules = status.and_then(|it| it.get("rules"));
    for (number, status) in rules.map_or(Ok(&[][..]), Node::list)?.iter().enumerate() {
        status.only(&["condition", "code", "description"])?;
        let place = format!("status.{number}");
        let condition = reader.text(&place, status.need("condition")?)?;
        let code = status.need("code")?;
        reader.places.push((place, code));
        let description = status.get("description").map(description).transpose()?;
        rule.statuses
            .push((code.text()?.to_ascii_lowercase(), condition, description));
    }
    reader.check(node, rule)
}

/// A description is a text, or a call of a function, which may be in quotes: a colon in it needs them.
fn description(node: &Node) -> Result<String, Fault> {
    let text = node.text()?;
    let is_call = text
        .split_once('(')
        .is_some_and(|(name, _)| name == "concat" || name == "coalesce");
    Ok(match is_call && text.ends_with(')') {
        true => text.to_owned(),
        false => quoted(text),
    })
}

/// A constant as an expression.
fn literal(node: &Node) -> Result<String, Fault> {
    match &node.is {
        Kind::List(all) => {
            let all: Result<Vec<String>, Fault> = all.iter().map(literal).collect();
            Ok(format!("[{}]", all?.join(", ")))
        }
        Kind::Scalar {
            text,
            style: Style::Plain,
        } if text.parse::<f64>().is_ok_and(f64::is_finite) || text == "true" || text == "false" => {
            Ok(text.clone())
        }
        _ => Ok(quoted(node.text()?)),
    }
}

/// A name in a pattern: in quotes if it has other characters than those of names and wildcards.
fn quoted_name(name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "_*.<>".contains(it);
    match name.chars().all(is_plain) && !name.is_empty() {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'")),
    }
}

/// The type of a parameter, which has the form of reflection, as patterns have it.
///
/// `!0` and `!!0` are generic parameters, whose names patterns would have: anything matches them.
fn type_name(name: &str) -> String {
    let mut rest = name.trim();
    let text = next_type(&mut rest);
    match rest.is_empty() {
        true => text,
        // Another form matches anything.
        false => "*".to_owned(),
    }
}

/// The type at the beginning of a text, which is taken from it.
fn next_type(rest: &mut &str) -> String {
    // With the assembly: `[System.Int32, System.Private.CoreLib]`.
    if let Some(qualified) = rest.strip_prefix('[') {
        *rest = qualified;
        let text = next_type(rest);
        *rest = rest.split_once(']').map_or("", |(_, after)| after);
        return text;
    }
    let end = rest.find(['[', ']', ',', '&']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    let name = name.trim();
    let mut text = match name.split_once('`') {
        _ if name.starts_with('!') => "*".to_owned(),
        // The arguments of a nested type are those of all types around it.
        Some((_, count)) if count.contains('+') => {
            arguments(rest);
            "*".to_owned()
        }
        Some((outer, _)) => match arguments(rest) {
            Some(all) => format!("{outer}<{}>", all.join(", ")),
            None => format!("{outer}<**>"),
        },
        None => name.to_owned(),
    };
    // Arrays: `[]`, `[,]`.
    while let Some(inner) = rest.strip_prefix('[')
        && let Some((commas, after)) = inner.split_once(']')
        && commas.chars().all(|it| it == ',')
    {
        text += &format!("[{commas}]");
        *rest = after;
    }
    if let Some(after) = rest.strip_prefix('&') {
        *rest = after;
        text = format!("ref {text}");
    }
    *rest = rest.trim_start();
    text
}

/// The types in brackets, which are not those of an array.
fn arguments(rest: &mut &str) -> Option<Vec<String>> {
    let inner = rest.strip_prefix('[')?;
    if inner.starts_with([']', ',']) {
        return None;
    }
    *rest = inner;
    let mut all = Vec::new();
    loop {
        *rest = rest.trim_start();
        all.push(next_type(rest));
        let separator = rest.chars().next()?;
        *rest = rest.get(separator.len_utf8()..)?;
        if separator != ',' {
            return Some(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::type_name;

    #[test]
    fn types_of_reflection_become_those_of_patterns() {
        let (list, map) = (
            "System.Collections.Generic.List",
            "System.Collections.Generic.Dictionary",
        );
        for (name, expected) in [
            ("System.String", "System.String".to_owned()),
            ("System.String[]", "System.String[]".to_owned()),
            ("System.Int32[,][]", "System.Int32[,][]".to_owned()),
            ("System.Int32&", "ref System.Int32".to_owned()),
            ("Shop.Order+Line", "Shop.Order+Line".to_owned()),
            ("!0", "*".to_owned()),
            ("!!1", "*".to_owned()),
            (
                "System.Collections.Generic.List`1[System.Int32]",
                format!("{list}<System.Int32>"),
            ),
            (
                "System.Collections.Generic.List`1[!0][]&",
                format!("ref {list}<*>[]"),
            ),
            (
                "System.Collections.Generic.Dictionary`2[System.String,System.Collections.Generic.List`1[System.Int32[]]]",
                format!("{map}<System.String, {list}<System.Int32[]>>"),
            ),
            (
                "System.Collections.Generic.List`1[[System.Int32, System.Private.CoreLib, Version=8.0.0.0]]",
                format!("{list}<System.Int32>"),
            ),
            ("System.Collections.Generic.List`1", format!("{list}<**>")),
            (
                "System.Collections.Generic.List`1[]",
                format!("{list}<**>[]"),
            ),
            (
                "Shop.Cart`1+Line`1[System.Int32,System.String]",
                "*".to_owned(),
            ),
            ("a]b", "*".to_owned()),
            ("", String::new()),
        ] {
            assert_eq!(type_name(name), expected, "{name}");
        }
        // Broken ones end.
        for name in ["[", "A`1[", "A`1[B", "A`1[,", "A`1[[B", "A`1[B,"] {
            type_name(name);
        }
    }
}
