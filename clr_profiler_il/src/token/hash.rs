//! A fast hash for tokens and ids.

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes tokens, and ids of the runtime, for maps of them.
///
/// ```
/// use std::collections::HashMap;
///
/// use clr_profiler_il::token::{HashTokens, MethodDef};
///
/// let mut calls: HashMap<MethodDef, u64, HashTokens> = HashMap::default();
/// *calls.entry(MethodDef::NIL).or_default() += 1;
/// assert_eq!(calls[&MethodDef::NIL], 1);
/// ```
pub type HashTokens = BuildHasherDefault<TokenHasher>;

/// A non-cryptographic hash, faster than the standard one. Not for texts or blobs, which a program can
/// choose so that their hashes collide.
///
/// Of the tokens of a module, which have about 26 bits, only a few hundred fall into one bucket of a
/// large map, even if metadata was made so that they do.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenHasher(u64);

impl TokenHasher {
    /// Odd, so that multiplying by it loses nothing; its bits are those of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    #[inline]
    const fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(Self::FACTOR);
    }
}

impl Hasher for TokenHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // Maps use the lowest and the highest bits; a product has its entropy in the upper half.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.add(u64::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.add(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hash};

    use super::*;
    use crate::token::{Token, TokenTable};

    fn hash(value: impl Hash) -> u64 {
        HashTokens::default().hash_one(value)
    }

    #[test]
    fn tokens_of_a_module_fall_into_different_buckets() {
        let tables = [
            TokenTable::TYPE_REF,
            TokenTable::METHOD_DEF,
            TokenTable::MEMBER_REF,
        ];
        let tokens = tables
            .into_iter()
            .flat_map(|table| (1..=4096).map(move |row| Token::from_row(table, row).unwrap()));
        let hashes: Vec<u64> = tokens.map(hash).collect();
        let whole: HashSet<_> = hashes.iter().collect();
        assert_eq!(whole.len(), hashes.len());
        // Of 16,384 buckets for 12,288 tokens, random numbers would fill 8,645.
        let buckets: HashSet<_> = hashes.iter().map(|hash| hash % 16_384).collect();
        assert!(buckets.len() > 8000, "{}", buckets.len());
        // The bits that a map compares before the keys.
        let tags: HashSet<_> = hashes.iter().map(|hash| hash >> 57).collect();
        assert_eq!(tags.len(), 128);
    }

    #[test]
    fn rows_that_differ_in_their_upper_bits_alone_do_not_collide() {
        let far = (1..=1000).map(|row| hash(row << 14 & 0xff_ffff_u32) % 4096);
        let buckets: HashSet<_> = far.collect();
        assert!(buckets.len() > 600, "{}", buckets.len());
    }
}
