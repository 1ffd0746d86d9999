//! Reading any input takes memory of a small multiple of its length, whatever lengths it states.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_metadata::Image;
use clr_metadata::pdb::PdbFile;
use il_oracles::random::Random;
use metadata_oracles::{ORACLES, seeds};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count.
struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn peak_of(read: impl FnOnce()) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    read();
    PEAK.load(Ordering::Relaxed).saturating_sub(before)
}

/// Bytes of memory for each byte of input, in addition to those of errors and names.
const PER_BYTE: usize = 2;
const CONSTANT: usize = 16 << 10;

/// The parts in which a source is copied.
const PART: usize = 64 << 10;

const HOOK: &[u8] = include_bytes!("../../../clr_profiler_test/hook/StartupHook.dll");
const PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesDebug.pdb");
const WITH_PDB: &[u8] = include_bytes!("../../../tests/profilees/pdb/SourcesRelease.dll");

fn seed(name: &str) -> Vec<u8> {
    let metadata = Image::parse(HOOK).unwrap().metadata().unwrap().bytes();
    match name {
        "root" => metadata.to_vec(),
        "tables" => seeds::tables(metadata).unwrap().to_vec(),
        "image" => HOOK.to_vec(),
        "bundle" => seeds::bundle(b"abc"),
        "pdb" => PDB.to_vec(),
        "embedded_pdb" => WITH_PDB.to_vec(),
        _ => panic!("{name}"),
    }
}

/// Lengths, counts and offsets that no file has.
const HOSTILE: [u32; 4] = [u32::MAX, 0x7fff_ffff, 0x2000_0000, 0x00ff_ffff];

// A single test, so that no other thread allocates at the same time.
#[test]
fn memory_is_bounded_by_the_length_of_the_input() {
    let runs = std::env::var("METADATA_ORACLE_RUNS").map_or(150, |runs| runs.parse().unwrap());
    let mut random = Random::new(17);
    for (name, oracle) in ORACLES {
        let seed = seed(name);
        let intact = peak_of(|| oracle(&seed));
        let mut most = intact;
        for run in 0..runs {
            let mut input = seed.clone();
            // Half of the changes are in the headers.
            let end = [input.len().min(800), input.len()][run % 2];
            for _ in 0..=random.below(2) {
                let at = random.below(end.saturating_sub(4).max(1));
                let value = HOSTILE[random.below(HOSTILE.len())].to_le_bytes();
                // Both a number of four bytes and one of two.
                let length = [2, 4][random.below(2)];
                if let Some(bytes) = input.get_mut(at..at + length) {
                    bytes.copy_from_slice(&value[..length]);
                }
            }
            let peak = peak_of(|| oracle(&input));
            most = most.max(peak);
            assert!(
                peak <= PER_BYTE * input.len() + CONSTANT,
                "{name}, run {run}: {peak} bytes for {}",
                input.len()
            );
        }
        println!(
            "{name}: {} bytes, {intact} intact, at most {most}",
            seed.len()
        );
    }
    debug_directory();
}

/// A debug directory whose entries state the largest sizes, read from a source that does not know its own size.
fn debug_directory() {
    let seed = WITH_PDB;
    let entry = 17_u32.to_le_bytes();
    // The kind of the entry of the embedded PDB, which its size follows.
    let at = seed
        .windows(8)
        .position(|bytes| bytes.starts_with(&entry) && bytes[4..] != [0; 4])
        .unwrap();
    for size in HOSTILE {
        let mut input = seed.to_vec();
        input[at + 4..at + 8].copy_from_slice(&size.to_le_bytes());
        let path = "/no such folder/no such.dll";
        let peak = peak_of(|| {
            let found = PdbFile::find_in(&input[..], clr_metadata::ImageLayout::File, path);
            assert!(found.is_err(), "{size}");
        });
        assert!(
            peak <= 4 * input.len() + CONSTANT + 2 * PART,
            "{size}: {peak} bytes for {}",
            input.len()
        );
    }
}
