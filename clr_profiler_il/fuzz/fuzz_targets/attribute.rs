//! See [`il_oracles::attribute`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::attribute(bytes));
