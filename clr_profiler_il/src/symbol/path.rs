use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Methods by name, as people write it: `[Shop]Shop.Cart<T>+Line.Add(string, int[])`.
///
/// Types are nested by `+`, as in reflection, and the assembly stands in front where only one of that
/// name is meant. What may be left out stands for everything: the assembly,
/// and the parameters with their parentheses (all overloads). Generic types are named with their
/// parameters, whatever these are called (`Cart<T>`), or as metadata names them (`` Cart`1 ``);
/// generic parameters of the method itself may be there or not.
///
/// ```
/// use clr_profiler_il::symbol::MethodPath;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let path: MethodPath = "[Shop]Shop.Cart<T>+Line.Add".parse()?;
/// assert_eq!(path.assembly(), Some("Shop"));
/// assert!(path.types().eq(["Shop.Cart`1", "Line"]));
/// assert!("Add".parse::<MethodPath>().is_err()); // of which type?
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodPath {
    text: String,
    assembly: Option<String>,
    types: Vec<String>,
    method: String,
    /// Without spaces.
    parameters: Option<String>,
}

/// A text that names no method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodPathError {
    text: String,
    problem: &'static str,
}

impl fmt::Display for MethodPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, problem } = self;
        write!(
            f,
            "`{text}` does not name a method: {problem}; such a name is \
             `[Assembly]Namespace.Type+Nested.Method`, and the assembly may be left out"
        )
    }
}

impl Error for MethodPathError {}

impl FromStr for MethodPath {
    type Err = MethodPathError;

    fn from_str(text: &str) -> Result<Self, MethodPathError> {
        let text = text.trim();
        Self::parse(text).map_err(|problem| MethodPathError {
            text: text.to_owned(),
            problem,
        })
    }
}

impl MethodPath {
    /// The assembly; any if there is none.
    #[must_use]
    pub fn assembly(&self) -> Option<&str> {
        self.assembly.as_deref()
    }

    /// The type and those that enclose it, from the outermost on, as metadata names them.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(String::as_str)
    }

    /// The name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether an overload is meant; it is asked for its parameters in text, if that matters.
    ///
    /// # Errors
    ///
    /// What `parameters` returns.
    pub fn takes<E>(&self, parameters: impl FnOnce() -> Result<String, E>) -> Result<bool, E> {
        match &self.parameters {
            Some(wanted) => Ok(without_spaces(&parameters()?) == *wanted),
            None => Ok(true),
        }
    }

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
        let (types, method) = split_method(path).ok_or("no type stands before the method")?;
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
}

impl fmt::Display for MethodPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Splits at the dot before the method's name, which may begin with one itself: `.ctor`.
fn split_method(path: &str) -> Option<(&str, &str)> {
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
    let dot = match path.get(..last)?.ends_with('.') {
        true => last - 1,
        false => last,
    };
    Some((path.get(..dot)?, path.get(dot + 1..)?))
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
            let name: MethodPath = text.parse().unwrap();
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
            let error = text.parse::<MethodPath>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` does not name")),
                "{error}"
            );
        }
    }
}
