//! The table of a list of patterns, by parts of their names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::MethodPattern;
use super::path::{Part, Step};

/// The longest literal start or end that is a key. It is less than the bits of a [`Lengths`].
const LONGEST: usize = 63;

/// The number of patterns up to which each is compared with each method, which takes less time than to look up its names.
const FEW: usize = 4;

/// A hash that is its own key.
#[derive(Clone, Copy, Debug, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

type Table = HashMap<u64, Vec<u32>, BuildHasherDefault<Identity>>;

/// The kind of part that is a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Type and method.
    Whole = 1,
    Type,
    Method,
    Assembly,
    TypeStart,
    TypeEnd,
    MethodStart,
    MethodEnd,
}

/// A hash of bytes that is built one by one (FNV-1a), non-cryptographic.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn new(kind: Kind) -> Self {
        Self(0xcbf2_9ce4_8422_2325).with(kind as u8)
    }

    fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    fn with_all(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |hash, byte| hash.with(*byte))
    }

    /// Spread over all bits, because the table uses the highest and the lowest.
    fn key(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

/// The lengths of the keys of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths(u64);

impl Lengths {
    fn add(&mut self, length: usize) {
        self.0 |= 1 << length.min(LONGEST);
    }

    fn has(self, length: usize) -> bool {
        self.0 >> length.min(LONGEST) & 1 == 1
    }

    /// One more than the longest.
    fn end(self) -> usize {
        (u64::BITS - self.0.leading_zeros()) as usize
    }
}

/// The lengths of starts and ends.
#[derive(Clone, Copy, Debug, Default)]
struct AllLengths {
    type_start: Lengths,
    type_end: Lengths,
    method_start: Lengths,
    method_end: Lengths,
}

/// A part of a pattern that can be its key.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    kind: Kind,
    key: u64,
    length: usize,
}

/// Which patterns can match a method, by its names.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    table: Table,
    /// Those without any literal, or all if they are few.
    others: Vec<u32>,
    lengths: AllLengths,
    has_whole: bool,
    has_type: bool,
    has_method: bool,
    has_assembly: bool,
}

impl Index {
    /// The index of patterns with these numbers.
    pub(super) fn new<'p>(patterns: impl Iterator<Item = (u32, &'p MethodPattern)>) -> Self {
        let anchors: Vec<(u32, Vec<Anchor>)> = patterns
            .map(|(number, pattern)| (number, anchors(pattern)))
            .collect();
        let mut sharing: HashMap<u64, u32> = HashMap::new();
        for anchor in anchors.iter().flat_map(|(_, anchors)| anchors) {
            *sharing.entry(anchor.key).or_default() += 1;
        }
        let mut index = Self::default();
        if anchors.len() <= FEW {
            index.others = anchors.into_iter().map(|(number, _)| number).collect();
            return index;
        }
        for (number, anchors) in anchors {
            // The part that the fewest patterns share, and of these the longest.
            let best = anchors.into_iter().min_by_key(|anchor| {
                let shared = sharing.get(&anchor.key).copied().unwrap_or_default();
                (shared, std::cmp::Reverse(anchor.length))
            });
            match best {
                Some(anchor) => index.add(anchor, number),
                None => index.others.push(number),
            }
        }
        index
    }

    fn add(&mut self, anchor: Anchor, number: u32) {
        self.table.entry(anchor.key).or_default().push(number);
        match anchor.kind {
            Kind::Whole => self.has_whole = true,
            Kind::Type => self.has_type = true,
            Kind::Method => self.has_method = true,
            Kind::Assembly => self.has_assembly = true,
            Kind::TypeStart => self.lengths.type_start.add(anchor.length),
            Kind::TypeEnd => self.lengths.type_end.add(anchor.length),
            Kind::MethodStart => self.lengths.method_start.add(anchor.length),
            Kind::MethodEnd => self.lengths.method_end.add(anchor.length),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty() && self.others.is_empty()
    }

    /// Calls `each` with the patterns that can match.
    pub(super) fn find<'p, E>(
        &self,
        parts: impl FnOnce() -> &'p [Part<'p>],
        method: &str,
        assembly: impl FnOnce() -> Result<u64, E>,
        mut each: impl FnMut(u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut look = |key: u64| -> Result<(), E> {
            self.table
                .get(&key)
                .into_iter()
                .flatten()
                .try_for_each(|number| each(*number))
        };
        if !self.table.is_empty() {
            self.look_up_type(parts(), method, &mut look)?;
            let name = method.bytes();
            starts(
                name.clone(),
                Kind::MethodStart,
                self.lengths.method_start,
                &mut look,
            )?;
            starts(
                name.rev(),
                Kind::MethodEnd,
                self.lengths.method_end,
                &mut look,
            )?;
            if self.has_method {
                look(Hash::new(Kind::Method).with_all(method.as_bytes()).key())?;
            }
            if self.has_assembly {
                look(assembly()?)?;
            }
        }
        self.others.iter().try_for_each(|number| each(*number))
    }

    fn look_up_type<E>(
        &self,
        parts: &[Part<'_>],
        method: &str,
        look: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let forwards = || {
            parts.iter().enumerate().flat_map(|(number, part)| {
                separator(number, part.is_nested).chain(part.name.bytes())
            })
        };
        if self.has_type || self.has_whole {
            let name = || forwards();
            if self.has_type {
                look(name().fold(Hash::new(Kind::Type), Hash::with).key())?;
            }
            if self.has_whole {
                let class = name().fold(Hash::new(Kind::Whole), Hash::with);
                look(class.with(b'.').with_all(method.as_bytes()).key())?;
            }
        }
        starts(forwards(), Kind::TypeStart, self.lengths.type_start, look)?;
        let backwards = parts.iter().enumerate().rev().flat_map(|(number, part)| {
            part.name
                .bytes()
                .rev()
                .chain(separator(number, part.is_nested))
        });
        starts(backwards, Kind::TypeEnd, self.lengths.type_end, look)
    }
}

