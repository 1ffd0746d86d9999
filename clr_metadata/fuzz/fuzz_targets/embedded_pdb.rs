//! See [`metadata_oracles::embedded_pdb`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metadata_oracles::embedded_pdb(bytes));
