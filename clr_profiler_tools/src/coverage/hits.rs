//! The file with the hits of one module in one process.
//!
//! ```text
//! offset  size
//!      0     8  CLRCOVER
//!      8     4  the version of this format
//!     12     4  the size of a probe: 1, or 4 with counts
//!     16    16  the id of the build of the module (MVID)
//!     32     4  the process
//!     36     4  the number of methods, M
//!     40     4  the number of probes
//!     44     4  the offset of the states, D: a multiple of the size of a page
//!     48     4  the length of the path, P
//!     52     P  the path of the module
//!   52+P  12*M  for each method: its token, its first probe, the number of its probes
//!      D     M  for each method: 0 if it is covered, 1 if it was refused
//!             from the next multiple of 64 on: the probes
//! ```
//!
//! Numbers are little-endian. The program stores into the probes through a mapping of the file, so it is complete at any
//! moment, however the program ends.

use std::path::{Path, PathBuf};

use clr_metadata::token::{MethodDef, Token};

const MAGIC: &[u8; 8] = b"CLRCOVER";
const VERSION: u32 = 1;
const HEADER: usize = 52;
const ROW: usize = 12;
/// The largest page of the systems that .NET runs on.
const PAGE: usize = 0x1_0000;

/// The probes of a method in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodProbes {
    /// The method.
    pub method: MethodDef,
    /// The number of its first probe.
    pub first: u32,
    /// The number of its probes.
    pub count: u32,
}

/// The value that a probe writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeKind {
    /// A byte that is 1 once it was hit.
    #[default]
    Hit,
    /// A count of 32 bits, of which threads that run at once may lose some.
    Count,
}

impl ProbeKind {
    /// The size in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Hit => 1,
            Self::Count => 4,
        }
    }
}

/// The parts of a file of hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitsLayout {
    /// The kind of its probes.
    pub kind: ProbeKind,
    /// The id of the build of the module.
    pub mvid: [u8; 16],
    /// The process.
    pub process: u32,
    /// The module.
    pub path: PathBuf,
    /// Its methods. Their probes follow each other.
    pub methods: Vec<MethodProbes>,
}

impl HitsLayout {
    /// The number of probes.
    #[must_use]
    pub fn probes(&self) -> u32 {
        let last = self.methods.last();
        last.map_or(0, |last| last.first + last.count)
    }

    /// The bytes before the states.
    #[must_use]
    pub fn header(&self) -> Vec<u8> {
        let path = self.path.to_string_lossy();
        let mut bytes = MAGIC.to_vec();
        let mut number = |number: u32| bytes.extend(number.to_le_bytes());
        number(VERSION);
        number(self.kind.size() as u32);
        bytes.extend(self.mvid);
        for number in [
            self.process,
            self.methods.len() as u32,
            self.probes(),
            self.states_offset() as u32,
            path.len() as u32,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(path.as_bytes());
        for one in &self.methods {
            for number in [one.method.raw(), one.first, one.count] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes
    }

    /// The offset of the states of methods.
    #[must_use]
    pub fn states_offset(&self) -> usize {
        let path = self.path.to_string_lossy().len();
        (HEADER + path + ROW * self.methods.len()).next_multiple_of(PAGE)
    }

    /// The offset of the first probe.
    #[must_use]
    pub fn probes_offset(&self) -> usize {
        (self.states_offset() + self.methods.len()).next_multiple_of(64)
    }

    /// The length of the file.
    #[must_use]
    pub fn length(&self) -> usize {
        self.probes_offset() + self.probes() as usize * self.kind.size()
    }
}

/// The hits of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodHits {
    /// The method.
    pub method: MethodDef,
    /// Whether it could not be given probes.
    pub is_refused: bool,
    /// How often each probe was hit; 1 for any number unless counts were asked for.
    pub hits: Vec<u32>,
}

/// The hits of one module in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits {
    /// The kind of its probes.
    pub kind: ProbeKind,
    /// The id of the build of the module.
    pub mvid: [u8; 16],
    /// The process.
    pub process: u32,
    /// The module.
    pub path: PathBuf,
    /// The methods.
    pub methods: Vec<MethodHits>,
    /// The probes that each context has hit, such as a test; empty unless contexts were told apart.
    pub contexts: Vec<(String, Vec<u32>)>,
}

