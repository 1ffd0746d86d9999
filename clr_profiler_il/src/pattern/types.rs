//! Patterns for types, and the texts of types.

use std::convert::Infallible;

use super::glob::list_matches;
use super::path::{TypePath, parts};
use crate::signature::TypeSig;

/// The depth of generic arguments beyond which a text is not split further.
pub(super) const DEPTH: usize = 16;

/// An item of a list of parameters or generic arguments.
#[derive(Clone, Debug)]
pub(super) enum ListItem {
    /// `**`
    Any,
    Type(TypePattern),
}

/// A pattern for types.
#[derive(Clone, Debug, Default)]
pub(super) struct TypePattern {
    /// `None` for `*`, any type.
    pub(super) class: Option<TypePath>,
    /// `[]`, `&` and the like.
    pub(super) suffix: String,
}

/// The generic parameters of a method and its type whose arguments are known.
#[derive(Debug, Default)]
pub(super) struct Bindings(pub(super) Vec<(String, TypeText)>);

impl Bindings {
    fn get(&self, text: &TypeText) -> Option<TypeText> {
        let (_, argument) = self.0.iter().find(|(name, _)| *name == text.name)?;
        let mut argument = argument.clone();
        argument.suffix.push_str(&text.suffix);
        text.arguments.is_empty().then_some(argument)
    }
}

impl TypePattern {
    /// Whether it is `*`.
    pub(super) fn is_any(&self) -> bool {
        self.class.is_none() && self.suffix.is_empty()
    }

    pub(super) fn matches(&self, text: &TypeText, bound: &Bindings) -> bool {
        self.matches_itself(text, bound)
            || bound
                .get(text)
                .is_some_and(|argument| self.matches_itself(&argument, &Bindings::default()))
    }

    fn matches_itself(&self, text: &TypeText, bound: &Bindings) -> bool {
        let Some(class) = &self.class else {
            return text.suffix.ends_with(&self.suffix);
        };
        self.suffix == text.suffix
            && class.names(&parts(&text.name), true)
            && class
                .arguments
                .as_ref()
                .is_none_or(|items| types_match(items, &text.arguments, bound))
    }

    /// As `matches`, for the type of an attribute.
    pub(super) fn matches_attribute(&self, text: &TypeText) -> bool {
        let bound = Bindings::default();
        let short = || {
            let name = text.name.strip_suffix("Attribute")?.to_owned();
            Some(TypeText {
                name,
                ..text.clone()
            })
        };
        self.matches(text, &bound) || short().is_some_and(|text| self.matches(&text, &bound))
    }
}

/// Whether a list matches types.
pub(super) fn types_match(items: &[ListItem], types: &[TypeText], bound: &Bindings) -> bool {
    let matched = list_matches::<_, _, Infallible>(
        items,
        types,
        |item| matches!(item, ListItem::Any),
        |_| true,
        |item, index| {
            Ok(match (item, types.get(index)) {
                (ListItem::Type(item), Some(text)) => item.matches(text, bound),
                _ => false,
            })
        },
    );
    matched == Ok(true)
}

/// The text of a type, split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeText {
    /// Without generic arguments; that of a keyword is the full name.
    pub(super) name: String,
    /// Those of enclosing types first.
    pub(super) arguments: Vec<TypeText>,
    pub(super) suffix: String,
}

impl TypeText {
    pub(super) fn new(text: &str) -> Self {
        Self::at_depth(text.trim(), 0)
    }

    fn at_depth(text: &str, depth: usize) -> Self {
        let mut split = Self::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_start = split.name.is_empty() || split.name.ends_with(['.', '+']);
            let length = match first {
                '<' => {
                    let Some((inside, after)) = bracketed(rest, '<', '>') else {
                        // Not the text of a type: kept as it is.
                        split.name.push_str(rest);
                        break;
                    };
                    if !is_start && depth < DEPTH {
                        let arguments = split_list(inside);
                        let arguments = arguments.map(|text| Self::at_depth(text, depth + 1));
                        split.arguments.extend(arguments);
                        rest = after;
                        continue;
                    }
                    rest.len() - after.len()
                }
                '[' | '&' | '*' | ' ' => break,
                other => other.len_utf8(),
            };
            let (name, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            split.name.push_str(name);
            rest = after;
        }
        split.suffix = suffix(rest);
        if let Some(class) = TypeSig::class_of_keyword(&split.name) {
            class.clone_into(&mut split.name);
        }
        split
    }
}

/// The text between a bracket at the start and the one that closes it, and the text after it.
fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, found) in text.char_indices() {
        if found == open {
            depth += 1;
        } else if found == close {
            depth -= 1;
            if depth == 0 {
                return Some((
                    text.get(open.len_utf8()..at)?,
                    text.get(at + close.len_utf8()..)?,
                ));
            }
        }
    }
    None
}

/// The items between commas that are not in brackets.
fn split_list(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |found| {
        match found {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth -= 1,
            _ => {}
        }
        found == ',' && depth == 0
    })
    .map(str::trim)
}

/// Without modifiers and white space.
fn suffix(text: &str) -> String {
    let mut suffix = String::new();
    let mut rest = text;
    while let Some(found) = rest.chars().next() {
        let modifier = [" modreq", " modopt"]
            .iter()
            .find_map(|word| bracketed(rest.strip_prefix(word)?, '(', ')'));
        rest = match modifier {
            Some((_, after)) => after,
            None => {
                if !found.is_whitespace() {
                    suffix.push(found);
                }
                rest.get(found.len_utf8()..).unwrap_or("")
            }
        };
    }
    suffix
}
