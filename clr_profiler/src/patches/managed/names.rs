//! The names of types in the form of reflection, as custom attributes have them, and the patterns for them.

use crate::error::{Error, Result};
use clr_metadata::token::TypeToken;
use clr_metadata::{Metadata, ResolutionScope};

/// The nesting of generic arguments after which hostile text is suspected.
const DEPTH_LIMIT: usize = 16;

/// The assembly that is referred to for a type; `None` for the own one.
pub(super) fn assembly_of<'a>(metadata: &Metadata<'a>, class: TypeToken) -> Option<&'a str> {
    let TypeToken::Ref(class) = class else {
        return None;
    };
    match metadata.outermost_scope(class).ok()? {
        ResolutionScope::AssemblyRef(of) => metadata.string(metadata.row(of).ok()?.name).ok(),
        _ => None,
    }
}

/// A type: ``Shop.Cart`1+Line, Shop, Version=1.0.0.0``.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeText {
    /// With the numbers of generic parameters, and `+` before nested types.
    pub(super) path: String,
    pub(super) arguments: Vec<TypeText>,
    /// Of arrays, pointers and references: `[]`, `*`, `&`.
    pub(super) suffix: String,
    /// The simple name of the assembly.
    pub(super) assembly: Option<String>,
}

struct Parser<'a> {
    rest: &'a str,
}

impl TypeText {
    /// Reads the text of a `typeof`, or of a string.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { rest: text };
        let parsed = parser.class(true, 0);
        parsed
            .filter(|_| parser.rest.is_empty())
            .ok_or_else(|| Error::other(format!("`{text}` is no name of a type")))
    }

    /// As a parameter in a pattern.
    pub(super) fn pattern(&self) -> String {
        let mut text = String::new();
        let suffix = match self.suffix.strip_suffix('&') {
            Some(suffix) => {
                text.push_str("ref ");
                suffix
            }
            None => &self.suffix,
        };
        for (index, part) in self.path.split('+').enumerate() {
            if index > 0 {
                text.push('+');
            }
            text.push_str(part.split('`').next().unwrap_or_default());
        }
        if !self.arguments.is_empty() {
            let arguments = self.arguments.iter().map(Self::pattern);
            let arguments: Vec<String> = arguments.collect();
            text = format!("{text}<{}>", arguments.join(", "));
        }
        if suffix.starts_with('*') {
            text.push(' ');
        }
        text + suffix
    }
}

impl Parser<'_> {
    /// The text up to one of these characters, which a backslash makes ordinary ones.
    fn until(&mut self, ends: &[char]) -> String {
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, one)) = chars.next() {
            match one {
                '\\' => text.extend(chars.next().map(|(_, one)| one)),
                _ if ends.contains(&one) => {
                    end = at;
                    break;
                }
                _ => text.push(one),
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        text
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn class(&mut self, has_assembly: bool, depth: usize) -> Option<TypeText> {
        let mut found = TypeText {
            path: self.until(&['[', ']', ',', '&', '*']),
            ..TypeText::default()
        };
        if found.path.is_empty() || depth > DEPTH_LIMIT {
            return None;
        }
        let is_array = |rest: &str| rest.starts_with(['[', '&', '*']);
        while is_array(self.rest) {
            let arrays = ["[]", "[*]", "*", "&"];
            if let Some(suffix) = arrays.into_iter().find(|suffix| self.take(suffix)) {
                found.suffix.push_str(suffix);
            } else if self.rest.starts_with("[,") {
                found.suffix.push_str(&self.until(&[']']));
                found.suffix.push(']');
                self.take("]").then_some(())?;
            } else if found.suffix.is_empty() && found.arguments.is_empty() && self.take("[") {
                loop {
                    let is_qualified = self.take("[");
                    let argument = self.class(is_qualified, depth + 1)?;
                    found.arguments.push(argument);
                    if is_qualified && !self.take("]") {
                        return None;
                    }
                    if !self.take(",") {
                        break;
                    }
                }
                self.take("]").then_some(())?;
            } else {
                return None;
            }
        }
        if has_assembly && self.take(",") {
            let whole = self.until(&[']']);
            let simple = whole.split(',').next().unwrap_or_default();
            found.assembly = Some(simple.trim().to_owned());
        }
        Some(found)
    }
}

/// The name of a method in a pattern.
pub(super) fn method_pattern(name: &str) -> String {
    let is_constructor = matches!(name, ".ctor" | ".cctor");
    match name.contains('.') && !is_constructor {
        true => format!("'{name}'"),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_become_patterns() {
        let list = "System.Collections.Generic.Dictionary`2[[System.String, System.Runtime, Version=4.2.2.0],\
                    [Shop.Cart+Line[], Shop]], System.Collections, Version=4.1.2.0";
        for (text, assembly, pattern) in [
            ("Shop.Store", None, "Shop.Store"),
            (
                "Shop.Store, Shop, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null",
                Some("Shop"),
                "Shop.Store",
            ),
            ("Shop.Cart`1+Line, Shop", Some("Shop"), "Shop.Cart+Line"),
            ("System.Int32&", None, "ref System.Int32"),
            ("System.Int32[,][], X", Some("X"), "System.Int32[,][]"),
            ("System.Int32**", None, "System.Int32 **"),
            (
                list,
                Some("System.Collections"),
                "System.Collections.Generic.Dictionary<System.String, Shop.Cart+Line[]>",
            ),
        ] {
            let parsed = TypeText::parse(text).unwrap();
            assert_eq!(parsed.assembly.as_deref(), assembly, "{text}");
            assert_eq!(parsed.pattern(), pattern, "{text}");
        }
        for text in ["", "A[", "A[[B]", "A]", "A[B", "[A]", "A[],B]"] {
            assert!(TypeText::parse(text).is_err(), "{text}");
        }
    }
}
