//! Lets the tests' programs export the functions that a runtime's library exports.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // `tests/api` is a runtime that is linked into its program.
        println!("cargo::rustc-link-arg-tests=-Wl,--export-dynamic-symbol=MetaDataGetDispenser");
    }
}
