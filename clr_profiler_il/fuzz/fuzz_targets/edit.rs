//! See [`il_oracles::edit`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| il_oracles::edit(bytes));
