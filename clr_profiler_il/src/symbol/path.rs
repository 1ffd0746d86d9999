use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The name of one or several methods as users write it: `[Shop]Shop.Cart<T>+Line.Add(string,
/// int[])`.
///
/// Nested types are separated by `+`, as in reflection. Two parts are optional: without the
/// assembly the name matches types of any assembly, and without the parameters and their
/// parentheses it matches all overloads. Generic types are written with their parameters, whose
/// names do not matter (`Cart<T>`), or as in metadata (`` Cart`1 ``); the generic parameters of the
/// method itself are optional.
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

/// A text that does not name a method.
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
    /// The assembly; `None` for any assembly.
    #[must_use]
    pub fn assembly(&self) -> Option<&str> {
        self.assembly.as_deref()
    }

    /// The type, preceded by its enclosing types from the outermost on, as in metadata.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(String::as_str)
    }

    /// The name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether an overload matches; asks for its parameters in text only if they matter.
    ///
    /// # Errors
    ///
    /// The error of `parameters`.
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
        let (types, method) = split_method(path).ok_or("there is no type before the method")?;
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

/// Splits at the dot before the method's name, which may start with a dot itself: `.ctor`.
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

/// A name, and the number of generic arguments after it.
fn split_arguments(part: &str) -> Result<(&str, usize), &'static str> {
    // Compiler-generated names may start with `<`: `<Main>b__0`.
    let Some((name, arguments)) = part
        .strip_suffix('>')
        .and_then(|part| part.split_once('<'))
        .filter(|(name, _)| !name.is_empty())
    else {
        return Ok((part, 0));
    };
    if arguments.trim().is_empty() {
        return Err("`<>` is empty");
    }
    Ok((name, split_outside(arguments, ',').len()))
}

/// Splits at the character outside of angle brackets.
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
