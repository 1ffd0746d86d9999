//! The mapped files of this process.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::query;
use crate::sampling::clock;
use clr_profiler_il::token::HashTokens;

/// The part of the time that reads of the list may take, a twentieth: one of 700 mappings takes a millisecond.
const PART: u32 = 20;

/// The bits of an address in its page.
const PAGE: u32 = 12;

/// A mapping.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_executable: bool,
    /// The file; empty for memory without one.
    pub(super) path: Arc<str>,
    /// Its name without the folder.
    pub(super) name: Arc<str>,
    /// The address of the file's beginning.
    pub(super) base: usize,
}

impl Mapping {
    /// Whether the code in it can be compiled at run time.
    pub(super) fn is_anonymous(&self) -> bool {
        let path = &*self.path;
        !path.starts_with('/') && path != "[vdso]" || path.starts_with("/memfd:")
    }
}

/// The mappings, ordered by address. They are read again when an address that was seen since is in none of them.
#[derive(Default)]
pub(super) struct Maps {
    all: Vec<Mapping>,
    read: Option<Instant>,
    /// The processor time that the last read took.
    took: Duration,
    /// Whether no address that is looked up can be newer than the list.
    is_current: bool,
    /// The pages whose addresses were looked up as code and are none.
    data: HashSet<usize, HashTokens>,
}

impl Maps {
    /// The mapping with this address.
    pub(super) fn at(&mut self, address: usize) -> Option<&Mapping> {
        if self.find(address).is_none() {
            self.refresh();
        }
        self.find(address).and_then(|index| self.all.get(index))
    }

    /// The executable mapping with this address. Once the list was read, it is read again only for one that `can_be_code`.
    pub(super) fn code_at(
        &mut self,
        address: usize,
        can_be_code: impl FnOnce() -> bool,
    ) -> Option<&Mapping> {
        // The first page is never mapped, and addresses of programs have at most 57 bits.
        if !(4096..1 << 57).contains(&address) {
            return None;
        }
        let page = address >> PAGE;
        // The runtime reserves memory, which becomes executable when code is written to it.
        if !self.is_code(address)
            && !self.data.contains(&page)
            && (self.all.is_empty() || can_be_code())
            && self.learn(address)
            && !self.is_code(address)
        {
            self.data.insert(page);
        }
        let index = self.find(address)?;
        self.all.get(index).filter(|mapping| mapping.is_executable)
    }

    fn is_code(&self, address: usize) -> bool {
        let mapping = self.find(address).and_then(|index| self.all.get(index));
        mapping.is_some_and(|mapping| mapping.is_executable)
    }

    /// The addresses at which the file of this mapping can begin as an image, in order: the first pages of its sections can be those of
    /// the file, too.
    pub(super) fn images(&self, mapping: &Mapping) -> Vec<usize> {
        const LARGEST: usize = 1 << 28;
        if mapping.is_anonymous() {
            return Vec::new();
        }
        let is_before = |other: &&Mapping| {
            let distance = mapping.start.checked_sub(other.start);
            distance.is_some_and(|distance| distance < LARGEST) && other.path == mapping.path
        };
        let starts = self.all.iter().filter(is_before).map(|other| other.start);
        starts.collect()
    }

    /// The mapping with this address, by a list that is read now.
    pub(super) fn at_now(&mut self, address: usize) -> Option<&Mapping> {
        self.expire();
        self.refresh();
        self.at(address)
    }

    /// The addresses that are looked up from now on can be newer than the list.
    pub(super) fn grow_old(&mut self) {
        self.is_current = false;
    }

    /// Has the list read again when an address is in none, whatever the time. Pages of data can have become code.
    pub(super) fn expire(&mut self) {
        self.is_current = false;
        self.read = None;
        self.data.clear();
    }

    fn find(&self, address: usize) -> Option<usize> {
        let after = self.all.partition_point(|mapping| mapping.start <= address);
        let index = after.checked_sub(1)?;
        self.all
            .get(index)
            .filter(|it| address < it.end)
            .map(|_| index)
    }

    /// Learns about the mapping at an address; whether the list was read again for that. Of a new file, the list has the address of its
    /// beginning.
    fn learn(&mut self, address: usize) -> bool {
        if self.all.is_empty() {
            return self.refresh();
        }
        match query::mapping_at(address) {
            Ok(None) => false,
            Ok(Some(answer)) => {
                let path = Arc::<str>::from(answer.name);
                let mapping = Mapping {
                    start: answer.start,
                    end: answer.end,
                    is_executable: answer.is_executable,
                    name: name_of(&path),
                    base: answer.start,
                    path,
                };
                if !mapping.is_anonymous() {
                    return self.refresh();
                }
                self.insert(mapping);
                false
            }
            Err(_) => self.refresh(),
        }
    }

    /// Replaces all that was in the place of a mapping.
    fn insert(&mut self, mapping: Mapping) {
        self.all
            .retain(|other| other.start < mapping.start || other.start >= mapping.end);
        let index = self
            .all
            .partition_point(|other| other.start < mapping.start);
        if let Some(before) = index
            .checked_sub(1)
            .and_then(|index| self.all.get_mut(index))
        {
            before.end = before.end.min(mapping.start);
        }
        self.all.insert(index, mapping);
    }