/// The key of an assembly.
pub(super) fn assembly_key(name: &str) -> u64 {
    Hash::new(Kind::Assembly).with_all(name.as_bytes()).key()
}

fn separator(number: usize, is_nested: bool) -> impl Iterator<Item = u8> {
    let byte = if is_nested { b'+' } else { b'.' };
    (number > 0).then_some(byte).into_iter()
}

/// Looks up the starts of these lengths.
fn starts<E>(
    bytes: impl Iterator<Item = u8>,
    kind: Kind,
    lengths: Lengths,
    look: &mut impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    let end = lengths.end();
    if end == 0 {
        return Ok(());
    }
    let mut hash = Hash::new(kind);
    for (before, byte) in bytes.take(end - 1).enumerate() {
        hash = hash.with(byte);
        if lengths.has(before + 1) {
            look(hash.key())?;
        }
    }
    Ok(())
}

/// The literal start of a list of bytes as a key, no longer than the longest.
fn start_anchor(bytes: impl Iterator<Item = u8>, kind: Kind) -> Option<Anchor> {
    let mut length = 0;
    let hash = bytes.take(LONGEST).fold(Hash::new(kind), |hash, byte| {
        length += 1;
        hash.with(byte)
    });
    (length > 0).then(|| Anchor {
        kind,
        key: hash.key(),
        length,
    })
}

/// The keys that a pattern can have.
fn anchors(pattern: &MethodPattern) -> Vec<Anchor> {
    let mut anchors = Vec::new();
    let method = &pattern.method;
    let start = type_start(&pattern.class.steps);
    let literal = is_literal(&pattern.class.steps).then_some(&start);
    let mut add = |kind: Kind, hash: Hash, length| {
        let key = hash.key();
        anchors.push(Anchor { kind, key, length });
    };
    if let Some(name) = literal {
        let class = Hash::new(Kind::Type).with_all(name.as_bytes());
        add(Kind::Type, class, name.len());
        if let Some(method) = method.literal() {
            let whole = Hash::new(Kind::Whole).with_all(name.as_bytes());
            let whole = whole.with(b'.').with_all(method.as_bytes());
            add(Kind::Whole, whole, name.len() + method.len());
        }
    }
    match method.literal() {
        Some(name) => {
            let hash = Hash::new(Kind::Method).with_all(name.as_bytes());
            add(Kind::Method, hash, name.len());
        }
        None => {
            anchors.extend(start_anchor(method.prefix().bytes(), Kind::MethodStart));
            anchors.extend(start_anchor(method.suffix().bytes().rev(), Kind::MethodEnd));
        }
    }
    if literal.is_none() {
        anchors.extend(start_anchor(start.bytes(), Kind::TypeStart));
        let end = type_end(&pattern.class.steps);
        anchors.extend(start_anchor(end.bytes().rev(), Kind::TypeEnd));
    }
    if let Some(name) = pattern
        .assembly
        .as_ref()
        .and_then(|(_, name)| name.literal())
    {
        anchors.push(Anchor {
            kind: Kind::Assembly,
            key: assembly_key(name),
            length: name.len(),
        });
    }
    anchors
}

fn is_literal(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Any => false,
        Step::Segment { name, .. } => name.literal().is_some(),
    })
}

/// The text with which the names of matching types start.
fn type_start(steps: &[Step]) -> String {
    let mut text = String::new();
    for (number, step) in steps.iter().enumerate() {
        let Step::Segment { is_nested, name } = step else {
            break;
        };
        if number > 0 {
            text.push(if *is_nested { '+' } else { '.' });
        }
        text.push_str(name.prefix());
        if name.literal().is_none() {
            break;
        }
    }
    text
}

/// The text with which the names of matching types end.
fn type_end(steps: &[Step]) -> String {
    let mut ends = Vec::new();
    for step in steps.iter().rev() {
        let Step::Segment { is_nested, name } = step else {
            break;
        };
        ends.push(name.suffix().to_owned());
        if name.literal().is_none() {
            break;
        }
        ends.push(if *is_nested { "+" } else { "." }.to_owned());
    }
    // Before the first segment there may be nothing.
    if ends.last().is_some_and(|end| end == "+" || end == ".") {
        ends.pop();
    }
    ends.reverse();
    ends.concat()
}
