//! The selection of traced methods.

use std::fs;
use std::path::Path;

use clr_profiler::{Error, Result};
use report::{begins_like_framework, is_framework};

/// The lines of the file, each `Assembly!Namespace.Type.Method(parameters)`; a line with `-` in front
/// excludes methods again.
#[derive(Debug)]
pub(crate) struct Config {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
}

/// `*` matches any text. Without parameters it matches all overloads; a number is their count.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    assembly: String,
    path: String,
    parameters: Option<Parameters>,
}

#[derive(Debug, PartialEq, Eq)]
enum Parameters {
    Count(usize),
    Types(Vec<String>),
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .map_err(|error| Error::other(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&text)
    }

    /// All methods of the program.
    pub(crate) fn everything() -> Result<Self> {
        Self::parse("*!*")
    }

    fn parse(text: &str) -> Result<Self> {
        let mut config = Self {
            wanted: Vec::new(),
            unwanted: Vec::new(),
        };
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (list, name) = match line.strip_prefix('-') {
                Some(name) => (&mut config.unwanted, name.trim()),
                None => (&mut config.wanted, line),
            };
            list.push(Pattern::parse(name).ok_or_else(|| {
                Error::other(format!(
                    "`{line}` names no methods: write `Assembly!Namespace.Type.Method`, with `*` for \
                     any text, and after it perhaps `(int, string)` or the number of parameters"
                ))
            })?);
        }
        Ok(config)
    }

    /// Whether methods of an assembly may be selected at all.
    pub(crate) fn names_assembly(&self, assembly: &str) -> bool {
        self.wanted.iter().any(|line| line.is_about(assembly))
    }

    /// Whether methods of the framework may be selected.
    pub(crate) fn names_framework(&self) -> bool {
        let mut prefixes = self
            .wanted
            .iter()
            .filter_map(|line| line.assembly.split('*').next());
        // A line that begins with `*` does not select the framework.
        prefixes.any(|prefix| !prefix.is_empty() && begins_like_framework(prefix))
    }

    /// Whether a method is selected: its full name is as `Method::full_name` gives it.
    pub(crate) fn wants(&self, assembly: &str, method: &str) -> bool {
        let is_named = |line: &Pattern| line.is_about(assembly) && line.names(method);
        self.wanted.iter().any(is_named) && !self.unwanted.iter().any(is_named)
    }
}

impl Pattern {
    fn parse(line: &str) -> Option<Self> {
        let (assembly, rest) = line.split_once('!')?;
        let (path, parameters) = match rest.split_once('(') {
            Some((path, inside)) => {
                let inside = inside.strip_suffix(')')?.trim();
                (path, Some(inside))
            }
            None => (rest, None),
        };
        let parameters = parameters.map(|inside| match inside.parse() {
            Ok(count) => Parameters::Count(count),
            Err(_) => Parameters::Types(split(inside).map(str::to_owned).collect()),
        });
        let is_empty = assembly.trim().is_empty() || path.trim().is_empty();
        (!is_empty).then(|| Self {
            assembly: assembly.trim().to_owned(),
            path: path.trim().to_owned(),
            parameters,
        })
    }

    fn is_about(&self, assembly: &str) -> bool {
        // Of the framework only if a line names the assembly.
        matches(&self.assembly, assembly)
            && !(is_framework(assembly) && self.assembly.starts_with('*'))
    }

    fn names(&self, method: &str) -> bool {
        let (path, parameters) = method.split_once('(').unwrap_or((method, ""));
        // Compiler-generated methods (`<Main>b__0`) are selected only if a line has such a name.
        let is_made_up = path.starts_with('<') || path.contains(".<") || path.contains("+<");
        if is_made_up && !self.path.contains('<') {
            return false;
        }
        let is_path = matches(&self.path, path) || matches(&self.path, &without_generics(path));
        let parameters = parameters.strip_suffix(')').unwrap_or(parameters);
        is_path
            && match &self.parameters {
                None => true,
                Some(Parameters::Count(count)) => split(parameters).count() == *count,
                Some(Parameters::Types(types)) => {
                    let same = split(parameters)
                        .zip(types)
                        .all(|(has, wants)| matches(wants, has));
                    same && split(parameters).count() == types.len()
                }
            }
    }
}

