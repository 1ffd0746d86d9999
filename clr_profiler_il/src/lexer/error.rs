use std::error::Error;
use std::fmt;

/// The kind of an error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextErrorKind {
    /// Something other than the expected item.
    Expected {
        /// The expected item.
        expected: &'static str,
        /// The actual text: a few characters, empty at the end.
        found: Box<str>,
    },
    /// The [`TypeTokens`](crate::signature::TypeTokens) have no token for a type of this name.
    UnknownType(Box<str>),
    /// Types are nested deeper than this.
    TooDeep(usize),
    /// No instruction has this name.
    UnknownInstruction(Box<str>),
    /// An instruction has the same prefix twice (III.2).
    RepeatedPrefix(Box<str>),
    /// A label that is used but not defined.
    UndefinedLabel(Box<str>),
    /// A label that is defined twice.
    RepeatedLabel(Box<str>),
}

/// A text that cannot be parsed, and the position of the error.
///
/// ```
/// use clr_profiler_il::symbol::MethodSymbol;
///
/// let error = MethodSymbol::parse("void [System.Console]System.Console.WriteLine()").unwrap_err();
/// assert_eq!((error.line(), error.column()), (1, 46));
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 46: expected `::` between a type and its member, found `()`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Boxed to stay small, because every step of the recursion holds a result.
    problem: Box<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    kind: TextErrorKind,
    offset: usize,
    line: usize,
    column: usize,
}

impl TextError {
    #[cold]
    pub(crate) fn new(kind: TextErrorKind, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let last_line = before.rsplit('\n').next().unwrap_or("");
        let problem = Problem {
            kind,
            offset,
            line: before.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
        };
        Self {
            problem: Box::new(problem),
        }
    }

    /// The kind of the error.
    #[must_use]
    pub const fn kind(&self) -> &TextErrorKind {
        &self.problem.kind
    }

    /// The offset of the error in bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.problem.offset
    }

    /// The line, counted from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.problem.line
    }

    /// The character in its line, counted from 1.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.problem.column
    }
}

impl fmt::Display for TextErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { expected, found } if found.is_empty() => {
                write!(f, "expected {expected}, found the end")
            }
            Self::Expected { expected, found } => {
                write!(f, "expected {expected}, found `{found}`")
            }
            Self::UnknownType(name) => write!(f, "there is no token for the type `{name}`"),
            Self::TooDeep(most) => write!(f, "types nested deeper than {most}"),
            Self::UnknownInstruction(name) => write!(f, "no instruction is named `{name}`"),
            Self::RepeatedPrefix(name) => write!(f, "the prefix `{name}` is repeated"),
            Self::UndefinedLabel(name) => write!(f, "the label `{name}` is not defined"),
            Self::RepeatedLabel(name) => write!(f, "the label `{name}` is defined twice"),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem {
            kind, line, column, ..
        } = &*self.problem;
        write!(f, "line {line}, column {column}: {kind}")
    }
}

impl Error for TextError {}
