//! Shared by the profilers of the scenarios and the tests that have them loaded: their class ids,
//! the log, and the system.

pub mod log;
pub mod threads;

use uuid::Uuid;

/// The class id of the profiler whose type has this name.
///
/// The hash FNV-1a of the name, in 128 bits.
pub const fn clsid(name: &str) -> Uuid {
    let bytes = name.as_bytes();
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut at = 0;
    while at < bytes.len() {
        hash ^= bytes[at] as u128;
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        at += 1;
    }
    Uuid::from_u128(hash)
}
