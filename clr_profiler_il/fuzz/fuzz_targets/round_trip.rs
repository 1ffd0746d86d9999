//! See [`il_oracles::round_trip`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::round_trip(bytes));
