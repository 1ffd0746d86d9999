//! The rules by which spans say more than the names of their methods, and the values that are read for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::store::{Outcome, Span, Spans};
use crate::conventions::{AddsTo, Details, Rule, SpanKind, Value};
use crate::report::lock;

/// The limit for the values of a span.
const VALUES: usize = 256;
/// The limit for the different values of a path in a list.
const LISTED: usize = 16;
/// A mark of the numbers of paths whose values are listed.
pub(crate) const IS_LISTED: u32 = 1 << 30;

/// The values that were read for a span.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// By the numbers of paths.
    values: Vec<(u32, Value)>,
    /// Other rules that add to the span, by their numbers.
    added: Vec<u32>,
}

impl Read {
    fn held_bytes(&self) -> usize {
        let values = self.values.iter().map(|(_, value)| value.held_bytes());
        size_of::<Self>() + size_of_val(self.values.as_slice()) + values.sum::<usize>()
    }
}

/// The rules, and the methods to which they apply.
#[derive(Debug, Default)]
pub(super) struct Said(Mutex<State>);

#[derive(Debug, Default, Clone)]
struct State {
    rules: Arc<Vec<Numbered>>,
    /// The number of the rule of each method.
    methods: HashMap<u32, u32>,
}

/// A rule, and the number of its first path.
#[derive(Debug)]
struct Numbered {
    rule: Arc<Rule>,
    first: u32,
}

impl Numbered {
    /// The values of its paths.
    fn values(&self, read: Option<&Read>) -> Vec<Value> {
        let mut values = vec![Value::Null; self.rule.paths.len()];
        for (number, value) in read.iter().flat_map(|read| &read.values) {
            let path = number & !IS_LISTED;
            let index = path.checked_sub(self.first).map(|index| index as usize);
            let Some(known) = index.and_then(|index| values.get_mut(index)) else {
                continue;
            };
            match known {
                Value::List(all) if number & IS_LISTED != 0 => all.push(value.clone()),
                _ if number & IS_LISTED != 0 => *known = Value::List(vec![value.clone()]),
                _ => *known = value.clone(),
            }
        }
        values
    }
}

impl Span {
    /// The memory of the things that it says.
    pub(crate) fn said_bytes(&self) -> usize {
        let details = self.details.as_ref().map_or(0, |details| {
            let attributes = details.attributes.iter();
            let texts = attributes.map(|(name, value)| name.len() + value.held_bytes());
            size_of::<Details>()
                + size_of_val(details.attributes.as_slice())
                + texts.sum::<usize>()
                + details.name.as_ref().map_or(0, String::len)
        });
        details + self.read.as_ref().map_or(0, |read| read.held_bytes())
    }
}

impl Spans {
    /// Has spans say more by these rules, in place of earlier ones. Returns the number of the first path of each.
    pub(crate) fn set_rules(&self, rules: &[Arc<Rule>]) -> Vec<u32> {
        let mut next = 0;
        let numbered = rules.iter().map(|rule| {
            let first = next;
            next += rule.paths.len() as u32;
            Numbered {
                rule: Arc::clone(rule),
                first,
            }
        });
        let numbered: Vec<Numbered> = numbered.collect();
        let firsts = numbered.iter().map(|rule| rule.first).collect();
        *lock(&self.said.0) = State {
            rules: Arc::new(numbered),
            methods: HashMap::new(),
        };
        firsts
    }

    /// The spans of a method follow this rule.
    pub(crate) fn apply_rule(&self, method: u32, rule: u32) {
        lock(&self.said.0).methods.insert(method, rule);
    }

