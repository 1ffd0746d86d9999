//! Writes the module tree of the library: a module for each scenario in `tests`, and `register!` with
//! all their profilers and those of `src`. The program of the tests has a module for each scenario, too.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let (mut modules, mut tests) = (String::new(), String::new());
    let (mut profilers, mut composed) = (Vec::new(), Vec::new());
    for (folder, root) in [("src", "lib.rs"), ("tests", "main.rs")] {
        println!("cargo::rerun-if-changed={folder}");
        for path in entries(&package.join(folder))? {
            let Some(module) = path.file_stem().and_then(|stem| stem.to_str()) else {
                continue;
            };
            let found = profilers_in(&path)?;
            // `lib.rs` declares its modules itself, and a scenario without a profiler is not one of the library's.
            if folder == "tests" {
                let file = if path.is_dir() {
                    path.join(root)
                } else {
                    path.clone()
                };
                let declaration = format!("#[path = {file:?}]\nmod {module};\n");
                if !found.is_empty() {
                    modules += &declaration;
                }
                tests += &declaration;
            }
            composed.extend(composed_in(&path)?);
            profilers.extend(found.iter().map(|name| format!("    {module}::{name},\n")));
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let text = format!(
        "{modules}\nregister!(\n{}{});\n",
        profilers.concat(),
        composed.concat()
    );
    fs::write(out.join("profilers.rs"), text)?;
    fs::write(out.join("tests.rs"), tests)
}

/// The entries of a folder, in order.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// The composed profilers in a file or the files of a folder: lines `// register: compose(..)`.
fn composed_in(path: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in entries(path)? {
            found.extend(composed_in(&entry)?);
        }
        return Ok(found);
    }
    let text = fs::read_to_string(path)?;
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("// register: "));
    found.extend(lines.map(|line| format!("    {line},\n")));
    Ok(found)
}

/// The types of profilers in a file or the files of a folder: `#[profiler(..)] impl Profiler for TYPE`.
fn profilers_in(path: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in entries(path)? {
            found.extend(profilers_in(&entry)?);
        }
        return Ok(found);
    }
    let text = fs::read_to_string(path)?;
    for after in text.split("#[profiler(").skip(1) {
        let Some((_, after)) = after.split_once("impl Profiler for ") else {
            continue;
        };
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &after[..end.unwrap_or(after.len())];
        // The profiler of a macro is named where the macro is used.
        if !name.is_empty() {
            found.push(name.to_owned());
        }
    }
    Ok(found)
}
