//! Patterns for methods, in one syntax for all tools: `Shop!Shop.Store.Sell(string, *)`.
//!
//! ```
//! use clr_profiler_il::pattern::{MethodPattern, MethodPatterns};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sell = MethodPattern::parse("public Shop!Shop.Store.Sell(string, *)")?;
//! assert_eq!(sell.assembly(), Some("Shop"));
//!
//! // A list, with an exclusion. A bad pattern is an error with the column.
//! let patterns = MethodPatterns::parse("Shop!Shop.**; -**.ToString()")?;
//! assert_eq!(patterns.patterns().len(), 2);
//! let error = MethodPattern::parse("Shop!Shop.Store.Sell(string").unwrap_err();
//! assert_eq!(error.to_string(), "column 28: `)` is missing");
//! # Ok(())
//! # }
//! ```
//!
//! # Grammar
//!
//! ```text
//! list       = { pattern ( ";" | newline ) }            // "#" starts a comment
//! pattern    = [ "-" ] { word } { attribute } [ assembly "!" ] path [ arguments ]
//!              [ "(" [ item { "," item } ] ")" ] [ ":" type { "," type } ]
//! word       = "public" | "internal" | "protected" | "private" | "protected internal"
//!            | "private protected" | "generated"
//! attribute  = "[" [ ( "method" | "type" | "assembly" ) ":" ] type "]"
//! path       = segment { ( "." | "+" ) segment }        // the last one is the method
//! item       = "**" | type
//! type       = [ "ref" | "out" | "in" ] ( "*" | keyword | path [ arguments ] ) { suffix }
//! arguments  = "<" item { "," item } ">" | "`" number
//! suffix     = "[" { "," } "]" | "&" | "*" | "?"
//! ```
//!
//! Everything that is omitted matches anything: `Shop.Store.Sell` has all overloads in all assemblies, and
//! `Shop.Cart.Add` is also ``Shop.Cart`1.Add`` in all of its instances. All that is written must be true.
//!
//! | Part | Examples |
//! |---|---|
//! | assembly, its simple name | `Shop!`, `Shop.*!` |
//! | namespace, type, nested types, method | `Shop.Store.Sell`, `Shop.Store+Line.Add` |
//! | constructors | `Shop.Store..ctor`, `Shop.Store..cctor` |
//! | accessors, by their names in metadata | `Shop.Store.get_Count`, `Shop.Store.add_Changed` |
//! | generic types and methods | `Shop.Cart<T>.Add`, `Shop.Cart<*>.Map<**>`, ``Shop.Cart`1.Add`` |
//! | an instance | `Shop.Cart<int>.Add` |
//! | parameters | `()`, `(string, *)`, `(ref int, **)`, `(System.Collections.Generic.List<*>)` |
//! | accessibility, as declared in C# | `public Shop.**`, `protected internal Shop.**` |
//! | custom attribute of the method, the type, the assembly | `[Shop.Traced] **`, `[type: **.Traced] **` |
//! | base type or interface of the type | `Shop.**.Dispose() : System.IDisposable` |
//! | methods made by the compiler | `Shop.Program.<Main>*`, `generated Shop.**` |
//! | exclusion, in a list | `- Shop.**.ToString` |
//!
//! ## Wildcards
//!
//! A segment is a part of a namespace, a type, or a method. `*` is any text within a segment, `**` as a whole
//! segment any number of segments, also none: `Shop.*.Sell` has the types of the namespace `Shop`, and
//! `Shop.**.Sell` also those of namespaces in it, and nested types. `**` at the end is any method of such
//! types: `Shop.**`, or `**` alone. The name of an assembly or a method is one segment, also if it contains
//! dots: `Shop.Store.*Dispose` has `Shop.Store.System.IDisposable.Dispose`, an explicit implementation.
//! As an item of a list, `*` is any type and `**` any number of types.
//!
//! As the wildcards of a shell do not match names that begin with a dot, those of a pattern do not match
//! names that the compiler has made, which begin with `<`: `<Sell>b__0`, `<>c__DisplayClass0_0`, `<Module>`.
//! Only a segment that begins with `<` itself does (`<*>*`). There are two exceptions: `<Main>$`, the entry
//! of a program of top-level statements, is an ordinary name; and the wildcards of an exclusion match all
//! names. `generated` selects only methods that have such a name, or are in such a type, and its wildcards
//! match them.
//!
//! ## Names
//!
//! Names are compared exactly, with case. A part with one of the characters ``!.+<>()[],:;#*&?`/`` or white
//! space, or a name that is a word of this syntax, is written in single quotes, in which `\` quotes
//! the next character: `Shop.Store.'System.IDisposable.Dispose'`. Names that begin with `<` need no quotes: the
//! text up to the closing `>` is a part of the name.
//!
//! ## Types
//!
//! Types have their full names, without assembly. C# keywords name the types of the core
//! library (`string` is `System.String`, `nint` is `System.IntPtr`), `int?` is `System.Nullable<int>`, and
//! `ref`, `out` and `in` are `&`. After a keyword, an argument list or a space, `*` is a pointer (`int*`,
//! `Shop.Point *`), otherwise a wildcard. The name of an attribute may omit its end `Attribute`.
//!
//! A generic argument matches the argument of the instance or the name of the parameter: `Shop.Cart<T>` is
//! any instance of a type that is declared as `Cart<T>`, and `Shop.Cart<*>` of any with one parameter. So does a parameter
//! of a generic type: `Add(T)` and, in `Cart<int>`, `Add(int)`. Code that instances share has no known
//! arguments: instances over reference types match only by the names of parameters.
//!
//! # Evaluation
//!
//! A pattern asks [`MethodFacts`], and in the order of the cost of the facts: the names of assembly, type and
//! method; the accessibility; the parameters; generic arguments; attributes; base types and interfaces. A fact is
//! asked only if all cheaper ones match, and at most once for a method.
//!
//! [`MethodPatterns`] compiles a list. For each pattern it chooses a part that few others share: the whole
//! name, the type, the method, or the literal start or end of one of them. Their hashes are the keys of a table,
//! so that the cost of a method depends on the patterns that share a part with it, not on all.
//! It counts the methods that each pattern has matched, without a lock:
//! [`unmatched`](MethodPatterns::unmatched) are probably mistakes.

