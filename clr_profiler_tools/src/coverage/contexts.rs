//! The file with the hits of each context, such as a test, in one process.
//!
//! ```text
//! offset  size
//!      0     8  CLRTESTS
//!      8     4  the version of this format
//!     12     4  the state: 0, 1 if two contexts were active at the same time, 2 if a record could not be written
//!     16        the records: one for each change of the context
//! ```
//!
//! A record is its length (4), that of a name (4), the name of the context that begins, which is empty outside of all, and for
//! each file of hits with hits since the change before: the number in the file's name (4), the number of its probes that were hit
//! (4), and these probes (4 each). Numbers are little-endian.

use std::mem;

use super::hits::Hits;

const MAGIC: &[u8; 8] = b"CLRTESTS";
const VERSION: u32 = 1;
const HEADER: usize = 16;

/// Whether the contexts of a process can be told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextsState {
    /// They can.
    #[default]
    Separate,
    /// Two of them were active at the same time.
    Parallel,
    /// A record could not be written.
    Incomplete,
}

/// The hits of contexts, in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    /// Whether they can be told apart.
    pub state: ContextsState,
    /// Name and hits of each.
    pub ended: Vec<(String, ContextHits)>,
    /// The name of the context that has not ended; empty outside of all.
    pub active: String,
}

/// The probes that were hit, by the number in the name of the file of hits.
pub type ContextHits = Vec<(u32, Vec<u32>)>;

impl Contexts {
    /// The offset of the state in the file.
    pub const STATE: u64 = 12;

    /// The bytes before the records.
    #[must_use]
    pub fn header() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(ContextsState::Separate.to_bytes());
        bytes
    }

    /// A record: the context with this name begins, and these are the hits of the one before.
    #[must_use]
    pub fn record(begins: &str, hits: &[(u32, Vec<u32>)]) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        let mut number = |number: usize| bytes.extend((number as u32).to_le_bytes());
        number(begins.len());
        bytes.extend(begins.as_bytes());
        for (file, probes) in hits {
            for number in [*file, probes.len() as u32].iter().chain(probes) {
                bytes.extend(number.to_le_bytes());
            }
        }
        let length = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// Reads the bytes of a file. A record that is truncated, because its process was killed, is left out.
    ///
    /// # Errors
    ///
    /// That it is no such file.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.get(..8) != Some(MAGIC) || bytes.len() < HEADER {
            return Err("it is no file of contexts");
        }
        let mut rest = &bytes[8..];
        if number(&mut rest) != Some(VERSION) {
            return Err("it is of another version of this command");
        }
        let state = number(&mut rest).map_or(ContextsState::Incomplete, ContextsState::of);
        let mut contexts = Self {
            state,
            ..Self::default()
        };
        while let Some((begins, hits)) = record(&mut rest) {
            let ended = mem::replace(&mut contexts.active, begins);
            contexts.ended.push((ended, hits));
        }
        Ok(contexts)
    }

    /// Adds the hits of these contexts to those of a file of hits with this number, which has those of the active one alone.
    pub fn add_to(&self, hits: &mut Hits, file: u32) {
        let active = (0..).zip(&hits.probes);
        let active = active
            .filter(|(_, hits)| **hits > 0)
            .map(|(probe, _)| probe);
        let active: Vec<u32> = active.collect();
        let mut all: Vec<(String, Vec<u32>)> = Vec::new();
        for (name, of) in &self.ended {
            let of_file = of.iter().filter(|(number, _)| *number == file);
            all.extend(of_file.map(|(_, probes)| (name.clone(), probes.clone())));
        }
        for probe in all.iter().flat_map(|(_, probes)| probes) {
            if let Some(value) = hits.probes.get_mut(*probe as usize) {
                *value = 1;
            }
        }
        if self.state == ContextsState::Separate {
            all.push((self.active.clone(), active));
            hits.contexts = all;
        }
    }
}

impl ContextsState {
    /// Its bytes in the file.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 4] {
        (self as u32).to_le_bytes()
    }

    fn of(number: u32) -> Self {
        match number {
            0 => Self::Separate,
            1 => Self::Parallel,
            _ => Self::Incomplete,
        }
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*bytes))
}

fn take<'a>(rest: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(length as usize)?;
    *rest = after;
    Some(bytes)
}

fn record(rest: &mut &[u8]) -> Option<(String, ContextHits)> {
    let length = number(rest)?;
    let mut bytes = take(rest, length)?;
    let length = number(&mut bytes)?;
    let name = String::from_utf8_lossy(take(&mut bytes, length)?).into_owned();
    let mut hits = Vec::new();
    while let Some(file) = number(&mut bytes) {
        let count = number(&mut bytes)?;
        let probes = take(&mut bytes, count.checked_mul(4)?)?;
        let probes = probes.chunks_exact(4).filter_map(|word| word.first_chunk());
        hits.push((file, probes.map(|word| u32::from_le_bytes(*word)).collect()));
    }
    Some((name, hits))
}

#[cfg(test)]
mod tests {
    use clr_metadata::token::MethodDef;

    use super::*;
    use crate::coverage::{MethodHits, ProbeKind};

    fn file() -> Vec<u8> {
        let mut bytes = Contexts::header();
        bytes.extend(Contexts::record("Adds", &[(3, vec![0])]));
        bytes.extend(Contexts::record("", &[(3, vec![1, 2]), (4, vec![9])]));
        bytes.extend(Contexts::record("Sells", &[]));
        bytes
    }

    fn hits() -> Hits {
        let method = |row, first, count| MethodHits {
            method: MethodDef::from_row(row).unwrap(),
            is_refused: false,
            first,
            count,
        };
        Hits {
            kind: ProbeKind::Hit,
            mvid: [0; 16],
            process: 1,
            path: "Shop.dll".into(),
            methods: vec![method(1, 0, 2), method(2, 2, 3)],
            probes: vec![0, 0, 0, 1, 0],
            contexts: Vec::new(),
        }
    }

    #[test]
    fn a_change_of_context_has_the_hits_of_the_one_that_ends() {
        let contexts = Contexts::parse(&file()).unwrap();
        assert_eq!(contexts.active, "Sells");
        let mut hits = hits();
        contexts.add_to(&mut hits, 3);
        assert_eq!(hits.probes, [1, 1, 1, 1, 0]);
        let expected = [("", &[0][..]), ("Adds", &[1, 2][..]), ("Sells", &[3][..])];
        let found: Vec<(&str, &[u32])> = hits.contexts.iter().map(|(n, p)| (&**n, &**p)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_hits_of_parallel_contexts_are_those_of_one() {
        let mut bytes = file();
        bytes[12..16].copy_from_slice(&ContextsState::Parallel.to_bytes());
        let contexts = Contexts::parse(&bytes).unwrap();
        assert_eq!(contexts.state, ContextsState::Parallel);
        let mut hits = hits();
        contexts.add_to(&mut hits, 3);
        assert_eq!(hits.probes[..2], [1, 1]);
        assert_eq!(hits.contexts, []);
    }

    #[test]
    fn truncated_records_are_left_out() {
        let bytes = file();
        let all = Contexts::parse(&bytes).unwrap();
        for length in HEADER..bytes.len() {
            let contexts = Contexts::parse(&bytes[..length]).unwrap();
            let known = contexts.ended.len();
            assert!(known < 3, "{length}");
            assert_eq!(contexts.ended, all.ended[..known]);
        }
        for length in 0..HEADER {
            assert!(Contexts::parse(&bytes[..length]).is_err(), "{length}");
        }
    }
}
