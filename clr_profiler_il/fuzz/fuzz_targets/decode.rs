//! See [`il_oracles::decode`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::decode(bytes));