mod assemblies;
mod error;
mod evaluate;
mod facts;
mod glob;
mod index;
mod parse;
mod path;
mod scan;
mod set;
#[cfg(test)]
mod tests;
mod types;

pub use error::{PatternError, PatternErrorKind};
pub use evaluate::is_generated;
pub use facts::{AttributeOwner, GenericOwner, MethodFacts};
pub use set::{Matched, MethodPatterns};

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::attributes::MemberAccess;
use glob::Glob;
use path::TypePath;
use types::{ListItem, TypePattern};

/// A pattern for methods, such as `Shop!Shop.Store.Sell(string, *)`.
///
/// The [module](self) describes the syntax. Two patterns are equal if their texts are.
///
/// ```
/// use clr_profiler_il::pattern::MethodPattern;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pattern: MethodPattern = "[type: Shop.Traced] Shop!Shop.**".parse()?;
/// assert_eq!(pattern.to_string(), "[type: Shop.Traced] Shop!Shop.**");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MethodPattern {
    text: Box<str>,
    is_exclusion: bool,
    is_generated: bool,
    access: Option<MemberAccess>,
    attributes: Vec<(AttributeOwner, TypePattern)>,
    assembly: Option<(Box<str>, Glob)>,
    class: TypePath,
    method: Glob,
    method_arguments: Option<Vec<ListItem>>,
    parameters: Option<Vec<ListItem>>,
    bases: Vec<TypePattern>,
}

impl MethodPattern {
    /// Reads a pattern that is not an exclusion.
    ///
    /// # Errors
    ///
    /// The first violation of the syntax, with its column.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parse::one(text)
    }

    /// The part of the text that names the assembly, if there is one.
    #[must_use]
    pub fn assembly(&self) -> Option<&str> {
        self.assembly.as_ref().map(|(text, _)| &**text)
    }

    /// Whether it matches all methods of a type, but for those whose names the compiler has made, or none.
    fn is_of_types(&self) -> bool {
        let of_method =
            |(owner, _): &(AttributeOwner, TypePattern)| *owner == AttributeOwner::Method;
        self.method.is_any()
            && self.access.is_none()
            && self.parameters.is_none()
            && self.method_arguments.is_none()
            && self.class.arguments.is_none()
            && !self.attributes.iter().any(of_method)
    }

    /// Whether methods of this assembly can match.
    #[must_use]
    pub fn matches_assembly(&self, name: &str) -> bool {
        let assembly = self.assembly.as_ref();
        assembly.is_none_or(|(_, glob)| glob.matches(name))
    }

    /// Whether methods of this type can match, by its name in the form of the metadata: ``Shop.Cart`1+Line``.
    #[must_use]
    pub fn matches_type(&self, path: &str) -> bool {
        let all = self.is_exclusion || self.is_generated;
        self.class.names(&path::parts(path), all)
    }

    /// The name of the type alone, if the pattern has it without wildcards: only types with this
    /// [`own_name`] can match.
    #[must_use]
    pub fn type_name(&self) -> Option<&str> {
        self.class.last_name()
    }

    /// Whether it selects all methods of each assembly that it [reaches](Self::matches_assembly), except those that the
    /// compiler has made: `Shop!**`.
    ///
    /// ```
    /// use clr_profiler_il::pattern::MethodPattern;
    ///
    /// # fn main() -> Result<(), clr_profiler_il::pattern::PatternError> {
    /// assert!(MethodPattern::parse("Shop!**")?.selects_all());
    /// assert!(!MethodPattern::parse("Shop!Cart.**")?.selects_all());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn selects_all(&self) -> bool {
        !self.is_generated && self.is_unconditional()
    }

    /// Whether it selects all methods that the compiler has made, of each assembly that it [reaches](Self::matches_assembly):
    /// `generated Shop!**`.
    #[must_use]
    pub fn selects_all_generated(&self) -> bool {
        self.is_generated && self.is_unconditional()
    }

    fn is_unconditional(&self) -> bool {
        let is_conditional = self.is_exclusion
            || self.access.is_some()
            || !self.attributes.is_empty()
            || self.class.arguments.is_some()
            || self.method_arguments.is_some()
            || self.parameters.is_some()
            || !self.bases.is_empty();
        !is_conditional && self.class.is_any() && self.method.is_any()
    }

    /// Whether it excludes methods from a list.
    #[must_use]
    pub fn is_exclusion(&self) -> bool {
        self.is_exclusion
    }

    /// Whether a method matches. For many patterns, [`MethodPatterns`] is faster.
    ///
    /// # Errors
    ///
    /// Those of the facts.
    pub fn matches<F: MethodFacts + ?Sized>(&self, method: &F) -> Result<bool, F::Error> {
        let class = method.type_path()?;
        let name = method.method_name()?;
        self.is_met(&evaluate::Subject::new(method, &class, &name))
    }
}

/// The name of a type without its namespace, the types around it and the number of generic parameters: `Line` of
/// ``Shop.Cart`1+Line``.
#[must_use]
pub fn own_name(path: &str) -> &str {
    path::parts(path).last().map_or("", |part| part.name)
}

impl FromStr for MethodPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for MethodPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for MethodPattern {}

impl PartialOrd for MethodPattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MethodPattern {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for MethodPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}
