//! The assemblies that a list of patterns names.

use std::collections::HashSet;

use super::MethodPattern;
use super::glob::Glob;

/// Which assemblies can have methods that match.
#[derive(Debug)]
pub(super) struct Assemblies {
    /// Whether there is a pattern without an assembly.
    has_unnamed: bool,
    /// The names without wildcards.
    names: HashSet<Box<str>>,
    others: Vec<Glob>,
}

impl Assemblies {
    pub(super) fn new<'p>(patterns: impl Iterator<Item = &'p MethodPattern>) -> Self {
        let mut assemblies = Self {
            has_unnamed: false,
            names: HashSet::new(),
            others: Vec::new(),
        };
        for pattern in patterns {
            match pattern.assembly.as_ref().map(|(_, name)| name) {
                None => assemblies.has_unnamed = true,
                Some(name) => match name.literal() {
                    // Most rules name few assemblies.
                    Some(literal) if assemblies.names.contains(literal) => {}
                    Some(literal) => {
                        assemblies.names.insert(literal.into());
                    }
                    None => assemblies.others.push(name.clone()),
                },
            }
        }
        assemblies
    }

    pub(super) fn has_unnamed(&self) -> bool {
        self.has_unnamed
    }

    /// Whether a pattern names this assembly.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.others.iter().any(|glob| glob.matches(name))
    }
}
