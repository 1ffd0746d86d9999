use std::error::Error;
use std::fmt;

use crate::messages::messages;

/// A violation of the syntax of patterns, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    kind: PatternErrorKind,
    line: Option<usize>,
    column: usize,
}

messages! {
    /// The violation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum PatternErrorKind {
        /// There is no pattern.
        Empty => "there is no pattern";
        /// A text ends within a construct.
        Missing(what: char) => "`{what}` is missing";
        /// A character that may not follow here.
        Unexpected(found: char) => "`{found}` may not follow here: a name with this character is written in single quotes";
        /// There is no name where one must be.
        NoName => "a name is missing";
        /// Only one segment.
        NoType => "a method without its type: write `Namespace.Type.Method`, or `**.Method` for any type";
        /// A nested type is the last segment.
        NoMethod => "a nested type without a method: write `.*` after it for all of its methods";
        /// `*` as a whole path.
        LoneWildcard => "`*` is one segment: write `**` for all methods of all types";
        /// `**` next to other characters.
        PartialSegment => "`**` is a whole segment; within one, write `*`";
        /// `/` or `::`.
        Separator => "nested types are written with `+`, methods with `.`";
        /// A name that only a method can have.
        SpecialName => "only a method begins with a dot, `.ctor` or `.cctor`, and it is the last segment";
        /// The old form of the assembly.
        AssemblyInBrackets => "square brackets contain an attribute, and a space follows them; an assembly is written `Assembly!`";
        /// A second accessibility.
        SecondAccess => "a pattern has one accessibility: write a pattern for each";
        /// A target of an attribute that cannot be matched.
        AttributeTarget => "the attribute of a `method`, `type` or `assembly` can be matched";
        /// An exclusion outside of a list.
        Exclusion => "an exclusion is a part of a list of patterns";
        /// The number after a backtick.
        Arity => "the number of generic parameters follows, up to 65535";
        /// Arguments of a segment that has arguments.
        SecondArguments => "a segment has one list of generic arguments";
        /// `?` after a type that cannot be null without it.
        Nullable => "`?` follows a value type: annotations of reference types are no part of a signature";
        /// Types in types in types.
        TooDeep => "types are nested too deep";
    }
}

impl PatternError {
    pub(super) fn new(kind: PatternErrorKind, line: Option<usize>, column: usize) -> Self {
        Self { kind, line, column }
    }

    /// The violation.
    #[must_use]
    pub fn kind(&self) -> PatternErrorKind {
        self.kind
    }

    /// The line, from 1 on; 1 for a pattern that is not in a list.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line.unwrap_or(1)
    }

    /// The number of the character in its line, from 1 on.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, line, column } = self;
        match line {
            Some(line) => write!(f, "line {line}, column {column}: {kind}"),
            None => write!(f, "column {column}: {kind}"),
        }
    }
}

impl Error for PatternError {}
