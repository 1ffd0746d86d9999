//! The wrappers: the rows of the table of native calls, and handwritten ones, whose
//! documentation names the wrapped methods.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::repository;

/// The wrappers of each native method, `Type::method`: rows first, then in the order of the sources;
/// methods of `GcScope`, which duplicate others, come last.
///
/// # Errors
///
/// If the sources cannot be read.
pub fn wrappers() -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut found = Found::default();
    for (native, wrapper) in table() {
        add(&mut found, native.to_owned(), wrapper.to_owned());
    }
    for path in sources(&repository().join("clr_profiler/src"))? {
        let text = fs::read_to_string(&path)?;
        // Documentation of made-up methods in tests does not count.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        scan(text, &mut found);
    }
    for wrappers in found.values_mut() {
        wrappers.sort_by_key(|wrapper| wrapper.starts_with("GcScope::"));
        wrappers.dedup();
    }
    Ok(found)
}

/// The rows of the library's table: the native method, and its wrapper.
pub(super) fn table() -> Vec<(&'static str, &'static str)> {
    let mut rows = Vec::new();
    macro_rules! row {
        ($owner:ident $name:ident $source:ident $arguments:tt $interface:ident $method:ident) => {
            rows.push((
                concat!(stringify!($interface), "::", stringify!($method)),
                concat!(stringify!($owner), "::", stringify!($name)),
            ));
        };
    }
    clr_profiler::for_each_native_call! { row }
    rows
}

type Found = BTreeMap<String, Vec<String>>;

/// Every source file of a folder, in a fixed order.
fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(|entry| entry.path());
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Finds the wrappers of one file.
fn scan(text: &str, found: &mut Found) {
    let mut owner = String::new();
    let mut interface = None;
    let mut docs = String::new();
    let mut in_attribute = false;
    // For the rows in a trait itself: the trait, its interface, and the last row.
    let mut rows: Option<(String, String)> = None;
    let mut row = None;
    for line in text.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
            continue;
        }
        // Attributes follow the documentation of the item, some on several lines.
        if let Some(native) = line.strip_prefix("#[wraps(") {
            let end = native.find(|end: char| !end.is_alphanumeric() && end != ':');
            docs.push_str(&format!(
                "Wraps `{}`.\n",
                &native[..end.unwrap_or(native.len())]
            ));
        }
        if in_attribute || line.starts_with("#[") {
            // A list in one may end a line of it, too.
            let has_arguments = in_attribute || line.starts_with("#[wraps(");
            in_attribute = !line.ends_with(if has_arguments { ")]" } else { "]" });
            continue;
        }
        if let Some(name) = owner_in(line) {
            owner = name;
        }
        if let Some(rest) = line.strip_prefix("interface ") {
            interface = rest.split(':').next().map(str::to_owned);
        }
        if let (Some(interface), Some((method, native))) = (&interface, callback_in(line)) {
            add(
                found,
                format!("{interface}::{native}"),
                format!("Profiler::{method}"),
            );
        }
        if let Some((of, interface)) = line.strip_prefix("calls! { ").and_then(rows_in) {
            rows = Some((of, interface));
        }
        if let Some((of, interface)) = &rows {
            if line == "}" {
                rows = None;
                continue;
            }
            if line.starts_with("fn ") {
                row = item_in(line);
            }
            if let (Some(name), Some(native)) = (&row, native_in(line)) {
                add(
                    found,
                    format!("{interface}::{native}"),
                    format!("{of}::{name}"),
                );
                row = None;
            }
        }
        if let Some((enumerator, native)) = enumerator_in(line) {
            for method in ["Next", "GetCount", "Skip", "Reset", "Clone"] {
                add(found, format!("{native}::{method}"), enumerator.clone());
            }
        }
        let item = item_in(line).map(|item| format!("{owner}::{item}"));
        for native in wrapped_in(&docs) {
            if let Some(item) = &item {
                add(found, native, item.clone());
            }
        }
        docs.clear();
    }
}

fn add(found: &mut Found, native: String, wrapper: String) {
    // Constructors of tests and private helpers have no owner.
    if !wrapper.starts_with("::") {
        let wrappers = found.entry(native).or_default();
        if !wrappers.contains(&wrapper) {
            wrappers.push(wrapper);
        }
    }
}

/// The name at the beginning of a text, and the remaining text.
fn name_in(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_alphanumeric() && character != '_')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// The trait or type whose methods follow.
fn owner_in(line: &str) -> Option<String> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let rest = match (line.strip_prefix("trait "), line.strip_prefix("impl")) {
        (Some(rest), _) => rest,
        (None, Some(rest)) if !rest.contains(" for ") => {
            let generics = rest.starts_with('<');
            let rest = if generics {
                rest.split_once('>')?.1
            } else {
                rest
            };
            rest.strip_prefix(' ')?
        }
        _ => return None,
    };
    let name = name_in(rest).0;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name of a function's declaration, or of a row of a table that becomes one.