impl Hits {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// That it is no such file, or is truncated.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.get(..8) != Some(MAGIC) {
            return Err("it is no file of hits");
        }
        let number = |at: usize| {
            let bytes = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        if number(8) != Some(VERSION) {
            return Err("it is of another version of this command");
        }
        Self::parse_known(bytes, &number).ok_or("it is truncated")
    }

    fn parse_known(bytes: &[u8], number: &impl Fn(usize) -> Option<u32>) -> Option<Self> {
        let kind = match number(12)? {
            4 => ProbeKind::Count,
            _ => ProbeKind::Hit,
        };
        let mvid = *bytes.get(16..32)?.first_chunk()?;
        let (process, count) = (number(32)?, number(36)? as usize);
        let (states, path) = (number(44)? as usize, number(48)? as usize);
        let path = bytes.get(HEADER..HEADER.checked_add(path)?)?;
        let rows = HEADER + path.len();
        let probes = (states.checked_add(count)?).next_multiple_of(64);
        let probes = bytes.get(probes..)?;
        let mut methods = Vec::new();
        for index in 0..count {
            let row = rows + index * ROW;
            let token = MethodDef::try_from(Token::new(number(row)?)).ok()?;
            let (first, count) = (number(row + 4)? as usize, number(row + 8)? as usize);
            let start = first.checked_mul(kind.size())?;
            let end = start.checked_add(count.checked_mul(kind.size())?)?;
            let own = probes.get(start..end)?;
            let hits = match kind {
                ProbeKind::Hit => own.iter().map(|byte| u32::from(*byte)).collect(),
                ProbeKind::Count => {
                    let words = own.chunks_exact(4).filter_map(|word| word.first_chunk());
                    words.map(|word| u32::from_le_bytes(*word)).collect()
                }
            };
            methods.push(MethodHits {
                method: token,
                is_refused: *bytes.get(states + index)? != 0,
                hits,
            });
        }
        Some(Self {
            kind,
            mvid,
            process,
            path: Path::new(&*String::from_utf8_lossy(path)).to_owned(),
            methods,
            contexts: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(kind: ProbeKind) -> HitsLayout {
        let method = |row, first, count| MethodProbes {
            method: MethodDef::from_row(row).unwrap(),
            first,
            count,
        };
        HitsLayout {
            kind,
            mvid: [7; 16],
            process: 4711,
            path: "/shop/Shop.dll".into(),
            methods: vec![method(1, 0, 2), method(4, 2, 0), method(5, 2, 3)],
        }
    }

    #[test]
    fn a_file_has_the_hits_of_its_methods() {
        for kind in [ProbeKind::Hit, ProbeKind::Count] {
            let layout = layout(kind);
            let mut bytes = layout.header();
            assert!(bytes.len() <= layout.states_offset());
            bytes.resize(layout.length(), 0);
            bytes[layout.states_offset() + 1] = 1;
            for probe in [1, 4] {
                bytes[layout.probes_offset() + probe * kind.size()] = 1;
            }
            let hits = Hits::parse(&bytes).unwrap();
            assert_eq!((hits.process, hits.mvid), (4711, [7; 16]));
            assert_eq!(hits.path, layout.path);
            let of = |index: usize| (hits.methods[index].is_refused, &*hits.methods[index].hits);
            assert_eq!(of(0), (false, &[0, 1][..]));
            assert_eq!(of(1), (true, &[][..]));
            assert_eq!(of(2), (false, &[0, 0, 1][..]));
            for length in 0..bytes.len() {
                assert!(Hits::parse(&bytes[..length]).is_err(), "{length}");
            }
        }
        assert!(
            Hits::parse(b"CLRCOVER\x02\0\0\0")
                .unwrap_err()
                .contains("version")
        );
        assert!(Hits::parse(b"lcov").unwrap_err().contains("no file"));
    }
}
