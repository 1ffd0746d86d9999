//! Takes the profilers from the chapters of the guide: each block of Rust that has a `register!`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let chapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    println!("cargo::rerun-if-changed={}", chapters.display());
    let mut files: Vec<PathBuf> = fs::read_dir(chapters)
        .expect("the guide is there")
        .map(|entry| entry.expect("the guide can be listed").path())
        .collect();
    files.sort();
    let (mut code, mut types) = (String::new(), Vec::new());
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).expect("a chapter can be read");
        for block in text.split("\n```rust\n").skip(1) {
            let block = block.split("\n```").next().unwrap_or_default();
            let Some((before, name)) = block.split_once("\nregister!(") else {
                continue;
            };
            let name = name.trim_end_matches(");");
            let module = format!("profiler_{}", types.len());
            // The root needs access to it.
            let private = format!("\nstruct {name}");
            let visible = before.replace(&private, &format!("\npub(crate) struct {name}"));
            writeln!(code, "mod {module} {{\n{visible}\n}}").expect("a string takes everything");
            // The guide's tests use it.
            if visible.contains(&format!("\npub struct {name}")) {
                writeln!(code, "pub use {module}::{name};").expect("a string takes everything");
            }
            types.push(format!("{module}::{name}"));
        }
    }
    writeln!(code, "clr_profiler::register!({});", types.join(", "))
        .expect("a string takes everything");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo tells where"));
    fs::write(out.join("profilers.rs"), code).expect("cargo's folder can be written");
}