    /// Reads the list again if addresses can be newer; whether it has.
    fn refresh(&mut self) -> bool {
        let is_early = self
            .read
            .is_some_and(|read| read.elapsed() < self.took * PART);
        if self.is_current || is_early {
            return false;
        }
        let started = clock::of_this_thread().unwrap_or_default();
        if let Ok(text) = fs::read_to_string("/proc/self/maps") {
            self.all = parse(&text);
        }
        let ended = clock::of_this_thread().unwrap_or_default();
        self.took = ended.saturating_sub(started);
        self.read = Some(Instant::now());
        self.is_current = true;
        true
    }
}

fn parse(text: &str) -> Vec<Mapping> {
    let mut all = Vec::new();
    let mut bases: HashMap<&str, (usize, Arc<str>, Arc<str>)> = HashMap::new();
    for line in text.lines() {
        let mut words = line.splitn(6, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (range, rights, offset, _device, _node) = (next(), next(), next(), next(), next());
        let path = next().trim_start();
        let number = |text| usize::from_str_radix(text, 16).ok();
        let Some((start, end)) = range.split_once('-') else {
            continue;
        };
        let (Some(start), Some(end), Some(offset)) = (number(start), number(end), number(offset))
        else {
            continue;
        };
        let known = bases
            .entry(path)
            .or_insert_with(|| (start, path.into(), name_of(path)));
        // A file can be mapped several times.
        if offset == 0 {
            known.0 = start;
        }
        all.push(Mapping {
            start,
            end,
            is_executable: rights.as_bytes().get(2) == Some(&b'x'),
            path: Arc::clone(&known.1),
            name: Arc::clone(&known.2),
            base: known.0,
        });
    }
    all
}

fn name_of(path: &str) -> Arc<str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(" (deleted)").unwrap_or(name).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
7f0000000000-7f0000001000 r--p 00000000 fe:00 12    /lib/lib a.so (deleted)
7f0000001000-7f0000003000 r-xp 00001000 fe:00 12    /lib/lib a.so (deleted)
7f0000010000-7f0000020000 rwxp 00000000 00:01 99    /memfd:doublemapper (deleted)
7f0000030000-7f0000040000 rw-p 00000000 00:00 0
7fff00000000-7fff00001000 r-xp 00000000 00:00 0     [vdso]
";

    #[test]
    fn mappings_have_files_and_their_beginnings() {
        let mut maps = Maps {
            all: parse(TEXT),
            is_current: true,
            ..Maps::default()
        };
        let code = maps.code_at(0x7f00_0000_1800, || true).unwrap();
        assert_eq!((code.base, &*code.name), (0x7f00_0000_0000, "lib a.so"));
        assert!(!code.is_anonymous());
        let code = code.clone();
        assert_eq!(maps.images(&code), [0x7f00_0000_0000, 0x7f00_0000_1000]);
        assert!(maps.code_at(0x7f00_0000_0800, || true).is_none());
        assert!(
            maps.code_at(0x7f00_0001_0000, || true)
                .unwrap()
                .is_anonymous()
        );
        assert!(maps.at(0x7f00_0003_0010).unwrap().path.is_empty());
        assert!(
            !maps
                .code_at(0x7fff_0000_0010, || true)
                .unwrap()
                .is_anonymous()
        );
        assert!(maps.at(0x10).is_none() && maps.code_at(usize::MAX, || true).is_none());
    }

    #[test]
    fn a_new_mapping_replaces_those_in_its_place() {
        let mut maps = Maps {
            all: parse(TEXT),
            ..Maps::default()
        };
        let reserved = maps.at(0x7f00_0003_0000).unwrap().clone();
        maps.insert(Mapping {
            start: reserved.start + 0x1000,
            end: reserved.start + 0x2000,
            is_executable: true,
            ..reserved
        });
        let is_code =
            [0_usize, 0xFFF, 0x1000, 0x1FFF].map(|at| maps.is_code(0x7f00_0003_0000 + at));
        assert_eq!(is_code, [false, false, true, true]);
        // The rest is not known anymore.
        assert!(maps.find(0x7f00_0003_2000).is_none() && maps.find(0x7fff_0000_0000).is_some());
    }

    #[test]
    fn own_code_is_mapped() {
        let mut maps = Maps::default();
        let here = own_code_is_mapped as fn() as usize;
        assert!(maps.code_at(here, || true).is_some());
        let value = 0_u8;
        let data = &raw const value as usize;
        assert!(!maps.at(data).unwrap().is_executable);
        // Once it was looked up in a new list, because the system does not tell it, its page is none of code until the list expires.
        maps.took = Duration::ZERO;
        maps.grow_old();
        assert!(maps.code_at(data, || false).is_none() && !maps.is_current && maps.data.is_empty());
        assert!(maps.code_at(data, || true).is_none());
        assert_eq!(
            maps.data.contains(&(data >> PAGE)),
            query::mapping_at(data).is_err()
        );
        maps.expire();
        assert!(maps.data.is_empty() && maps.code_at(here, || true).is_some());
    }
}
