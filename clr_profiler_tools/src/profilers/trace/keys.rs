//! The methods by the numbers of their spans. Those of the same name have one number.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{LazyLock, Mutex};

use clr_profiler::il::token::MethodDef;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteContext;

use crate::report::lock;

type Key = (ModuleId, MethodDef);

static ALL: LazyLock<Mutex<Methods<Key>>> = LazyLock::new(Mutex::default);

#[derive(Debug)]
struct Methods<K> {
    by_number: HashMap<u32, Vec<K>>,
    /// Those whose IL is the one that was asked for last: that of others cannot be changed while they may run in a loop.
    renewed: HashSet<K>,
}

impl<K> Default for Methods<K> {
    fn default() -> Self {
        Self {
            by_number: HashMap::new(),
            renewed: HashSet::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Methods<K> {
    fn add(&mut self, number: u32, key: K) {
        let known = self.by_number.entry(number).or_default();
        if !known.contains(&key) {
            known.push(key);
        }
    }

    fn of(&self, numbers: &[u32]) -> Vec<K> {
        let found = numbers.iter().filter_map(|at| self.by_number.get(at));
        found.flatten().copied().collect()
    }

    fn renewed_of(&self, numbers: &[u32]) -> Vec<K> {
        let mut found = self.of(numbers);
        found.retain(|key| self.renewed.contains(key));
        found
    }

    fn renew(&mut self, asked: &[K], renewed: Vec<K>) {
        for key in asked {
            self.renewed.remove(key);
        }
        self.renewed.extend(renewed);
    }

    fn keep(&mut self, is_kept: impl Fn(&K) -> bool) {
        for keys in self.by_number.values_mut() {
            keys.retain(&is_kept);
        }
        self.renewed.retain(is_kept);
    }
}

/// A method has this number.
pub(super) fn add(number: u32, cx: &RewriteContext<'_>) {
    lock(&ALL).add(number, (cx.module(), cx.token()));
}

/// The methods with these numbers.
pub(super) fn of(numbers: &[u32]) -> Vec<Key> {
    lock(&ALL).of(numbers)
}

/// Those of them that have the IL that was asked for last.
pub(super) fn renewed_of(numbers: &[u32]) -> Vec<Key> {
    lock(&ALL).renewed_of(numbers)
}

/// The methods were asked to have the IL of their rules, and some have it.
pub(super) fn renew(asked: &[Key], renewed: Vec<Key>) {
    lock(&ALL).renew(asked, renewed);
}

/// The methods of a module are about to be unloaded.
pub(super) fn forget(module: ModuleId) {
    lock(&ALL).keep(|key| key.0 != module);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_without_the_il_that_was_asked_for_are_told_apart() {
        let mut methods = Methods::default();
        let all = ["one", "other"];
        for key in all.into_iter().chain(all) {
            methods.add(7, key);
        }
        assert_eq!(
            (methods.of(&[6, 7]), methods.renewed_of(&[7])),
            (all.to_vec(), vec![])
        );
        methods.renew(&all, all.to_vec());
        assert_eq!(methods.renewed_of(&[7]), all);
        // The other one may run in a loop.
        methods.renew(&all, vec!["one"]);
        assert_eq!(methods.renewed_of(&[7]), ["one"]);
        methods.keep(|key| *key != "one");
        assert_eq!(
            (methods.of(&[7]), methods.renewed_of(&[7])),
            (vec!["other"], vec![])
        );
    }
}
