//! The modules of the crates form layers: no cycle of modules that use each other, and those of `clr_profiler` use
//! only modules of their own group in `lib.rs` and of the groups before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Not `clr_profiler_sys`, whose macros record the declarations as `facts`, which lists those of all modules; nor
/// `clr_profiler_launcher`, whose error has values of the modules that return it.
const CRATES: [&str; 5] = [
    "clr_profiler",
    "clr_profiler_il",
    "clr_profiler_macros",
    "clr_profiler_test",
    "clr_profiler_tools",
];

/// The modules of a crate, and how they use each other.
struct Crate {
    /// With the number of their group in `lib.rs`: groups are separated by blank lines.
    modules: BTreeMap<String, usize>,
    /// The user and the used module, with a file that has the use.
    uses: BTreeMap<(String, String), PathBuf>,
}

impl Crate {
    fn read(name: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(name)
            .join("src");
        let lib = code(&source.join("lib.rs"));
        let mut modules = BTreeMap::new();
        for (number, group) in lib.split("\n\n").enumerate() {
            for line in group.lines() {
                let line = line.strip_prefix("pub ").unwrap_or(line);
                let module = line
                    .strip_prefix("mod ")
                    .and_then(|it| it.strip_suffix(';'));
                modules.extend(module.map(|module| (module.to_owned(), number)));
            }
        }
        // The names that the root exports, each with its module.
        let mut exports: BTreeMap<&str, &str> = BTreeMap::new();
        for statement in lib.split("\npub use ").skip(1) {
            let statement = statement.split(';').next().unwrap();
            let mut names = words(statement);
            if let Some(module) = names.next().filter(|it| modules.contains_key(*it)) {
                exports.extend(names.map(|name| (name, module)));
            }
        }

        let mut uses = BTreeMap::new();
        for module in modules.keys() {
            let mut todo = vec![source.join(module), source.join(format!("{module}.rs"))];
            while let Some(path) = todo.pop() {
                if path.is_dir() {
                    let entries = fs::read_dir(&path).unwrap();
                    todo.extend(entries.map(|entry| entry.unwrap().path()));
                } else if path.is_file() && path.file_stem().unwrap() != "tests" {
                    let code = code(&path);
                    for name in names_in_root(&code) {
                        let used = exports.get(name).copied().unwrap_or(name);
                        if used != module && modules.contains_key(used) {
                            uses.insert((module.clone(), used.to_owned()), path.clone());
                        }
                    }
                }
            }
        }
        Self { modules, uses }
    }
}

/// The code of a file: without lines of comments, links of documentation in strings, and tests.
fn code(path: &Path) -> String {
    let Ok(text) = fs::read_to_string(path) else {
        return String::new();
    };
    let lines = text.lines().filter(|it| !it.trim_start().starts_with("//"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.replace("](crate::", "](")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

/// The names that code takes from the root of its crate: `a` and `b` in `crate::a::c` and `crate::{a, b::{c, d}}`.
fn names_in_root(code: &str) -> BTreeSet<&str> {
    names_in(code, "crate::")
}

/// The names that code takes from the module that begins a path.
fn names_in<'a>(code: &'a str, module: &str) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for piece in code.split(module).skip(1) {
        let Some(group) = piece.strip_prefix('{') else {
            names.extend(words(piece).next());
            continue;
        };
        let (mut depth, mut start) = (0_u32, 0);
        for (at, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    names.extend(words(&group[start..at]).next());
                    start = at + 1;
                    if character == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

/// The modules that are left when those are taken, again and again, that use only modules that were taken before.
fn cycle<'a>(
    modules: impl Iterator<Item = &'a String>,
    uses: impl Iterator<Item = &'a (String, String)> + Clone,
) -> BTreeSet<&'a String> {
    let mut left: BTreeSet<&String> = modules.collect();
    let uses_one_of = |module: &String, left: &BTreeSet<&String>| {
        let mut uses = uses.clone();
        uses.any(|(user, used)| user == module && left.contains(used))
    };
    loop {
        let (kept, taken): (BTreeSet<_>, BTreeSet<_>) =
            left.iter().partition(|module| uses_one_of(module, &left));
        left = kept;
        if taken.is_empty() {
            return left;
        }
    }
}

/// The folders of `clr_profiler` whose own modules form layers, too.
const FOLDERS: [&str; 2] = ["patches", "patches/objects"];

#[test]
fn modules_of_folders_form_layers() {
    for name in FOLDERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clr_profiler/src");
        let folder = folder.join(name);
        let entries = fs::read_dir(&folder).unwrap();
        let paths: BTreeMap<String, PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
            .filter(|(module, _)| module != "mod")
            .collect();
        assert!(paths.len() > 2, "{name} has modules");
        let mut uses = BTreeSet::new();
        for (module, path) in &paths {
            let mut files = vec![(path.clone(), "super::")];
            if path.is_dir() {
                let inner = fs::read_dir(path).unwrap();
                let inner = inner.map(|entry| entry.unwrap().path());
                files = inner.map(|file| (file, "super::super::")).collect();
            }
            for (file, parent) in files {
                let is_root = file.file_stem().unwrap() == "mod";
                let code = code(&file);
                let used = names_in(&code, if is_root { "super::" } else { parent });
                let used = used.into_iter().filter(|used| paths.contains_key(*used));
                let used = used.filter(|used| used != module);
                uses.extend(used.map(|used| (module.clone(), used.to_owned())));
            }
        }
        assert!(!uses.is_empty(), "{name} has uses");
        let left = cycle(paths.keys(), uses.iter());
        assert!(
            left.is_empty(),
            "{name}: a cycle is among {left:?}: {uses:?}"
        );
    }
}

#[test]
fn modules_form_layers() {
    for name in CRATES {
        let found = Crate::read(name);
        assert!(found.modules.len() > 1, "{name} has modules");
        let left = cycle(found.modules.keys(), found.uses.keys());
        assert!(left.is_empty(), "{name}: a cycle is among {left:?}");
    }
}

#[test]
fn clr_profiler_groups_its_modules_from_the_bottom_up() {
    let found = Crate::read("clr_profiler");
    assert!(found.uses.len() > 50, "{}", found.uses.len());
    for ((user, used), file) in &found.uses {
        assert!(
            found.modules[used] <= found.modules[user],
            "{user} uses {used}, which is in a later group of lib.rs: {}",
            file.display()
        );
    }
}

#[test]
fn names_are_found_in_code() {
    let code = "use crate::a::b; use crate::{c, d::{e, f}, g}; $crate::h! {} crate::I::j()";
    let expected = BTreeSet::from(["a", "c", "d", "g", "h", "I"]);
    assert_eq!(names_in_root(code), expected);
}
