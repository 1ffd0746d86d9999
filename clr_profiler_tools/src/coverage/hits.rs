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
//!     40     4  the number of probes for which there is space
//!     44     4  the length of the path, P
//!     48     P  the path of the module
//!             from the next multiple of 4 on, for each method:
//!         12*M  its token, its first probe, the number of its probes
//!            M  its state: 0 without probes, 1 if it was refused, 2 with probes
//!             from the next multiple of 64 on: the probes
//! ```
//!
//! Numbers are little-endian. A method gets its probes when its body is first set: which it has not, its code has not run. The
//! program stores into the probes through a mapping of the file, so it is complete at any moment, however the program ends.

use std::path::{Path, PathBuf};

use clr_metadata::token::{MethodDef, Token};

const MAGIC: &[u8; 8] = b"CLRCOVER";
const VERSION: u32 = 3;
const HEADER: usize = 48;

/// The size of the row of a method, and the offset of its first probe in that.
pub(crate) const ROW: usize = 12;
const FIRST: usize = 4;

/// The state of a method that could not be given probes, and of one that has them.
pub(crate) const REFUSED: u8 = 1;
pub(crate) const GIVEN: u8 = 2;

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
    /// Its methods.
    pub methods: Vec<MethodDef>,
    /// The number of probes for which there is space.
    pub capacity: u32,
}

impl HitsLayout {
    /// The bytes before the states. No method has probes.
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
            self.capacity,
            path.len() as u32,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(path.as_bytes());
        bytes.resize(rows_offset(path.len()), 0);
        for method in &self.methods {
            for number in [method.raw(), 0, 0] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes
    }

    /// The offset of the number of the first probe of a method, which the number of its probes follows.
    #[must_use]
    pub fn row_offset(&self, method: usize) -> usize {
        rows_offset(self.path.to_string_lossy().len()) + method * ROW + FIRST
    }

    /// The offset of the states of methods.
    #[must_use]
    pub fn states_offset(&self) -> usize {
        rows_offset(self.path.to_string_lossy().len()) + ROW * self.methods.len()
    }

    /// The offset of the first probe.
    #[must_use]
    pub fn probes_offset(&self) -> usize {
        probes_offset(self.states_offset() + self.methods.len())
    }

    /// The length of the file.
    #[must_use]
    pub fn length(&self) -> usize {
        self.probes_offset() + self.capacity as usize * self.kind.size()
    }
}

/// The offset of the rows of methods after a path of this length.
fn rows_offset(path: usize) -> usize {
    (HEADER + path).next_multiple_of(4)
}

/// The offset of the probes after states that end here.
fn probes_offset(states: usize) -> usize {
    states.next_multiple_of(64)
}

/// A method of a file of hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodHits {
    /// The method.
    pub method: MethodDef,
    /// Whether it could not be given probes.
    pub is_refused: bool,
    /// The number of its first probe.
    pub first: u32,
    /// The number of its probes: 0 if none of its code has run.
    pub count: u32,
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
    /// How often each probe was hit; 1 for any number unless counts were asked for.
    pub probes: Vec<u32>,
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
        let (capacity, path) = (number(40)?, number(44)? as usize);
        let path = bytes.get(HEADER..HEADER.checked_add(path)?)?;
        let rows = rows_offset(path.len());
        let states = rows.checked_add(count.checked_mul(ROW)?)?;
        let start = probes_offset(states.checked_add(count)?);
        let size = (capacity as usize).checked_mul(kind.size())?;
        let stored = bytes.get(start..start.checked_add(size)?)?;
        let mut methods = Vec::new();
        let mut used = 0;
        for index in 0..count {
            let row = rows + index * ROW;
            let mut one = MethodHits {
                method: MethodDef::try_from(Token::new(number(row)?)).ok()?,
                is_refused: false,
                first: 0,
                count: 0,
            };
            match *bytes.get(states + index)? {
                REFUSED => one.is_refused = true,
                GIVEN => {
                    (one.first, one.count) = (number(row + FIRST)?, number(row + FIRST + 4)?);
                    let end = one.first.checked_add(one.count)?;
                    used = used.max(end);
                }
                _ => {}
            }
            methods.push(one);
        }
        let stored = stored.get(..(used as usize).checked_mul(kind.size())?)?;
        let probes = match kind {
            ProbeKind::Hit => stored.iter().map(|byte| u32::from(*byte)).collect(),
            ProbeKind::Count => {
                let words = stored.chunks_exact(4).filter_map(|word| word.first_chunk());
                words.map(|word| u32::from_le_bytes(*word)).collect()
            }
        };
        Some(Self {
            kind,
            mvid,
            process,
            path: Path::new(&*String::from_utf8_lossy(path)).to_owned(),
            methods,
            probes,
            contexts: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a file with three methods: one with two probes of which the second was hit, one that was refused, and one that
    /// got three probes before the first, of which the last was hit. A fourth has none.
    fn file(kind: ProbeKind) -> (HitsLayout, Vec<u8>) {
        let methods = [1, 4, 5, 8];
        let layout = HitsLayout {
            kind,
            mvid: [7; 16],
            process: 4711,
            path: "/shop/Shop.dll".into(),
            methods: methods.map(|row| MethodDef::from_row(row).unwrap()).into(),
            capacity: 7,
        };
        let mut bytes = layout.header();
        assert_eq!(bytes.len(), layout.states_offset());
        bytes.resize(layout.length(), 0);
        for (method, first, count) in [(0, 3_u32, 2_u32), (2, 0, 3)] {
            let row = layout.row_offset(method);
            bytes[row..row + 4].copy_from_slice(&first.to_le_bytes());
            bytes[row + 4..row + 8].copy_from_slice(&count.to_le_bytes());
            bytes[layout.states_offset() + method] = GIVEN;
        }
        bytes[layout.states_offset() + 1] = REFUSED;
        for probe in [2, 4] {
            bytes[layout.probes_offset() + probe * kind.size()] = 1;
        }
        (layout, bytes)
    }

    #[test]
    fn a_file_has_the_hits_of_its_methods() {
        for kind in [ProbeKind::Hit, ProbeKind::Count] {
            let (layout, bytes) = file(kind);
            let hits = Hits::parse(&bytes).unwrap();
            assert_eq!((hits.process, hits.mvid), (4711, [7; 16]));
            assert_eq!(hits.path, layout.path);
            let methods = hits.methods.iter();
            let methods: Vec<_> = methods
                .map(|of| (of.method.row(), of.is_refused, of.first, of.count))
                .collect();
            let expected = [
                (1, false, 3, 2),
                (4, true, 0, 0),
                (5, false, 0, 3),
                (8, false, 0, 0),
            ];
            assert_eq!(methods, expected);
            assert_eq!(hits.probes, [0, 0, 1, 0, 1]);
            for length in 0..bytes.len() {
                assert!(Hits::parse(&bytes[..length]).is_err(), "{length}");
            }
        }
        assert!(
            Hits::parse(b"CLRCOVER\x01\0\0\0")
                .unwrap_err()
                .contains("version")
        );
        assert!(Hits::parse(b"lcov").unwrap_err().contains("no file"));
    }

    #[test]
    fn a_row_with_more_probes_than_the_file_has_is_refused() {
        let (layout, mut bytes) = file(ProbeKind::Hit);
        let row = layout.row_offset(0);
        bytes[row] = 6;
        assert!(Hits::parse(&bytes).is_err());
        bytes[row..row + 8].fill(0xff);
        assert!(Hits::parse(&bytes).is_err());
    }
}
