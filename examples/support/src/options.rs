//! The command line of an example: its own options, then the program and the program's arguments.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// An example: a profiler with a command line.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The name of the example and of its library's crate.
    pub name: &'static str,
    /// Its purpose, one line for `--help`.
    pub about: &'static str,
    /// The CLSID of its profiler.
    pub clsid: &'static str,
    /// Its options.
    pub options: &'static [ExampleOption],
}

/// An option of an example. The profiler, which runs in another program, gets it as an environment
/// variable.
#[derive(Debug, Clone, Copy)]
pub struct ExampleOption {
    /// The option with its dashes, such as `--output`.
    pub name: &'static str,
    /// The value after it.
    pub takes: Takes,
    /// The variable that passes it.
    pub variable: &'static str,
    /// Its effect, one line for `--help`.
    pub help: &'static str,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: the variable becomes `1`.
    Nothing,
    /// Any text; with its name for `--help`.
    Text(&'static str),
    /// A path, passed as an absolute one; with its name for `--help`.
    Path(&'static str),
    /// The path of a file that the profiler appends to, passed as an absolute one; the runner
    /// removes it first. With its name for `--help`.
    Output(&'static str),
    /// As `Output`, with the file in the current folder that is written without the option: first
    /// its name for `--help`, then that file.
    Results(&'static str, &'static str),
}

impl Takes {
    /// The name of the value, if there is one.
    fn value(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Text(what) | Self::Path(what) | Self::Output(what) | Self::Results(what, _) => {
                Some(what)
            }
        }
    }
}

/// The request of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `--help`.
    Help,
    /// To run a program.
    Run {
        /// The variables of the options that were given, in order.
        variables: Vec<(&'static str, OsString)>,
        /// The program; `None` for the bundled sample.
        program: Option<PathBuf>,
        /// The program's arguments.
        arguments: Vec<OsString>,
    },
}

/// An invalid command line, with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

impl Example {
    /// Parses the arguments that follow the executable's name.
    ///
    /// The options end with the first argument that is not one, which is the program, or with `--`,
    /// after which the program follows. The arguments after the program are the program's.
    ///
    /// # Errors
    ///
    /// An unknown option, or one with a value missing or too many.
    pub fn parse(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Request, UsageError> {
        let mut arguments = arguments.into_iter();
        let mut variables = Vec::new();
        let program = loop {
            let Some(argument) = arguments.next() else {
                break None;
            };
            if argument == "--" {
                break arguments.next();
            }
            let text = argument.to_string_lossy();
            if !text.starts_with('-') || text == "-" {
                break Some(argument);
            }
            let (name, attached) = split(&argument);
            let name = name.to_string_lossy();
            if name == "--help" || name == "-h" {
                return Ok(Request::Help);
            }
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(UsageError(self.unknown(&name)));
            };
            let value = match (option.takes.value(), attached) {
                (None, None) => "1".into(),
                (None, Some(_)) => {
                    return Err(UsageError(format!("The option `{name}` takes no value.")));
                }
                (Some(what), attached) => match attached.or_else(|| arguments.next()) {
                    Some(value) if !value.is_empty() => value,
                    _ => {
                        return Err(UsageError(format!(
                            "The option `{name}` needs a value: `{name} {what}`."
                        )));
                    }
                },
            };
            let value = match option.takes {
                // The program may start in another folder.
                Takes::Path(_) | Takes::Output(_) | Takes::Results(..) => absolute(value),
                Takes::Nothing | Takes::Text(_) => value,
            };
            variables.push((option.variable, value));
        };
        for option in self.options {
            if let Takes::Results(_, file) = option.takes
                && !variables.iter().any(|(name, _)| *name == option.variable)
            {
                variables.push((option.variable, absolute(file.into())));
            }
        }
        let program = program.map(PathBuf::from);
        Ok(Request::Run {
            variables,
            program,
            arguments: arguments.collect(),
        })
    }

    /// The file of the results, if the variables name one.
    pub(crate) fn results<'a>(&self, variables: &'a [(&str, OsString)]) -> Option<&'a OsStr> {
        let takes_results = |name: &str| {
            self.options
                .iter()
                .any(|option| option.variable == name && matches!(option.takes, Takes::Results(..)))
        };
        let named = variables.iter().rev().find(|(name, _)| takes_results(name));
        named.map(|(_, file)| file.as_os_str())
    }

