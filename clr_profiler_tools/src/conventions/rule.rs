//! Rules, with their expressions.

use std::fmt;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::rewrite::PathStep;

use super::checked::RuleText;
use super::expression::Expression;
use super::parse::{parse, parse_path};

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SpanKind {
    /// Work within the program.
    #[default]
    Internal,
    /// The answer to a request from outside.
    Server,
    /// A request to outside.
    Client,
    /// A message is sent.
    Producer,
    /// A message is handled.
    Consumer,
}

impl SpanKind {
    /// All of them, with their names in files.
    pub const ALL: [(&'static str, Self); 5] = [
        ("internal", Self::Internal),
        ("server", Self::Server),
        ("client", Self::Client),
        ("producer", Self::Producer),
        ("consumer", Self::Consumer),
    ];

    /// The kind with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }
}

impl fmt::Display for SpanKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.iter().find(|(_, kind)| kind == self);
        f.write_str(known.map_or("", |(name, _)| name))
    }
}

/// The span to which the calls of a method add, which have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddsTo {
    /// The first span of the trace, if it has this kind.
    First(SpanKind),
    /// The innermost span, of any kind.
    Innermost,
}

impl AddsTo {
    /// All of them, with their names in files.
    pub const ALL: [(&'static str, Self); 6] = [
        ("internal", Self::First(SpanKind::Internal)),
        ("server", Self::First(SpanKind::Server)),
        ("client", Self::First(SpanKind::Client)),
        ("producer", Self::First(SpanKind::Producer)),
        ("consumer", Self::First(SpanKind::Consumer)),
        ("innermost", Self::Innermost),
    ];
}

/// The status of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Not decided: an exception is no error either.
    Unset,
    /// The work was done.
    Ok,
    /// The work has failed.
    Error,
}

impl Status {
    /// All of them, with their names in files.
    pub const ALL: [(&'static str, Self); 3] = [
        ("unset", Self::Unset),
        ("ok", Self::Ok),
        ("error", Self::Error),
    ];
}

/// The type that an attribute gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A text.
    String,
    /// An integer.
    Int,
    /// A floating-point number.
    Double,
    /// `true` or `false`.
    Bool,
    /// A list of the different values of all calls that add to the span.
    List,
}

impl ValueType {
    /// All of them, with their names in files.
    pub const ALL: [(&'static str, Self); 5] = [
        ("string", Self::String),
        ("int", Self::Int),
        ("double", Self::Double),
        ("bool", Self::Bool),
        ("list", Self::List),
    ];
}

/// Where a path begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Root {
    /// The object whose method is called.
    This,
    /// An argument by its number from 0, without `this`.
    Argument(u16),
    /// An argument by the name of the parameter.
    Parameter(String),
    /// The result; of a task, that of the task.
    Return,
}

/// A path to a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// Where it begins.
    pub root: Root,
    /// The members.
    pub steps: Vec<PathStep>,
    /// Whether it is read when the call ends.
    pub is_late: bool,
    /// Whether the different values of all calls are kept, and not only the last one.
    pub is_listed: bool,
    /// As the rule has it.
    pub text: String,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The type to which the value is converted.
    pub of: Option<ValueType>,
    /// The value.
    pub value: Expression,
}

/// A status under a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusRule {
    /// When it applies.
    pub condition: Expression,
    /// The status.
    pub code: Status,
    /// The description.
    pub description: Option<Expression>,
}

/// An object that carries the context of a request that a call makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Carrier {
    /// The object.
    pub into: Path,
    /// The method that tells whether there is a header, if there is one.
    pub has: Option<MethodSymbol>,
    /// The method that removes a header, if that has to be done first.
    pub remove: Option<MethodSymbol>,
    /// The method that adds a header.
    pub set: MethodSymbol,
}

/// The context of the request that a call answers: texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The value of `traceparent`.
    pub parent: Path,
    /// The value of `tracestate`.
    pub state: Option<Path>,
}

/// A rule for the spans of some methods.
#[derive(Debug)]
pub struct Rule {
    /// The texts.
    pub text: RuleText,
    /// The methods, whose counts grow as they are looked up.
    pub methods: MethodPatterns,
    /// The kind of the spans.
    pub kind: SpanKind,
    /// The calls have no spans of their own: the attributes belong to this one.
    pub adds_to: Option<AddsTo>,
    /// The name of the spans, instead of that of the method.
    pub name: Option<Expression>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The first one whose condition is true decides the status.
    pub statuses: Vec<StatusRule>,
    /// Where the context of the span is passed on.
    pub inject: Option<Carrier>,
    /// Where the context of the caller is.
    pub extract: Option<Context>,
    /// The paths of all expressions.
    pub paths: Vec<Path>,
}

