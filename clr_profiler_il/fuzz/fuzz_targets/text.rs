//! See [`il_oracles::text`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::text(bytes));