    /// Whether the variable names a file that is emptied first.
    pub(crate) fn is_output(&self, variable: &str) -> bool {
        self.options.iter().any(|option| {
            let is_file = matches!(option.takes, Takes::Output(_) | Takes::Results(..));
            is_file && option.variable == variable
        })
    }

    /// The text of `--help`.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut rows: Vec<(String, &str)> = self
            .options
            .iter()
            .map(|option| match option.takes.value() {
                None => (option.name.to_owned(), option.help),
                Some(what) => (format!("{} {what}", option.name), option.help),
            })
            .collect();
        rows.push(("--help".to_owned(), "print this text"));
        let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or(0);
        let rows: String = rows
            .iter()
            .map(|(left, right)| format!("  {left:width$}  {right}\n"))
            .collect();
        format!(
            "{about}\n\n\
             usage: cargo run --example {name} -- [options] [path/to/App.dll [arguments]]\n\n\
             The program is an assembly or a native .NET executable; without one, a bundled\n\
             sample program runs. Its streams and its exit code are its own.\n\n\
             options:\n{rows}",
            about = self.about,
            name = self.name,
        )
    }

    fn unknown(&self, name: &str) -> String {
        let known = self
            .options
            .iter()
            .map(|option| option.name)
            .chain(["--help"]);
        let nearest = known
            .map(|known| (distance(name, known), known))
            .filter(|(distance, known)| *distance <= known.len() / 3)
            .min();
        match nearest {
            Some((_, known)) => {
                format!("There is no option `{name}`. Did you mean `{known}`?")
            }
            None => format!("There is no option `{name}`. `--help` lists the options."),
        }
    }
}

/// The path as an absolute one, if there is one.
fn absolute(path: OsString) -> OsString {
    std::path::absolute(&path).map_or(path, OsString::from)
}

/// Splits `--name=value`; an argument that is not UTF-8 is split only if its name is.
fn split(argument: &OsStr) -> (OsString, Option<OsString>) {
    let bytes = argument.as_encoded_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(equals) => match argument.to_str() {
            Some(text) => (text[..equals].into(), Some(text[equals + 1..].into())),
            None => split_bytes(argument, equals),
        },
        None => (argument.to_owned(), None),
    }
}

#[cfg(unix)]
fn split_bytes(argument: &OsStr, equals: usize) -> (OsString, Option<OsString>) {
    use std::os::unix::ffi::OsStrExt;
    let (name, value) = argument.as_bytes().split_at(equals);
    (
        OsStr::from_bytes(name).into(),
        Some(OsStr::from_bytes(&value[1..]).into()),
    )
}

#[cfg(not(unix))]
fn split_bytes(argument: &OsStr, _equals: usize) -> (OsString, Option<OsString>) {
    (argument.to_owned(), None)
}

