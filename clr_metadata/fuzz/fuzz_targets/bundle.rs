//! See [`metadata_oracles::bundle`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::bundle(bytes));
