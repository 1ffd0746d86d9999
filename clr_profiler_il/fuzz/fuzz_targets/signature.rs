//! See [`il_oracles::signature`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::signature(bytes));
