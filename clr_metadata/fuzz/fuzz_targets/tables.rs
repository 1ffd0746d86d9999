//! See [`metadata_oracles::tables`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::tables(bytes));