fn item_in(line: &str) -> Option<String> {
    let mut rest = line;
    for word in ["pub ", "pub(crate) ", "pub(super) ", "const ", "unsafe "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = match rest.strip_prefix("fn ") {
        Some(rest) => name_in(rest).0,
        None => match name_in(rest) {
            (name, rest) if rest.starts_with('(') => name,
            _ => return None,
        },
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// `Trait = INative from source;`: the owner of the rows that follow. Rows of a type are internal to the
/// library.
fn rows_in(line: &str) -> Option<(String, String)> {
    let (of, rest) = line.split_once(" = ")?;
    let (interface, _) = rest.split_once(" from ")?;
    let is_trait = !matches!(of, "ProfilerInfo" | "Metadata");
    is_trait.then(|| (of.to_owned(), interface.to_owned()))
}

/// `= [mode] Native(`: the native method of a row.
fn native_in(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("= ")
        .or(line.split_once(" = ").map(|(_, rest)| rest))?;
    let rest = match rest.strip_prefix('[') {
        Some(mode) => mode.split_once("] ")?.1,
        None => rest,
    };
    let (native, after) = name_in(rest);
    after.starts_with('(').then_some(native)
}

/// `Name = INativeEnum of Item`: a row that becomes an enumerator.
fn enumerator_in(line: &str) -> Option<(String, String)> {
    let (left, right) = line.split_once(" = ICor")?;
    let (native, item) = right.split_once(" of ")?;
    // A row for arguments of callbacks names that in quotes.
    if item.starts_with('"') {
        return None;
    }
    let native = format!("ICor{native}");
    Some((name_in(left).0.to_owned(), native))
}

/// `method = Native(...)`: a row of the table of callbacks.
fn callback_in(line: &str) -> Option<(&str, &str)> {
    let (method, rest) = line.split_once(" = ")?;
    let (native, after) = name_in(rest);
    let is_row = after.starts_with('(')
        && native.starts_with(|character: char| character.is_ascii_uppercase())
        && name_in(method).1.is_empty();
    is_row.then_some((method, native))
}

/// The native methods that documentation names as wrapped.
///
/// "Wraps `I::A` and `B`." names two methods of one interface.
fn wrapped_in(docs: &str) -> Vec<String> {
    let mut wrapped = Vec::new();
    for sentence in docs.split("raps").skip(1) {
        let end = sentence.find(". ").or(sentence.find(".\n"));
        let sentence = &sentence[..end.unwrap_or(sentence.len())];
        let mut interface = "";
        for word in sentence.split('`').skip(1).step_by(2) {
            match word.split_once("::") {
                Some((of, _)) if of.starts_with('I') => {
                    interface = of;
                    wrapped.push(word.to_owned());
                }
                None if !interface.is_empty()
                    && word.starts_with(|first: char| first.is_ascii_uppercase())
                    && name_in(word).1.is_empty() =>
                {
                    wrapped.push(format!("{interface}::{word}"));
                }
                _ => {}
            }
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_found_however_they_are_written() {
        let text = "
            impl<'a> Thing<'a> {
                /// Does it. Wraps
                /// `IThing::Do` and `Undo`. **Context**: `Shutdown`.
                #[doc(alias = \"Do\")]
                pub unsafe fn does(&self) {}
            }
            impl Debug for Thing<'_> {}
            impl Thing {
                /// Does it again.
                #[wraps(IThing::Redo [in gc]
                    with [EVENT \".\"]
                    fails \"Never.\")]
                pub fn does_again(&self) {}
            }
            /// Lists.
            Enum<'a> = ICorEnum of Item => u32;
            Handed = ICorHanded of \"ICorProfilerCallback::Came\";
            trait Rows {
                calls! { Rows = IRows from info;
                /// Gets.
                fn gets(id: u32) -> u32
                    = [in gc] GetIt(id, @it);
                fn counts() -> u32 = Count(@count);
                }
            }
            interface ICorProfilerCallback2: ICorProfilerCallback
            /// Comes.
            came = Came(id: u32)
        ";
        let mut found = Found::new();
        scan(text, &mut found);
        let found: Vec<String> = found
            .into_iter()
            .map(|(native, wrappers)| format!("{native} {}", wrappers.join(" ")))
            .collect();
        assert_eq!(
            found,
            [
                "ICorEnum::Clone Enum",
                "ICorEnum::GetCount Enum",
                "ICorEnum::Next Enum",
                "ICorEnum::Reset Enum",
                "ICorEnum::Skip Enum",
                "ICorProfilerCallback2::Came Profiler::came",
                "IRows::Count Rows::counts",
                "IRows::GetIt Rows::gets",
                "IThing::Do Thing::does",
                "IThing::Redo Thing::does_again",
                "IThing::Undo Thing::does",
            ]
        );
    }
}
