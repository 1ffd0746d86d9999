use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::signature::TypeSig;
use crate::symbol::{ResolvedField, ResolvedMethod, TypeKind};
use crate::token::{HashTokens, Token, TypeToken};

/// The maximum number of entries of a cache: all methods of a large module refer to some ten
/// thousand tokens.
const LIMIT: usize = 8192;

/// The resolved tokens of a module, shared by all of its methods, which refer to the same tokens
/// again and again. `None` is cached as well.
///
/// The meaning of a token never changes: additions to the metadata have new tokens.
#[derive(Debug, Default)]
pub struct ResolutionCache {
    pub(super) methods: Cache<Token, Option<Arc<ResolvedMethod>>>,
    pub(super) fields: Cache<Token, Option<Arc<ResolvedField>>>,
    pub(super) types: Cache<Token, Option<TypeSig>>,
    /// The types that declare members whose signatures are not known.
    pub(super) owners: Cache<Token, Option<TypeSig>>,
    pub(super) kinds: Cache<TypeToken, Option<TypeKind>>,
    /// Whether types are value types.
    pub(super) values: Cache<Token, Option<bool>>,
    pub(super) constructors: Cache<Token, bool>,
}

impl ResolutionCache {
    /// The bytes of the entries.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.methods.held_bytes()
            + self.fields.held_bytes()
            + self.types.held_bytes()
            + self.owners.held_bytes()
            + self.kinds.held_bytes()
            + self.values.held_bytes()
            + self.constructors.held_bytes()
    }
}

/// A cache that any thread can use. It holds several thousand entries. Its keys are tokens.
pub struct Cache<K, V>(Mutex<HashMap<K, V, HashTokens>>);

impl<K, V> Cache<K, V> {
    /// The entries. Each change is a single step, so a panic leaves them consistent.
    fn kept(&self) -> MutexGuard<'_, HashMap<K, V, HashTokens>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of the entries, without the values to which they refer.
    pub fn held_bytes(&self) -> usize {
        self.kept().capacity() * size_of::<(K, V)>()
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