    /// Adds the value of a path to an open span. The number of a path whose values are listed has the [mark](IS_LISTED).
    pub(crate) fn read(&self, id: u64, path: u32, value: Value) {
        let mut part = self.part(id);
        if let Some(span) = part.open.get_mut(&id) {
            let read = span.read.get_or_insert_default();
            let has_room = read.values.len() < VALUES;
            if path & IS_LISTED != 0 {
                let known = read.values.iter().filter(|(known, _)| *known == path);
                let is_new = known.clone().all(|(_, known)| *known != value);
                if is_new && has_room && known.count() < LISTED {
                    read.values.push((path, value));
                }
                return;
            }
            match read.values.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => *known = value,
                None if has_room => read.values.push((path, value)),
                None => {}
            }
        }
    }

    /// Another rule adds to an open span if that has the kind for it. Returns its id, or zero.
    pub(crate) fn add_rule(&self, id: u64, rule: u32) -> u64 {
        let state = lock(&self.said.0);
        let wanted = state
            .rules
            .get(rule as usize)
            .and_then(|it| it.rule.adds_to);
        let mut part = self.part(id);
        let Some(span) = part.open.get_mut(&id) else {
            return 0;
        };
        let own = state.methods.get(&span.method);
        let own = own.and_then(|own| state.rules.get(*own as usize));
        let kind = own.map_or(SpanKind::Internal, |own| own.rule.kind);
        let is_meant = match wanted {
            Some(AddsTo::First(wanted)) => wanted == kind,
            Some(AddsTo::Innermost) => true,
            None => false,
        };
        if !is_meant {
            return 0;
        }
        let read = span.read.get_or_insert_default();
        if !read.added.contains(&rule) && read.added.len() < VALUES {
            read.added.push(rule);
        }
        id
    }

    /// Evaluates the rules of spans.
    pub(super) fn add_details(&self, spans: &mut [Span]) {
        let state = lock(&self.said.0);
        if state.rules.is_empty() {
            return;
        }
        let State { rules, methods } = state.clone();
        drop(state);
        for span in spans {
            let own = methods.get(&span.method);
            let read = span.read.take();
            let added = read.iter().flat_map(|read| &read.added);
            let all = own.into_iter().chain(added);
            let all: Vec<&Numbered> = all.filter_map(|it| rules.get(*it as usize)).collect();
            let Some(first) = all.first() else {
                continue;
            };
            let name = self.name(span.method);
            let exception = match &span.outcome {
                Outcome::Threw(words) => words.split('\n').next(),
                // For whoever waits for the task.
                Outcome::Cancelled => Some("System.Threading.Tasks.TaskCanceledException"),
                _ => None,
            };
            let mut details = Details::default();
            if own.is_some() {
                details.kind = first.rule.kind;
            }
            for numbered in all {
                let values = numbered.values(read.as_deref());
                details.add(&numbered.rule, &values, parts(&name), exception);
            }
            span.details = Some(Box::new(details));
        }
    }
}

