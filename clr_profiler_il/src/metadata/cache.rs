use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::signature::{MethodSig, TypeSig};
use crate::symbol::TypeKind;
use crate::token::{Token, TypeToken};

/// The maximum number of entries of a cache: all methods of a large module refer to some ten
/// thousand tokens.
const LIMIT: usize = 8192;

/// The resolved tokens of a module, shared by all of its methods, which refer to the same tokens
/// again and again. `None` is cached as well.
///
/// The meaning of a token never changes: additions to the metadata have new tokens.
#[derive(Debug, Default)]
pub struct ResolutionCache {
    pub(super) methods: Cache<Token, Option<MethodSig>>,
    /// The types of fields.
    pub(super) fields: Cache<Token, Option<TypeSig>>,
    pub(super) types: Cache<Token, Option<TypeSig>>,
    /// The types that declare methods.
    pub(super) owners: Cache<Token, Option<TypeSig>>,
    pub(super) kinds: Cache<TypeToken, Option<TypeKind>>,
    /// Whether types are value types.
    pub(super) values: Cache<Token, Option<bool>>,
    pub(super) constructors: Cache<Token, bool>,
}

/// A cache that any thread can use. It holds several thousand entries.
pub struct Cache<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Cache<K, V> {
    /// The entries. Each change is a single step, so a panic leaves them consistent.
    fn kept(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Cache<K, V> {
    /// The cached value, or that of `ask`.
    pub fn get(&self, key: K, ask: impl FnOnce() -> V) -> V {
        let known = self.known(key);
        // Not under the lock: `ask` may use the cache.
        known.unwrap_or_else(|| self.keep(key, ask()))
    }

    /// The cached value, or that of `ask`. `None` is not cached, because it may change.
    pub fn find(&self, key: K, ask: impl FnOnce() -> Option<V>) -> Option<V> {
        let known = self.known(key);
        known.or_else(|| Some(self.keep(key, ask()?)))
    }

    fn known(&self, key: K) -> Option<V> {
        self.kept().get(&key).cloned()
    }

    fn keep(&self, key: K, answer: V) -> V {
        let mut known = self.kept();
        if known.len() >= LIMIT {
            known.clear();
        }
        known.insert(key, answer.clone());
        answer
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache({})", self.kept().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_once_until_there_are_too_many() {
        let known: Cache<usize, Option<usize>> = Cache::default();
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
        assert_eq!(known.kept().len(), 1);
    }

    #[test]
    fn nothing_is_no_answer_to_be_kept() {
        let known: Cache<u8, u8> = Cache::default();
        assert_eq!(known.find(1, || None), None);
        assert_eq!(known.find(1, || Some(7)), Some(7));
        assert_eq!(known.find(1, || None), Some(7));
    }
}
