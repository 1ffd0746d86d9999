//! See [`il_oracles::pattern`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::pattern(bytes));