/// The type and the method of a full name.
fn parts(name: &str) -> (&str, &str) {
    let name = name.split('(').next().unwrap_or(name);
    let mut depth = 0;
    let dot = name.char_indices().rev().find(|(_, character)| {
        match character {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        depth == 0 && *character == '.'
    });
    let Some((at, _)) = dot else {
        return ("", name);
    };
    // `Shop.Store..ctor`
    match name.get(..at) {
        Some(class) if class.ends_with('.') => (
            class.trim_end_matches('.'),
            name.get(at..).unwrap_or_default(),
        ),
        class => (
            class.unwrap_or_default(),
            name.get(at + 1..).unwrap_or_default(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conventions::RuleText;

    #[test]
    fn names_have_two_parts() {
        for (name, expected) in [
            ("Shop.Store.Sell(string, A.B)", ("Shop.Store", "Sell")),
            ("Shop.Store..ctor()", ("Shop.Store", ".ctor")),
            (
                "Shop.Cart<A.B>.Add<C.D>(A.B)",
                ("Shop.Cart<A.B>", "Add<C.D>"),
            ),
            ("Main", ("", "Main")),
        ] {
            assert_eq!(parts(name), expected, "{name}");
        }
    }

    fn rule(text: RuleText) -> Arc<Rule> {
        let methods = "A.B".to_owned();
        Arc::new(Rule::read(RuleText { methods, ..text }).unwrap())
    }

    #[test]
    fn spans_say_what_was_read_for_them() {
        let attribute = |name: &str, value: &str| (name.to_owned(), None, value.to_owned());
        let own = rule(RuleText {
            kind: Some("server".to_owned()),
            name: Some("concat(method, \" \", order.Id)".to_owned()),
            attributes: vec![attribute("id", "order.Id"), attribute("none", "order.Name")],
            ..RuleText::default()
        });
        let added = rule(RuleText {
            adds_to: Some("server".to_owned()),
            attributes: vec![attribute("route", "arguments[1].Text")],
            statuses: vec![("error".to_owned(), "attribute(\"id\") > 6".to_owned(), None)],
            ..RuleText::default()
        });
        let spans = Spans::new();
        assert_eq!(spans.set_rules(&[own, added]), [0, 2]);
        let [method, other] = ["A.B(Order)", "A.C()"].map(|name| spans.number(name).unwrap());
        spans.apply_rule(method, 0);
        let first = spans.begin(method, 0, 0, String::new());
        let plain = spans.begin(other, first, first, String::new());
        assert_eq!(
            (spans.add_rule(plain, 1), spans.add_rule(first, 1)),
            (0, first)
        );
        spans.read(first, 0, Value::Int(6));
        spans.read(first, 0, Value::Int(7));
        spans.read(first, 2, Value::Text("/a".to_owned()));
        // No such span.
        spans.read(9999, 0, Value::Int(1));
        for id in [first, plain] {
            spans.end(id, Outcome::Returned, false);
        }
        let ended = spans.take();
        assert_eq!(ended[1].details, None);
        let details = ended[0].details.as_ref().unwrap();
        assert_eq!(details.kind, SpanKind::Server);
        assert_eq!(details.name.as_deref(), Some("B 7"));
        let expected = [
            ("id", Value::Int(7)),
            ("route", Value::Text("/a".to_owned())),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(details.attributes, expected);
        assert_eq!(
            details.status,
            Some((crate::conventions::Status::Error, String::new()))
        );
    }

    #[test]
    fn lists_have_the_different_values_of_calls_within_a_limit() {
        let listed = |name: &str, value: &str| {
            let list = Some("list".to_owned());
            (name.to_owned(), list, value.to_owned())
        };
        let added = rule(RuleText {
            adds_to: Some("innermost".to_owned()),
            attributes: vec![
                listed("ids", "id != 0 ? id : null"),
                listed("levels", "level"),
            ],
            ..RuleText::default()
        });
        let spans = Spans::new();
        assert_eq!(spans.set_rules(&[added]), [0]);
        let method = spans.number("A.B()").unwrap();
        let first = spans.begin(method, 0, 0, String::new());
        let second = spans.begin(method, first, first, String::new());
        let third = spans.begin(method, first, first, String::new());
        // Whatever its kind is, and whether it is the first one.
        assert_eq!(
            [first, second].map(|span| spans.add_rule(span, 0)),
            [first, second]
        );
        for number in [5, 0, 5, 7] {
            spans.read(first, IS_LISTED, Value::Int(number));
        }
        for number in 0..100 {
            spans.read(second, IS_LISTED | 1, Value::Int(number));
        }
        for id in [third, second, first] {
            spans.end(id, Outcome::Returned, false);
        }
        let ended = spans.take();
        let attributes = |id: u64| {
            let span = ended.iter().find(|span| span.id == id).unwrap();
            span.details
                .as_ref()
                .map(|details| details.attributes.clone())
        };
        let list = |all: std::ops::Range<i64>| Value::List(all.map(Value::Int).collect());
        let ids = Value::List(vec![Value::Int(5), Value::Int(7)]);
        assert_eq!(attributes(first), Some(vec![("ids".to_owned(), ids)]));
        assert_eq!(
            attributes(second),
            Some(vec![("levels".to_owned(), list(0..16))])
        );
        assert_eq!(attributes(third), None);
    }
}
