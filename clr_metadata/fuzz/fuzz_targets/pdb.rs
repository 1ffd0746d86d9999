//! See [`metadata_oracles::pdb`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::pdb(bytes));
