//! The cost of reading, editing and writing the method bodies of .NET 8's framework, against a scan
//! that only finds where their instructions end.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench rewrite            # 31 rounds
//! cargo bench -p clr_profiler_tests --bench rewrite -- 101
//! cargo bench -p clr_profiler_tests --bench rewrite -- 101 only decode    # to profile with perf
//! ```
//!
//! Each round goes through all bodies once with each of the ways, in a random order, so that
//! other activity of the machine affects all alike: the median is that of the rounds. The least is the sum
//! of the fastest times of each hundredth of the bodies, so that no other activity is in it. All memory is
//! reused from body to body, as in a profiler; remaining allocations are counted. docs/performance.md has figures.

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::symbol::NoTokens;
use examples_support::Pinned;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let rounds = arguments.iter().find_map(|argument| argument.parse().ok());
    let rounds = rounds.unwrap_or(31);
    let only = arguments.iter().skip_while(|argument| *argument != "only");
    let only = only.skip(1).find(|argument| !argument.starts_with('-'));
    let done = match only {
        Some(only) => run_only(only, rounds),
        None => run(rounds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rewrite: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One operation on a body.
type Way = (&'static str, fn(&mut Memory, &[u8]) -> Result<()>);

/// The others are compared with the second one; the last one is the whole work.
const WAYS: [Way; 8] = [
    ("copy the bytes", copy),
    ("scan the lengths", scan),
    ("decode", decode),
    ("decode, encode", decode_encode),
    ("decode, edit, encode", rewrite),
    ("decode lazily", decode_lazily),
    ("lazily: encode", encode_lazily),
    ("lazily: edit, encode", rewrite_lazily),
];
const SCAN: usize = 1;
const REWRITE: usize = 7;

/// The memory that is reused from body to body.
struct Memory {
    lengths: Lengths,
    body: MethodBody,
    buffers: EncodeBuffers,
    out: Vec<u8>,
    prologue: Fragment,
    epilogue: Fragment,
}

impl Memory {
    fn new() -> Self {
        let mut memory = Self {
            lengths: Lengths::new(),
            body: MethodBody::new(),
            buffers: EncodeBuffers::new(),
            out: Vec::new(),
            prologue: Fragment::new(),
            epilogue: Fragment::new(),
        };
        memory.prologue.ldc_i4(7).pop();
        memory.epilogue.ldc_i4(7).pop();
        memory
    }
}

fn copy(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.out.clear();
    memory.out.extend_from_slice(black_box(bytes));
    black_box(&memory.out);
    Ok(())
}

fn scan(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    black_box(memory.lengths.instructions(bytes).ok_or("no body")?);
    Ok(())
}

fn decode(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_into(bytes)?;
    black_box(&memory.body);
    Ok(())
}

fn decode_encode(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_into(bytes)?;
    encode(memory)
}

/// A prologue, and an epilogue before every `ret`.
fn rewrite(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_into(bytes)?;
    memory.body.prologue(&memory.prologue)?;
    memory.body.before_ret(&memory.epilogue)?;
    encode(memory)
}

/// As [`Method::rewrite`](clr_profiler::Method::rewrite) decodes.
fn decode_lazily(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_lazily_into(bytes)?;
    black_box(&memory.body);
    Ok(())
}

fn encode_lazily(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_lazily_into(bytes)?;
    encode(memory)
}

/// The same edit as of [`rewrite`].
fn rewrite_lazily(memory: &mut Memory, bytes: &[u8]) -> Result<()> {
    memory.body.decode_lazily_into(bytes)?;
    memory.body.prologue(&memory.prologue)?;
    memory.body.before_ret(&memory.epilogue)?;
    encode(memory)
}

fn encode(memory: &mut Memory) -> Result<()> {
    memory.out.clear();
    memory
        .body
        .encode_with(&mut memory.buffers, &mut NoTokens, &mut memory.out)?;
    black_box(&memory.out);
    Ok(())
}

/// The lengths of instructions, by the first byte of the code and by the second one after `0xfe`.
struct Lengths([[u8; 256]; 2]);

impl Lengths {
    fn new() -> Self {
        let mut lengths = [[0; 256]; 2];
        for opcode in Opcode::ALL {
            let [second, first] = opcode.code().to_le_bytes();
            // The fixed part of a `switch`, without its table.
            let operand = opcode.operand_kind().size().unwrap_or(4);
            lengths[usize::from(first == 0xfe)][usize::from(second)] =
                opcode.code_length() + operand;
        }
        Self(lengths)
    }

    /// The number of instructions, prefixes counted like them.
    fn instructions(&self, body: &[u8]) -> Option<usize> {
        const SWITCH: u8 = 0x45;
        let code = match body.first()? & 0b11 {
            0b10 => body.get(1..)?.get(..usize::from(body[0] >> 2))?,
            _ => {
                let size = u32::from_le_bytes(*body.get(4..)?.first_chunk()?);
                body.get(12..)?.get(..size as usize)?
            }
        };
        let mut count = 0;
        let mut at = 0;
        while let Some(&byte) = code.get(at) {
            let length = if byte == 0xfe {
                self.0[1][usize::from(*code.get(at + 1)?)]
            } else {
                self.0[0][usize::from(byte)]
            };
            if byte == SWITCH {
                let targets = u32::from_le_bytes(*code.get(at + 1..)?.first_chunk()?);
                at += 4 * targets as usize;
            }
            at += usize::from(length);
            count += 1;
        }
        Some(count)
    }
}

/// All bodies, one after the other.
struct Corpus {
    bytes: Vec<u8>,
    bodies: Vec<Range<usize>>,
}

impl Corpus {
    fn load() -> Result<Self> {
        let mut corpus = Self {
            bytes: Vec::new(),
            bodies: Vec::new(),
        };
        let loaded = corpus::each_assembly(&Pinned::NET_8, |_, assembly| {
            for body in assembly
                .all_methods()
                .filter_map(|method| method.ok()?.body)
            {
                let start = corpus.bytes.len();
                corpus.bytes.extend_from_slice(body);
                corpus.bodies.push(start..corpus.bytes.len());
            }
        });
        loaded.ok_or("the runtime is missing")?;
        Ok(corpus)
    }

    fn each<'a>(&'a self, which: &'a [Range<usize>]) -> impl Iterator<Item = &'a [u8]> {
        which.iter().map(|range| &self.bytes[range.clone()])
    }

    /// The largest of a hundred.
    fn largest(&self) -> Vec<Range<usize>> {
        let mut largest = self.bodies.clone();
        largest.sort_by_key(|range| std::cmp::Reverse(range.len()));
        largest.truncate(self.bodies.len() / 100);
        largest
    }
}

/// Repeats one of the ways.
fn run_only(name: &str, rounds: usize) -> Result<()> {
    let way = WAYS.iter().find(|(other, _)| *other == name);
    let &(_, way) = way.ok_or_else(|| format!("there is no way {name:?}"))?;
    let corpus = Corpus::load()?;
    let mut memory = Memory::new();
    let mut times = Times::default();
    for _ in 0..rounds {
        times.round(way, &mut memory, &corpus, &corpus.bodies)?;
    }
    println!(
        "{name}: {:.1} ns",
        times.least() / corpus.bodies.len() as f64
    );
    Ok(())
}

fn run(rounds: usize) -> Result<()> {
    let corpus = Corpus::load()?;
    let largest = corpus.largest();
    let mut memory = Memory::new();
    let instructions = corpus
        .each(&corpus.bodies)
        .map(|body| memory.lengths.instructions(body).ok_or("no body"))
        .sum::<std::result::Result<usize, _>>()?;

    let bodies = corpus.bodies.len();
    println!(
        "{}: {bodies} bodies, on average {:.1} bytes and {:.1} instructions; {rounds} rounds",
        Pinned::NET_8.name,
        corpus.bytes.len() as f64 / bodies as f64,
        instructions as f64 / bodies as f64,
    );
    // Buffers become large enough, and files and caches warm.
    for (_, way) in WAYS {
        Times::default().round(way, &mut memory, &corpus, &corpus.bodies)?;
    }
    let mut times = WAYS.map(|_| Times::of(bodies, rounds));
    let mut times_of_largest = Times::of(largest.len(), rounds);
    let mut random = Random(u64::from(std::process::id()) + 1);
    let mut order: Vec<usize> = (0..WAYS.len()).collect();
    let mut allocations = [0; WAYS.len()];
    for _ in 0..rounds {
        for left in (1..order.len()).rev() {
            order.swap(left, random.below(left + 1));
        }
        for &index in &order {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            times[index].round(WAYS[index].1, &mut memory, &corpus, &corpus.bodies)?;
            allocations[index] += ALLOCATIONS.load(Ordering::Relaxed) - before;
        }
        times_of_largest.round(WAYS[REWRITE].1, &mut memory, &corpus, &largest)?;
    }

    println!(
        "{:22}{:>12}{:>8}{:>12}{:>8}{:>18}",
        "", "median", "ratio", "least", "ratio", "allocations/body"
    );
    let per_body = |index: usize, at: Of| at(&times[index]) / bodies as f64;
    for (index, (name, _)) in WAYS.iter().enumerate() {
        let [(middle, ratio), (least, least_ratio)] = [Times::median as Of, Times::least as Of]
            .map(|at| {
                let time = per_body(index, at);
                (time, time / per_body(SCAN, at))
            });
        let allocations = allocations[index] as f64 / (rounds * bodies) as f64;
        println!(
            "{name:22}{middle:>9.1} ns{ratio:>8.2}{least:>9.1} ns{least_ratio:>8.2}{allocations:>18.3}"
        );
    }
    let per_byte = |times: &Times, which: &[Range<usize>]| {
        times.least() / which.iter().map(ExactSizeIterator::len).sum::<usize>() as f64
    };
    println!(
        "{}: {:.2} ns a byte; of the largest 1 %, from {} bytes: {:.2} ns a byte",
        WAYS[REWRITE].0,
        per_byte(&times[REWRITE], &corpus.bodies),
        largest.last().map_or(0, ExactSizeIterator::len),
        per_byte(&times_of_largest, &largest),
    );
    Ok(())
}

/// The nanoseconds that a way took for some bodies, in each repetition.
#[derive(Default)]
struct Times {
    rounds: Vec<f64>,
    /// The least for each piece of the bodies.
    pieces: Vec<f64>,
}

/// A statistic of the times.
type Of = fn(&Times) -> f64;

impl Times {
    /// Many enough that a piece often is not interrupted, and few enough for the clock's resolution.
    const PIECES: usize = 100;

    /// Reserves the memory for all rounds.
    fn of(bodies: usize, rounds: usize) -> Self {
        Self {
            rounds: Vec::with_capacity(rounds),
            pieces: vec![f64::INFINITY; Self::PIECES.min(bodies)],
        }
    }

    fn round(
        &mut self,
        way: fn(&mut Memory, &[u8]) -> Result<()>,
        memory: &mut Memory,
        corpus: &Corpus,
        bodies: &[Range<usize>],
    ) -> Result<()> {
        let mut sum = 0.0;
        let size = bodies.len().div_ceil(Self::PIECES).max(1);
        let count = bodies.len().div_ceil(size);
        self.pieces.resize(count, f64::INFINITY);
        for (piece, least) in bodies.chunks(size).zip(&mut self.pieces) {
            let start = Instant::now();
            for body in corpus.each(piece) {
                way(memory, body)?;
            }
            let time = start.elapsed().as_secs_f64() * 1e9;
            sum += time;
            *least = least.min(time);
        }
        self.rounds.push(sum);
        Ok(())
    }

    fn median(&self) -> f64 {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// The time without any disturbance.
    fn least(&self) -> f64 {
        self.pieces.iter().sum()
    }
}

/// Marsaglia's xorshift: good enough to shuffle.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
