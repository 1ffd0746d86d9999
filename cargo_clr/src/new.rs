//! `new`: the crate of a profiler.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clr_profiler_launcher::Clsid;
use serde_json::json;

use crate::cli::New;
use crate::outcome::{self, Failure, Result};
use crate::print;

/// The files, with `{{name}}`, `{{type}}`, `{{clsid}}` and dependencies to be filled in.
const TEXTS: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    ("src/lib.rs", include_str!("../template/lib.rs.in")),
    (
        "tests/program.rs",
        include_str!("../template/program.rs.in"),
    ),
    ("README.md", include_str!("../template/README.md.in")),
    (".gitignore", "/target\n"),
    (
        ".github/workflows/ci.yml",
        include_str!("../template/ci.yml.in"),
    ),
];

/// A program to profile.
const BYTES: [(&str, &[u8]); 2] = [
    ("tests/Sample.dll", include_bytes!("../template/Sample.dll")),
    (
        "tests/Sample.runtimeconfig.json",
        include_bytes!("../template/Sample.runtimeconfig.json"),
    ),
];

pub(crate) fn create(options: &New) -> Result<ExitCode> {
    let folder = &options.path;
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.filter(|name| is_name(name)).ok_or_else(|| {
        Failure::usage(format!(
            "`{}` is not the name of a crate: it begins with a letter, and has letters, digits, `_` and `-`.",
            folder.display()
        ))
    })?;
    if TAKEN_NAMES.contains(&&*name.replace('-', "_")) {
        return Err(Failure::usage(format!(
            "`{name}` cannot be the name of a crate: Rust or clr_profiler has the name for itself. Take another one, such \
             as `my_{name}`."
        )));
    }
    if folder.exists() {
        return Err(Failure::usage(format!(
            "`{}` exists already.",
            folder.display()
        )));
    }
    let checkout = match &options.checkout {
        Some(checkout) => {
            let found = fs::canonicalize(checkout).unwrap_or_else(|_| checkout.clone());
            if !found.join("clr_profiler").join("Cargo.toml").is_file() {
                return Err(Failure::usage(format!(
                    "`{}` is not a checkout of clr_profiler.",
                    checkout.display()
                )));
            }
            Some(found)
        }
        None => None,
    };
    let fill = |text: &str| {
        text.replace("{{name}}", name)
            .replace("{{library}}", &name.replace('-', "_"))
            .replace("{{type}}", &type_name(name))
            .replace("{{clsid}}", &random_clsid())
            .replace(
                "{{clr_profiler}}",
                &dependency(checkout.as_deref(), "clr_profiler"),
            )
            .replace(
                "{{clr_profiler_test}}",
                &dependency(checkout.as_deref(), "clr_profiler_test"),
            )
    };
    let texts = TEXTS
        .iter()
        .map(|(file, text)| (*file, fill(text).into_bytes()));
    let bytes = BYTES.iter().map(|(file, bytes)| (*file, bytes.to_vec()));
    for (file, content) in texts.chain(bytes) {
        let path = folder.join(file);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).map_err(outcome::io("make", above))?;
        }
        fs::write(&path, content).map_err(outcome::io("write", &path))?;
    }
    if options.json.json {
        let outcome = json!({ "verb": "new", "name": name, "folder": folder.to_string_lossy() });
        return print(format!("{outcome}\n"));
    }
    let _ = writeln!(
        io::stderr(),
        "new: made the profiler `{name}`. Next:\n  cd {}\n  cargo clr run -- tests/Sample.dll",
        folder.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Names that the code of the new crate could not use: Rust's keywords, its own crates, and those that it depends on.
const TAKEN_NAMES: [&str; 58] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "clr_profiler",
    "clr_profiler_test",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Types that the code of the new crate uses.
const TAKEN_TYPES: [&str; 9] = [
    "AtomicU64",
    "FunctionId",
    "Hresult",
    "ModuleId",
    "Ordering",
    "Profiler",
    "ProfilerInfo",
    "Result",
    "Setup",
];

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|text| text.is_ascii_alphanumeric() || matches!(text, '_' | '-'))
}

/// `my_profiler` is `MyProfiler`, and so is `profiler`.
fn type_name(name: &str) -> String {
    let words = name.split(['_', '-']);
    let words = words.map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    let name: String = words.collect();
    if TAKEN_TYPES.contains(&&*name) {
        return format!("My{name}");
    }
    name
}

fn dependency(checkout: Option<&Path>, name: &str) -> String {
    match checkout {
        Some(checkout) => {
            let path = checkout.join(name).display().to_string();
            format!("{{ path = {path:?} }}")
        }
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    }
}

/// A new class id: a random GUID, of version 4. The standard library seeds its hashers at random.
fn random_clsid() -> String {
    let half = || u128::from(RandomState::new().build_hasher().finish());
    let random = half() << 64 | half();
    let version = random & !(0xf << 76) | 4 << 76;
    let variant = version & !(3 << 62) | 2 << 62;
    Clsid::from_u128(variant)
        .to_string()
        .trim_matches(['{', '}'])
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_types_and_class_ids_are_new() {
        assert_eq!(type_name("my_profiler"), "MyProfiler");
        assert_eq!(type_name("profiler"), "MyProfiler");
        assert_eq!(type_name("http-requests2"), "HttpRequests2");
        assert!(is_name("a-b_2") && !is_name("2a") && !is_name("a b") && !is_name(""));
        let (one, other) = (random_clsid(), random_clsid());
        assert_ne!(one, other);
        for clsid in [one, other] {
            assert_eq!(&clsid[14..15], "4", "{clsid}");
            assert!(matches!(&clsid[19..20], "8" | "9" | "A" | "B"), "{clsid}");
        }
    }
}
