//! See [`metadata_oracles::image`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::image(bytes));
