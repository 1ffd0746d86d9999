//! The code that has a name.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The limit for pieces of code, some 100 MB.
const LIMIT: usize = 500_000;

/// Code by its address. New code replaces all that was at its addresses.
#[derive(Default)]
pub(crate) struct Codes {
    by_start: BTreeMap<usize, (usize, Arc<str>)>,
    has_replaced: bool,
    named: u64,
}

impl Codes {
    /// Adds code; `false` if it is known.
    pub(crate) fn add(&mut self, start: usize, size: usize, name: &str) -> bool {
        let known = self.by_start.get(&start);
        let is_known =
            known.is_some_and(|(its_size, its_name)| *its_size == size && **its_name == *name);
        if size == 0 || is_known || self.by_start.len() >= LIMIT {
            return false;
        }
        let end = start.saturating_add(size);
        while let Some((old, (old_size, _))) = self.by_start.range(..end).next_back()
            && old.saturating_add(*old_size) > start
        {
            let old = *old;
            self.by_start.remove(&old);
            self.has_replaced = true;
        }
        self.by_start.insert(start, (size, name.into()));
        self.named += 1;
        true
    }

    /// How often code was added.
    pub(crate) fn named(&self) -> u64 {
        self.named
    }

    /// Whether code was replaced since the last call.
    pub(crate) fn take_replaced(&mut self) -> bool {
        std::mem::take(&mut self.has_replaced)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let all = self.by_start.iter();
        all.map(|(start, (size, name))| (*start, *size, &**name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_code_replaces_what_it_overlaps() {
        let mut codes = Codes::default();
        assert!(codes.add(0x100, 0x20, "a") && codes.add(0x120, 0x20, "b"));
        assert!(!codes.add(0x100, 0x20, "a") && !codes.add(0x300, 0, "c"));
        assert!(!codes.take_replaced());
        assert!(codes.add(0x118, 0x10, "d"));
        assert!(codes.take_replaced() && !codes.take_replaced());
        let all: Vec<_> = codes.iter().collect();
        assert_eq!(all, [(0x118, 0x10, "d")]);
        // The same method, compiled again at the address of another one.
        assert!(codes.add(0x118, 0x10, "a"));
        assert_eq!(codes.named(), 4);
    }
}
