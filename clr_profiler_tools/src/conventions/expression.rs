//! Expressions: a subset of CEL, the Common Expression Language.
//!
//! | | |
//! |---|---|
//! | literals | `"text"`, `'text'`, `12`, `0.5`, `true`, `false`, `null`, `["a", "b"]` |
//! | paths | `order`, `arguments[0]`, `this` or `instance`, `return`; then `.Member`, `.Getter()`, `["key"]`, `[0]`, `.as(Assembly!Type)` |
//! | facts | `method` and `type`, names; `exception`, the type of the exception that has ended the call; `attribute("name")` |
//! | operators | `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `\|\|`, `!`, `+`, `? :` |
//! | functions | `concat`, `coalesce`, `substring`, `string`, `int`, `double`, `size`, `startsWith`, `endsWith`, `contains` |
//! | older | `$arg1`, `$instance`, `$return`, `$method`, `$type`; `tostring`, `equals`, `notequals`, `isnull`, `isnotnull` |
//! | when | `end(path)`: the path is read when the call ends, as all paths that start at `return` are |

use super::value::Value;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Expression {
    /// A constant.
    Literal(Value),
    /// The value of a path of the rule, by its index.
    Path(usize),
    /// The name of the method.
    Method,
    /// The name of the type that declares it.
    Type,
    /// The type of the exception that has ended the call.
    Exception,
    /// The value of an attribute before.
    Attribute(String),
    /// `!`.
    Not(Box<Expression>),
    /// An operator between two operands.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `? :`.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A function with its arguments.
    Call(Function, Vec<Expression>),
    /// Values of one type.
    List(Vec<Expression>),
}

impl Expression {
    /// The indices of the paths in it, without repetitions.
    #[must_use]
    pub fn paths(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.add_paths(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn add_paths(&self, found: &mut Vec<usize>) {
        match self {
            Self::Path(number) => found.push(*number),
            Self::Not(of) => of.add_paths(found),
            Self::Binary(_, one, other) => [one, other].iter().for_each(|it| it.add_paths(found)),
            Self::If(of, one, other) => [of, one, other].iter().for_each(|it| it.add_paths(found)),
            Self::Call(_, all) | Self::List(all) => all.iter().for_each(|it| it.add_paths(found)),
            Self::Literal(_) | Self::Method | Self::Type | Self::Exception | Self::Attribute(_) => {
            }
        }
    }
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operator {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `+`, of numbers or texts.
    Plus,
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// The texts of all arguments together.
    Concat,
    /// The first argument that is not null.
    Coalesce,
    /// A part of a text: from an index, of a length.
    Substring,
    /// The text of a value.
    String,
    /// A number as an integer.
    Int,
    /// A number as a floating-point number.
    Double,
    /// The number of characters of a text, or of elements.
    Size,
    /// Whether a text starts with another one.
    StartsWith,
    /// Whether a text ends with another one.
    EndsWith,
    /// Whether a text contains another one.
    Contains,
}

/// The functions with their names, and the least and the greatest number of arguments.
pub const FUNCTIONS: [(&str, Function, usize, usize); 10] = [
    ("concat", Function::Concat, 1, usize::MAX),
    ("coalesce", Function::Coalesce, 1, usize::MAX),
    ("substring", Function::Substring, 2, 3),
    ("string", Function::String, 1, 1),
    ("int", Function::Int, 1, 1),
    ("double", Function::Double, 1, 1),
    ("size", Function::Size, 1, 1),
    ("startsWith", Function::StartsWith, 2, 2),
    ("endsWith", Function::EndsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
];
