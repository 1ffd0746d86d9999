//! Names as numbers.

use std::collections::HashMap;
use std::sync::Arc;

use crate::stacks::Stacks;

/// Gives each name a number, from 0.
#[derive(Debug, Clone)]
pub struct Names {
    numbers: HashMap<Arc<str>, u64>,
    names: Vec<Arc<str>>,
    limit: usize,
}

impl Names {
    /// The number of all names beyond the limit.
    pub const OTHERS: u64 = u64::MAX - 1;

    /// No names, with a limit. Those beyond it are all [`Self::OTHERS`].
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            numbers: HashMap::new(),
            names: Vec::new(),
            limit,
        }
    }

    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.names.len() >= self.limit {
            return Self::OTHERS;
        }
        let name: Arc<str> = name.into();
        let number = self.names.len() as u64;
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, number: u64) -> Arc<str> {
        let name = usize::try_from(number)
            .ok()
            .and_then(|number| self.names.get(number));
        match name {
            Some(name) => Arc::clone(name),
            None if number == Stacks::OTHERS => "(other callers)".into(),
            None => "(others)".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_limit_are_others() {
        let mut names = Names::with_limit(2);
        let numbers = ["a", "b", "a", "c", "d"].map(|name| names.number(name));
        assert_eq!(numbers, [0, 1, 0, Names::OTHERS, Names::OTHERS]);
        let named = numbers.map(|number| names.name(number));
        assert_eq!(
            named.each_ref().map(|name| &**name),
            ["a", "b", "a", "(others)", "(others)"]
        );
    }
}
