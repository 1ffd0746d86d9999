//! Compiles the library with the profilers, which becomes a part of the command.
//!
//! `cargo install` installs executables and nothing else, and an executable cannot be loaded as a library. So this
//! script writes a package with one library into `OUT_DIR`, has cargo build it there, and the command includes the file.
//! The package has the versions of `Cargo.lock`. The crates of this project are taken from the folders next to this
//! package if they are there: in the repository, in cargo's registry, and while cargo verifies a package. They are
//! copied into the written package: cargo and the compiler write the paths of crates outside of a workspace into the
//! library, and two builds in two folders are to be the same.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of this project that the library is made of.
const CRATES: [&str; 6] = [
    "clr_metadata",
    "clr_profiler",
    "clr_profiler_il",
    "clr_profiler_macros",
    "clr_profiler_sys",
    "clr_profiler_tools",
];

/// A library to include instead: for those who build the command where cargo may not run twice.
const PREBUILT: &str = "CARGO_CLR_PROFILERS";

fn main() {
    println!("cargo:rerun-if-env-changed={PREBUILT}");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=bundled/lib.rs");
    let out = PathBuf::from(variable("OUT_DIR"));
    let included = out.join("profilers");
    if let Some(prebuilt) = env::var_os(PREBUILT).filter(|path| !path.is_empty()) {
        println!("cargo:rerun-if-changed={}", prebuilt.display());
        copy(Path::new(&prebuilt), &included);
        return;
    }
    // The documentation needs no profilers, and its builder has no network.
    if env::var_os("DOCS_RS").is_some() {
        fs::write(&included, b"").expect("OUT_DIR can be written");
        return;
    }
    let library = build(&out.join("package"));
    copy(&library, &included);
}

fn build(folder: &Path) -> PathBuf {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let version = variable("CARGO_PKG_VERSION");
    let version = version.to_str().expect("a version is ASCII");
    fs::create_dir_all(folder).expect("OUT_DIR can be written");
    let manifest = folder.join("Cargo.toml");
    write(&manifest, package(&own, version, folder).as_bytes());
    let source = fs::read(own.join("bundled/lib.rs")).expect("the source is in the package");
    write(&folder.join("lib.rs"), &source);
    // The versions of the dependencies. In the repository the file belongs to the workspace.
    for lock in [own.join("Cargo.lock"), own.join("../Cargo.lock")] {
        if lock.is_file() {
            println!("cargo:rerun-if-changed={}", lock.display());
            // Cargo removes packages that are not needed from its copy.
            let (copied, kept) = (folder.join("copied.lock"), folder.join("Cargo.lock"));
            if !kept.is_file() || fs::read(&copied).ok() != fs::read(&lock).ok() {
                copy(&lock, &kept);
                copy(&lock, &copied);
            }
            break;
        }
    }

    let is_release = variable("PROFILE") == "release";
    let target = folder.join("target");
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .args(["build", "--lib", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        // Where cargo looks for its configuration.
        .current_dir(&own)
        // Clippy and others wrap the compiler for the packages of the outer workspace alone.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_BUILD_TARGET");
    if is_release {
        cargo.arg("--release");
    }
    let mut built = target.clone();
    let triple = variable("TARGET");
    if triple != variable("HOST") {
        cargo.arg("--target").arg(&triple);
        built.push(&triple);
    }
    let status = cargo.status().expect("cargo can be started");
    assert!(
        status.success(),
        "the library with the profilers was not built; cargo's message is above"
    );
    built.push(if is_release { "release" } else { "debug" });
    let (prefix, suffix) = match variable("CARGO_CFG_TARGET_OS").to_str() {
        Some("windows") => ("", "dll"),
        Some("macos") => ("lib", "dylib"),
        _ => ("lib", "so"),
    };
    built.join(format!("{prefix}clr_tool_profilers.{suffix}"))
}

/// The manifest of the package with the library, next to which the crates of this project are copied.
fn package(own: &Path, version: &str, folder: &Path) -> String {
    let mut text = format!(
        "[package]\nname = \"clr_tool_profilers\"\nversion = {version:?}\nedition = \"2024\"\npublish = false\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\npath = \"lib.rs\"\n\n\
         [dependencies]\nclr_profiler = \"={version}\"\n\
         clr_profiler_tools = {{ version = \"={version}\", features = [\"profilers\"] }}\n\n\
         [workspace]\n\n[profile.dev]\ndebug = false\nopt-level = 1\nincremental = false\n\n\
         [profile.release]\ncodegen-units = 1\nlto = \"fat\"\nstrip = \"debuginfo\"\n\n",
    );
    let Some(above) = own.parent() else {
        return text;
    };
    let mut patches = String::from("[patch.crates-io]\n");
    for name in CRATES {
        for found in [above.join(name), above.join(format!("{name}-{version}"))] {
            if found.join("Cargo.toml").is_file() {
                for part in ["src", "Cargo.toml"] {
                    println!("cargo:rerun-if-changed={}", found.join(part).display());
                }
                mirror(&found, &folder.join(name));
                patches += &format!("{name} = {{ path = {name:?} }}\n");
                break;
            }
        }
    }
    // In the repository the crates have versions and requirements from its workspace.
    let outer = above.join("Cargo.toml");
    if let Ok(outer_text) = fs::read_to_string(&outer)
        && above.join("cargo_clr/bundled").is_dir()
    {
        println!("cargo:rerun-if-changed={}", outer.display());
        text += &inherited(&outer_text);
    }
    text + &patches
}

/// The tables of a workspace's manifest that its packages inherit from.
fn inherited(manifest: &str) -> String {
    let mut is_inherited = false;
    let mut text = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_inherited = line.starts_with("[workspace.");
        }
        if is_inherited {
            text += line;
            text.push('\n');
        }
    }
    text
}

/// Makes a folder a copy of the folder of a package, as far as its library is built from it.
fn mirror(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("OUT_DIR can be written");
    let names = |folder: &Path| -> Vec<OsString> {
        let entries = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()));
        entries.flatten().map(|entry| entry.file_name()).collect()
    };
    let wanted: Vec<_> = names(from)
        .into_iter()
        .filter(|name| {
            let path = from.join(name);
            // The clutter of a build, and packages of their own, are left out.
            !path.join("Cargo.toml").exists() && name != "target"
        })
        .collect();
    for name in names(to) {
        let old = to.join(&name);
        if wanted.contains(&name) && old.is_dir() == from.join(&name).is_dir() {
            continue;
        }
        let removed = if old.is_dir() {
            fs::remove_dir_all(&old)
        } else {
            fs::remove_file(&old)
        };
        removed.unwrap_or_else(|error| panic!("{} cannot be removed: {error}", old.display()));
    }
    for name in wanted {
        let path = from.join(&name);
        if path.is_dir() {
            mirror(&path, &to.join(&name));
        } else {
            let bytes = fs::read(&path)
                .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
            write(&to.join(&name), &bytes);
        }
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}

/// Writes a file unless it is the same: cargo looks at the time.
fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return;
    }
    fs::write(path, bytes).expect("OUT_DIR can be written");
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to)
        .unwrap_or_else(|error| panic!("{} cannot be copied: {error}", from.display()));
}