/// How many characters must be inserted, removed or replaced to get from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, left) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Example = Example {
        name: "logger",
        about: "Logs.",
        clsid: "DF63A541-5A33-4611-8829-F4E495985EE3",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Output("FILE"),
                variable: "LOGGER_OUTPUT",
                help: "write there",
            },
            ExampleOption {
                name: "--filter",
                takes: Takes::Text("TEXT"),
                variable: "LOGGER_FILTER",
                help: "only these",
            },
            ExampleOption {
                name: "--summary",
                takes: Takes::Nothing,
                variable: "LOGGER_SUMMARY",
                help: "count",
            },
        ],
    };

    fn parse(arguments: &[&str]) -> Result<Request, UsageError> {
        EXAMPLE.parse(arguments.iter().map(OsString::from))
    }

    fn run(
        variables: &[(&'static str, &str)],
        program: Option<&str>,
        arguments: &[&str],
    ) -> Request {
        Request::Run {
            variables: variables
                .iter()
                .map(|(name, value)| (*name, value.into()))
                .collect(),
            program: program.map(PathBuf::from),
            arguments: arguments.iter().map(OsString::from).collect(),
        }
    }

    #[test]
    fn options_end_where_the_program_begins() {
        let here = std::env::current_dir().unwrap();
        let file = here.join("out put.txt");
        let file = file.to_str().unwrap();
        for (arguments, expected) in [
            (&[][..], run(&[], None, &[])),
            (&["--summary"], run(&[("LOGGER_SUMMARY", "1")], None, &[])),
            (&["App.dll"], run(&[], Some("App.dll"), &[])),
            (
                &["App.dll", "--summary", "--"],
                run(&[], Some("App.dll"), &["--summary", "--"]),
            ),
            (
                &["--", "--summary", "-x"],
                run(&[], Some("--summary"), &["-x"]),
            ),
            (&["--"], run(&[], None, &[])),
            (
                &["--filter", "--summary", "App.dll", "", "a b"],
                run(
                    &[("LOGGER_FILTER", "--summary")],
                    Some("App.dll"),
                    &["", "a b"],
                ),
            ),
            (
                &["--filter=a=b", "--output", "out put.txt", "--summary", "x"],
                run(
                    &[
                        ("LOGGER_FILTER", "a=b"),
                        ("LOGGER_OUTPUT", file),
                        ("LOGGER_SUMMARY", "1"),
                    ],
                    Some("x"),
                    &[],
                ),
            ),
            (
                &["--output=/a/b", "x"],
                run(&[("LOGGER_OUTPUT", "/a/b")], Some("x"), &[]),
            ),
            (&["--summary", "--help", "x"], Request::Help),
            (&["-h"], Request::Help),
        ] {
            assert_eq!(parse(arguments).unwrap(), expected, "{arguments:?}");
        }
    }

    #[test]
    fn results_have_a_file_without_the_option() {
        let example = Example {
            options: &[ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "table.txt"),
                variable: "TABLE_OUTPUT",
                help: "write there",
            }],
            ..EXAMPLE
        };
        let here = std::env::current_dir().unwrap();
        for (arguments, file) in [
            (&["x"][..], here.join("table.txt")),
            (&["--output", "other", "x"], here.join("other")),
            (&["--output=/dev/stderr", "x"], "/dev/stderr".into()),
        ] {
            let request = example.parse(arguments.iter().map(OsString::from)).unwrap();
            let Request::Run { variables, .. } = &request else {
                panic!("{request:?}");
            };
            assert_eq!(example.results(variables), Some(file.as_os_str()));
            assert!(example.is_output("TABLE_OUTPUT"));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, part) in [
            (
                &["--sumary"][..],
                "no option `--sumary`. Did you mean `--summary`?",
            ),
            (&["--ouput=x"], "Did you mean `--output`?"),
            (&["--hlep"], "Did you mean `--help`?"),
            (&["--frobnicate"], "`--help` lists the options."),
            (&["-x"], "no option `-x`"),
            (&["--summary=1"], "`--summary` takes no value"),
            (&["--filter"], "`--filter TEXT`"),
            (&["--output", ""], "`--output FILE`"),
        ] {
            let error = parse(arguments).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let usage = EXAMPLE.usage();
        for part in [
            "--example logger",
            "--output FILE  write there",
            "--summary      count",
        ] {
            assert!(usage.contains(part), "{usage}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn values_need_not_be_unicode() {
        use std::os::unix::ffi::OsStrExt;
        let odd = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        let request = EXAMPLE.parse([odd(b"--filter=\xff"), odd(b"\xfe.dll"), odd(b"\xfd")]);
        let expected = Request::Run {
            variables: vec![("LOGGER_FILTER", odd(b"\xff"))],
            program: Some(odd(b"\xfe.dll").into()),
            arguments: vec![odd(b"\xfd")],
        };
        assert_eq!(request.unwrap(), expected);
    }
}