/// A mistake in a text of a rule, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The place in the rule, such as `attributes.db.query.text`.
    pub place: String,
    /// The line from 1, within a text of several lines.
    pub line: usize,
    /// The column from 1.
    pub column: usize,
    /// The mistake.
    pub problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place,
            column,
            problem,
            ..
        } = self;
        write!(f, "{place}, column {column}: {problem}")
    }
}

impl std::error::Error for Mistake {}

fn at(place: &str) -> impl Fn((usize, String)) -> Mistake {
    move |(column, problem)| Mistake {
        place: place.to_owned(),
        line: 1,
        column,
        problem,
    }
}

fn named<T: Copy>(place: &str, name: &str, all: &[(&'static str, T)]) -> Result<T, Mistake> {
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        at(place)((1, format!("`{name}` is none of {}", known.join(", "))))
    })
}

/// `bool Contains(string)`.
fn method(place: &str, text: &str) -> Result<MethodSymbol, Mistake> {
    let example = "write a method as `bool Contains(string)`";
    let wrong = || at(place)((1, example.to_owned()));
    let (before, parameters) = text.split_once('(').ok_or_else(wrong)?;
    let (result, name) = before.trim().rsplit_once(' ').ok_or_else(wrong)?;
    let signature = format!("instance {result} ({parameters}");
    let symbol = MethodSymbol::new("[corelib]System.Object", name, &signature);
    match parameters.ends_with(')') && symbol.check().is_ok() {
        true => Ok(symbol),
        false => Err(wrong()),
    }
}

/// Marks the path of which an attribute lists the values.
fn list(attribute: &Attribute, adds: bool, paths: &mut [Path]) -> Result<(), Mistake> {
    let fail =
        |problem: &str| at(&format!("attributes.{}", attribute.name))((1, problem.to_owned()));
    if !adds {
        return Err(fail(
            "a list has values of several calls: the rule needs `adds_to`",
        ));
    }
    let [number] = attribute.value.paths()[..] else {
        return Err(fail("the expression of a list has one path"));
    };
    if let Some(path) = paths.get_mut(number) {
        path.is_listed = true;
    }
    Ok(())
}

impl Rule {
    /// Reads the texts of a rule.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn read(text: RuleText) -> Result<Self, Mistake> {
        let methods = MethodPatterns::parse(&text.methods).map_err(|error| Mistake {
            place: "methods".to_owned(),
            line: error.line(),
            column: error.column(),
            problem: error.kind().to_string(),
        })?;
        if methods.is_empty() {
            return Err(at("methods")((1, "no pattern selects a method".to_owned())));
        }
        let mut paths: Vec<Path> = Vec::new();
        let mut expression = |place: &str, text: &str| parse(text, &mut paths).map_err(at(place));
        let name = text.name.as_deref();
        let name = name.map(|name| expression("name", name)).transpose()?;
        let mut attributes = Vec::new();
        for (name, of, value) in &text.attributes {
            let place = format!("attributes.{name}");
            attributes.push(Attribute {
                name: name.clone(),
                of: match of {
                    Some(of) => Some(named(&place, of, &ValueType::ALL)?),
                    None => None,
                },
                value: expression(&place, value)?,
            });
        }
        let mut statuses = Vec::new();
        for (number, (code, condition, description)) in text.statuses.iter().enumerate() {
            let place = format!("status.{number}");
            statuses.push(StatusRule {
                condition: expression(&place, condition)?,
                code: named(&place, code, &Status::ALL)?,
                description: match description {
                    Some(text) => Some(expression(&format!("status.{number}.description"), text)?),
                    None => None,
                },
            });
        }
        for attribute in attributes
            .iter()
            .filter(|it| it.of == Some(ValueType::List))
        {
            list(attribute, text.adds_to.is_some(), &mut paths)?;
        }
        let path = |place: &str, text: &str| parse_path(text).map_err(at(place));
        let inject = match &text.inject {
            Some([into, has, remove, set]) => Some(Carrier {
                into: path("inject.into", into)?,
                has: (!has.is_empty())
                    .then(|| method("inject.has", has))
                    .transpose()?,
                remove: (!remove.is_empty())
                    .then(|| method("inject.remove", remove))
                    .transpose()?,
                set: method("inject.set", set)?,
            }),
            None => None,
        };
        let extract = match &text.extract {
            Some([parent, state]) => Some(Context {
                parent: path("extract.parent", parent)?,
                state: (!state.is_empty())
                    .then(|| path("extract.state", state))
                    .transpose()?,
            }),
            None => None,
        };
        Ok(Self {
            kind: match &text.kind {
                Some(kind) => named("kind", kind, &SpanKind::ALL)?,
                None => SpanKind::Internal,
            },
            adds_to: match &text.adds_to {
                Some(span) => Some(named("adds_to", span, &AddsTo::ALL)?),
                None => None,
            },
            methods,
            name,
            attributes,
            statuses,
            inject,
            extract,
            paths,
            text,
        })
    }
}