/// Splits parameters at their commas.
fn split(parameters: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = parameters.split(move |c| {
        depth += i32::from(matches!(c, '<' | '[')) - i32::from(matches!(c, '>' | ']'));
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// `Shelf<TKey>.Take<T>` without the parts in angle brackets.
fn without_generics(path: &str) -> String {
    let mut depth = 0_i32;
    let kept = path.chars().filter(|c| {
        depth += i32::from(*c == '<');
        let is_kept = depth == 0;
        depth -= i32::from(*c == '>');
        is_kept
    });
    kept.collect()
}

fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let Some((middle, end)) = rest.rsplit_once('*') else {
        return text.ends_with(rest);
    };
    for part in middle.split('*') {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: &str =
        "Shop.Store.Sell(string, System.Collections.Generic.Dictionary<int, string>)";

    #[test]
    fn lines_name_methods() {
        for (line, assembly, method, expected) in [
            ("Shop!Shop.Store.Sell", "Shop", STORE, true),
            ("Shop!Shop.Store.Sell(2)", "Shop", STORE, true),
            ("Shop!Shop.Store.Sell(1)", "Shop", STORE, false),
            ("Shop!Shop.Store.Sell(string, *)", "Shop", STORE, true),
            ("Shop!Shop.Store.Sell(int, *)", "Shop", STORE, false),
            ("Shop!Shop.Store.Sell()", "Shop", STORE, false),
            ("Sh*!*.S*l", "Shop", STORE, true),
            ("*!*", "Shop", STORE, true),
            ("Other!*", "Shop", STORE, false),
            (
                "*!*Enumerable.*",
                "System.Linq",
                "System.Linq.Enumerable.Any(int)",
                false,
            ),
            (
                "System.Linq!*Enumerable.*",
                "System.Linq",
                "System.Linq.Enumerable.Any(int)",
                true,
            ),
            (
                "*!S.Shelf.Take",
                "Shop",
                "S.Shelf<TKey, TValue>.Take<T>(TKey)",
                true,
            ),
            (
                "*!S.Shelf<*>.Take<T>",
                "Shop",
                "S.Shelf<TKey, TValue>.Take<T>(TKey)",
                true,
            ),
            ("*!S.*", "Shop", "S.Program+<>c.<Main>b__0(int)", false),
            (
                "*!S.*<Main>*",
                "Shop",
                "S.Program+<>c.<Main>b__0(int)",
                true,
            ),
            ("*!S.Store..ctor(0)", "Shop", "S.Store..ctor()", true),
        ] {
            let config = Config::parse(line).unwrap();
            assert_eq!(config.wants(assembly, method), expected, "{line}: {method}");
        }
    }

    #[test]
    fn lines_name_the_framework_or_not() {
        for (line, expected) in [
            ("*!*", false),
            ("Shop!*", false),
            ("Shop*!*", false),
            ("System.Linq!*", true),
            ("Sys*!*", true),
            ("Shop!*\nSystem.Linq!*", true),
        ] {
            let config = Config::parse(line).unwrap();
            assert_eq!(config.names_framework(), expected, "{line}");
        }
    }

    #[test]
    fn lines_with_a_dash_leave_out() {
        let config = Config::parse("# all\n*!*\n- Shop!*.ToString # but this\n").unwrap();
        assert!(config.wants("Shop", "Shop.Store.Sell(int)"));
        assert!(!config.wants("Shop", "Shop.Store.ToString()"));
    }

    #[test]
    fn what_names_nothing_is_told() {
        for line in ["Shop.Store.Sell", "!x", "Shop!", "Shop!A.B(int"] {
            let error = Config::parse(line).unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{line}` names no methods")),
                "{error}"
            );
        }
    }
}
