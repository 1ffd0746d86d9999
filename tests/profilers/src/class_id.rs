//! The class ids of the scenarios' profilers: each follows from the name of its type.
//!
//! The profilers and the tests that have them loaded compile this file both.

/// The class id of the profiler whose type has this name, as a number.
///
/// The hash FNV-1a of the name, in 128 bits.
pub const fn class_id(name: &str) -> u128 {
    let bytes = name.as_bytes();
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut at = 0;
    while at < bytes.len() {
        hash ^= bytes[at] as u128;
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        at += 1;
    }
    hash
}
