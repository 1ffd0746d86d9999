//! What was found out about the tokens of a module.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use super::access::Access;
use super::store::lock;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::TypeKind;
use clr_profiler_il::token::{Token, TypeDef, TypeToken};

/// How many answers of a kind are kept: all methods of a large module refer to some ten thousand.
const LIMIT: usize = 8192;

/// What the metadata of a module say of its tokens: methods name the same ones again and again, and
/// each question is several calls of the runtime. `None` is an answer as well.
///
/// A token never comes to mean something else. What is added to the metadata has new ones.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) methods: Known<Token, Option<MethodSig>>,
    /// The types of fields.
    pub(super) fields: Known<Token, Option<TypeSig>>,
    pub(super) types: Known<Token, Option<TypeSig>>,
    /// The types that methods belong to.
    pub(super) owners: Known<Token, Option<TypeSig>>,
    pub(super) kinds: Known<TypeToken, Option<TypeKind>>,
    /// Whether they are value types.
    pub(super) values: Known<Token, Option<bool>>,
    pub(super) constructors: Known<Token, bool>,
    /// Who may use what they name.
    pub(super) access: Known<Token, Access>,
    /// Why no objects can be made with them.
    pub(super) made: Known<Token, Option<Arc<str>>>,
    /// The numbers of a type's parameters that stand for reference types alone.
    pub(super) references: Known<TypeDef, Arc<[u32]>>,
}

/// Answers of one kind.
pub(super) struct Known<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Known<K, V> {
    /// What is known, or what `ask` finds out.
    pub(super) fn get(&self, key: K, ask: impl FnOnce() -> V) -> V {
        if let Some(known) = lock(&self.0).get(&key) {
            return known.clone();
        }
        // Not under the lock: the runtime is asked, and other questions come up.
        let answer = ask();
        let mut known = lock(&self.0);
        if known.len() >= LIMIT {
            known.clear();
        }
        known.insert(key, answer.clone());
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_once_until_there_are_too_many() {
        let known: Known<usize, Option<usize>> = Known::default();
        let mut asked = 0;
        for key in (0..LIMIT).chain(0..LIMIT) {
            let answer = known.get(key, || {
                asked += 1;
                (key % 2 == 0).then_some(key)
            });
            assert_eq!(answer, (key % 2 == 0).then_some(key));
        }
        assert_eq!(asked, LIMIT);
        known.get(LIMIT, || None);
        assert_eq!(lock(&known.0).len(), 1);
    }
}
