//! [`MethodName`]: methods by name, in modules that may not be loaded yet.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::metadata::{MetadataImportMembers, MetadataImportTypes, find_type_def, method_name};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::MethodDef;

/// Methods by name: `[Shop]Shop.Cart<T>+Line.Add(string, int[])`.
///
/// Written as [`Method::full_name`](crate::Method::full_name) writes them, with the assembly in front
/// where only one of that name is meant. What may be left out stands for everything: the assembly,
/// and the parameters with their parentheses (all overloads). Generic types are named with their
/// parameters, whatever these are called (`Cart<T>`), or as metadata names them (`` Cart`1 ``);
/// generic parameters of the method itself may be there or not.
///
/// ```
/// use clr_profiler::MethodName;
///
/// let name: MethodName = "[Shop]Shop.Cart<T>+Line.Add".parse()?;
/// assert_eq!(name.to_string(), "[Shop]Shop.Cart<T>+Line.Add");
/// assert!("Add".parse::<MethodName>().is_err()); // of which type?
/// # Ok::<(), clr_profiler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    text: String,
    assembly: Option<String>,
    /// From the outermost on, as metadata names them.
    types: Vec<String>,
    method: String,
    /// Without spaces.
    parameters: Option<String>,
}

impl FromStr for MethodName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        Self::parse(text).map_err(|problem| {
            Error::other(format!(
                "`{text}` does not name a method: {problem}; such a name is \
                 `[Assembly]Namespace.Type+Nested.Method`, and the assembly may be left out"
            ))
        })
    }
}

impl MethodName {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let (assembly, rest) = match text.strip_prefix('[') {
            Some(rest) => {
                let parts = rest.split_once(']');
                let (assembly, rest) = parts.ok_or("`]` is missing")?;
                (Some(assembly.to_owned()), rest)
            }
            None => (None, text),
        };
        let (path, parameters) = match rest.split_once('(') {
            Some((path, parameters)) => {
                let parameters = parameters.strip_suffix(')').ok_or("`)` is missing")?;
                (path, Some(without_spaces(parameters)))
            }
            None => (rest, None),
        };
        let dot = last_dot(path).ok_or("no type stands before the method")?;
        let (types, method) = (&path[..dot], &path[dot + 1..]);
        let (method, _) = split_arguments(method)?;
        let types: Vec<String> = split_outside(types, '+')
            .into_iter()
            .map(|part| {
                let (name, arity) = split_arguments(part)?;
                Ok(match arity {
                    0 => name.to_owned(),
                    arity => format!("{name}`{arity}"),
                })
            })
            .collect::<Result<_, &'static str>>()?;
        if method.is_empty() || types.iter().any(|t| t.is_empty() || t.ends_with('.')) {
            return Err("a part of it is empty");
        }
        Ok(Self {
            text: text.to_owned(),
            assembly,
            types,
            method: method.to_owned(),
            parameters,
        })
    }

    /// The methods of a module that have this name, and IL.
    pub(super) fn find(&self, info: &ProfilerInfo, module: ModuleId) -> Result<Vec<MethodDef>> {
        let metadata = info.module_metadata(module)?;
        let Some(class) = find_type_def(&metadata, self.types.iter().map(String::as_str))? else {
            return Ok(Vec::new());
        };
        if let Some(wanted) = &self.assembly {
            let name = match info.module_info(module)?.assembly {
                Some(assembly) => info.assembly_info(assembly)?.name,
                None => metadata.scope_props()?.name,
            };
            if name != *wanted {
                return Ok(Vec::new());
            }
        }
        let mut found = Vec::new();
        for method in metadata.methods_with_name(class, &self.method)? {
            let method = method?;
            let props = metadata.method_props(method)?;
            // What has no place in the image has no IL: it is abstract, say.
            let is_meant = props.rva != 0
                && match &self.parameters {
                    Some(wanted) => {
                        let name = method_name(&metadata, method, &props, Default::default())?;
                        let has = name
                            .split_once('(')
                            .map_or("", |(_, parameters)| parameters);
                        without_spaces(has.trim_end_matches(')')) == *wanted
                    }
                    None => true,
                };
            if is_meant {
                found.push(method);
            }
        }
        Ok(found)
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The dot before the method's name, which may begin with one itself: `.ctor`.
fn last_dot(path: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = None;
    for (index, byte) in path.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => last = Some(index),
            _ => {}
        }
    }
    let last = last?;
    match path.get(..last)?.ends_with('.') {
        true => Some(last - 1),
        false => Some(last),
    }
}

/// A name and how many generic arguments stand behind it.
fn split_arguments(part: &str) -> Result<(&str, usize), &'static str> {
    // What compilers make up begins with `<` itself: `<Main>b__0`.
    let Some((name, arguments)) = part
        .strip_suffix('>')
        .and_then(|part| part.split_once('<'))
        .filter(|(name, _)| !name.is_empty())
    else {
        return Ok((part, 0));
    };
    if arguments.trim().is_empty() {
        return Err("`<>` has nothing in it");
    }
    Ok((name, split_outside(arguments, ',').len()))
}

/// Splits where the character stands outside of angle brackets.
fn split_outside(text: &str, at: char) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        c == at && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names() {
        type Case = (
            &'static str,
            Option<&'static str>,
            &'static [&'static str],
            &'static str,
            Option<&'static str>,
        );
        let cases: &[Case] = &[
            ("A.B.C", None, &["A.B"], "C", None),
            ("B.C", None, &["B"], "C", None),
            ("[x.y]A.B+N.C", Some("x.y"), &["A.B", "N"], "C", None),
            (
                "A.B<T, U<V, W>>+N<X>.C<Y>",
                None,
                &["A.B`2", "N`1"],
                "C",
                None,
            ),
            ("A.B`1.C", None, &["A.B`1"], "C", None),
            ("A.B..ctor", None, &["A.B"], ".ctor", None),
            ("A.B..ctor()", None, &["A.B"], ".ctor", Some("")),
            (
                "A.B.C(string, System.Nullable<int>)",
                None,
                &["A.B"],
                "C",
                Some("string,System.Nullable<int>"),
            ),
            (
                "A.B+<>c.<Main>b__0_1",
                None,
                &["A.B", "<>c"],
                "<Main>b__0_1",
                None,
            ),
        ];
        for (text, assembly, types, method, parameters) in cases {
            let name: MethodName = text.parse().unwrap();
            assert_eq!(name.assembly.as_deref(), *assembly, "{text}");
            assert_eq!(name.types, *types, "{text}");
            assert_eq!(name.method, *method, "{text}");
            assert_eq!(name.parameters.as_deref(), *parameters, "{text}");
            assert_eq!(name.to_string(), *text);
        }
    }

    #[test]
    fn what_names_no_method_is_refused() {
        for text in [
            "", "C", ".C", "A.", "[x", "[x]C", "A.B.C(", "A.B<>.C", "A.+B.C", "..ctor",
        ] {
            let error = text.parse::<MethodName>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` does not name")),
                "{error}"
            );
        }
    }
}
