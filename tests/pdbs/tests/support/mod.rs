//! The files of the tests, and the runtime that reads PDBs.

// Each test uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use examples_support::{Pinned, runtime};

/// A file or folder of `tests/profilees`.
pub fn profilee(name: &str) -> PathBuf {
    let folder = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../profilees"));
    folder.unwrap().join(name)
}

/// The assemblies of a folder of `tests/profilees`.
pub fn assemblies(folder: &str, names: &[&str]) -> Vec<PathBuf> {
    let path = |name: &&str| profilee(folder).join(format!("{name}.dll"));
    names.iter().map(path).collect()
}

/// A folder that is removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("pdb_rows-{}-{number}", id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The host of .NET 8.
pub struct Dotnet(PathBuf);

/// .NET 8; `None` if it is missing, but not in CI.
pub fn dotnet() -> Option<Dotnet> {
    match runtime::fetch(&Pinned::NET_8) {
        Ok(host) => Some(Dotnet(host)),
        Err(error) => {
            assert!(env::var_os("CI").is_none(), "{error}");
            eprintln!("NOT TESTED: {error}");
            None
        }
    }
}

impl Dotnet {
    /// The output of a program.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.0);
        command.arg(program).args(arguments);
        command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {stderr}", program.display());
        String::from_utf8(output.stdout).unwrap()
    }

    /// The rows of files, as `PdbRows` prints them.
    pub fn rows(&self, scratch: &Scratch, options: &[&str], files: &[PathBuf]) -> String {
        let rows = scratch.0.join("rows");
        let mut arguments = vec![rows.to_str().unwrap()];
        arguments.extend(options);
        arguments.extend(files.iter().map(|path| path.to_str().unwrap()));
        let count = self.run(&profilee("PdbRows.dll"), &arguments);
        assert_eq!(count.trim(), files.len().to_string());
        fs::read_to_string(rows).unwrap()
    }
}
