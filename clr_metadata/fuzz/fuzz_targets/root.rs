//! See [`metadata_oracles::root`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::root(bytes));
