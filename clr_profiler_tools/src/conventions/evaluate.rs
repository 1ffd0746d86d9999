//! The values of expressions, and the details of spans.

use std::cmp::Ordering;

use super::expression::{Expression, Function, Operator};
use super::rule::{Rule, SpanKind, Status, ValueType};
use super::value::Value;

/// The facts about a call that expressions use.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The values of the paths of the rule.
    pub values: &'a [Value],
    /// The name of the method.
    pub method: &'a str,
    /// The name of the type that declares it.
    pub class: &'a str,
    /// The type of the exception that has ended the call.
    pub exception: Option<&'a str>,
    /// The attributes before.
    pub attributes: &'a [(String, Value)],
}

/// The details of a span.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Details {
    /// The name, instead of that of the method.
    pub name: Option<String>,
    /// The kind.
    pub kind: SpanKind,
    /// The attributes.
    pub attributes: Vec<(String, Value)>,
    /// The status, if a rule decides it, and its description.
    pub status: Option<(Status, String)>,
}

impl Details {
    /// Adds the name, the attributes and the status of a rule for a call.
    pub fn add(
        &mut self,
        rule: &Rule,
        values: &[Value],
        (class, method): (&str, &str),
        exception: Option<&str>,
    ) {
        for attribute in &rule.attributes {
            let scope = Scope {
                values,
                method,
                class,
                exception,
                attributes: &self.attributes,
            };
            let value = match attribute.of {
                Some(ValueType::List) => scope.listed(&attribute.value),
                _ => scope.value(&attribute.value),
            };
            let value = match attribute.of {
                None | Some(ValueType::List) => value,
                Some(ValueType::String) => value.to_text(),
                Some(ValueType::Int) => value.to_int(),
                Some(ValueType::Double) => value.to_float(),
                Some(ValueType::Bool) => match value {
                    Value::Bool(_) => value,
                    _ => Value::Null,
                },
            };
            if !value.is_null() {
                self.attributes.retain(|(name, _)| *name != attribute.name);
                self.attributes.push((attribute.name.clone(), value));
            }
        }
        let scope = Scope {
            values,
            method,
            class,
            exception,
            attributes: &self.attributes,
        };
        let name = rule.name.as_ref().map(|name| scope.value(name).to_string());
        let name = name.filter(|name| !name.trim().is_empty());
        let name = name.map(|name| name.trim().to_owned());
        let status = rule.statuses.iter().find(|status| {
            let condition = scope.value(&status.condition);
            condition.is_true()
        });
        let status = status.map(|status| {
            let description = status.description.as_ref();
            let description = description.map(|it| scope.value(it).to_string());
            (status.code, description.unwrap_or_default())
        });
        if name.is_some() {
            self.name = name;
        }
        if status.is_some() {
            self.status = status;
        }
    }
}

impl Scope<'_> {
    /// The value of an expression.
    #[must_use]
    pub fn value(&self, expression: &Expression) -> Value {
        match expression {
            Expression::Literal(value) => value.clone(),
            Expression::Path(number) => self.values.get(*number).cloned().unwrap_or_default(),
            Expression::Method => Value::Text(self.method.to_owned()),
            Expression::Type => Value::Text(self.class.to_owned()),
            Expression::Exception => self
                .exception
                .map_or(Value::Null, |name| Value::Text(name.to_owned())),
            Expression::Attribute(name) => {
                let found = self.attributes.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone()).unwrap_or_default()
            }
            Expression::Not(of) => match self.value(of) {
                Value::Bool(is) => Value::Bool(!is),
                _ => Value::Null,
            },
            Expression::Binary(operator, one, other) => self.binary(*operator, one, other),
            Expression::If(condition, one, other) => match self.value(condition).is_true() {
                true => self.value(one),
                false => self.value(other),
            },
            Expression::Call(function, arguments) => self.call(*function, arguments),
            Expression::List(all) => Value::List(all.iter().map(|one| self.value(one)).collect()),
        }
    }

    /// The values of an expression for each of the listed values of its path.
    fn listed(&self, expression: &Expression) -> Value {
        let [number] = expression.paths()[..] else {
            return Value::Null;
        };
        let Some(Value::List(all)) = self.values.get(number) else {
            return Value::Null;
        };
        let mut values = self.values.to_vec();
        let mut found = Vec::new();
        for one in all {
            if let Some(value) = values.get_mut(number) {
                *value = one.clone();
            }
            let scope = Scope {
                values: &values,
                ..*self
            };
            let value = scope.value(expression);
            if !value.is_null() && !found.contains(&value) {
                found.push(value);
            }
        }
        match found.is_empty() {
            true => Value::Null,
            false => Value::List(found),
        }
    }

    fn binary(&self, operator: Operator, one: &Expression, other: &Expression) -> Value {
        let left = self.value(one);
        match operator {
            Operator::And => return Value::Bool(left.is_true() && self.value(other).is_true()),
            Operator::Or => return Value::Bool(left.is_true() || self.value(other).is_true()),
            _ => {}
        }
        let right = self.value(other);
        let ordered = |is: fn(Ordering) -> bool| match left.compare(&right) {
            Some(order) => Value::Bool(is(order)),
            None => Value::Bool(false),
        };
        match operator {
            Operator::Equal => Value::Bool(left.equals(&right)),
            Operator::NotEqual => Value::Bool(!left.equals(&right)),
            Operator::Less => ordered(Ordering::is_lt),
            Operator::LessOrEqual => ordered(Ordering::is_le),
            Operator::Greater => ordered(Ordering::is_gt),
            Operator::GreaterOrEqual => ordered(Ordering::is_ge),
            Operator::Plus => plus(&left, &right),
            Operator::And | Operator::Or => Value::Null,
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> Value {
        let argument = |number: usize| {
            let argument = arguments.get(number);
            argument.map(|it| self.value(it)).unwrap_or_default()
        };
        match function {
            Function::Concat => {
                let all = arguments.iter().map(|it| self.value(it).to_string());
                Value::Text(all.collect())
            }
            Function::Coalesce => {
                let mut all = arguments.iter().map(|it| self.value(it));
                all.find(|value| !value.is_null()).unwrap_or_default()
            }
            Function::Substring => substring(
                &argument(0),
                &argument(1),
                arguments.get(2).map(|_| argument(2)),
            ),
            Function::String => argument(0).to_text(),
            Function::Int => argument(0).to_int(),
            Function::Double => argument(0).to_float(),
            Function::Size => match argument(0) {
                Value::Text(text) | Value::Named(_, text) => {
                    Value::Int(text.encode_utf16().count() as i64)
                }
                Value::List(all) => Value::Int(all.len() as i64),
                // The path has led to the number.
                Value::Int(number) => Value::Int(number),
                _ => Value::Null,
            },
            Function::StartsWith => of_texts(&argument(0), &argument(1), |one, other| {
                one.starts_with(other)
            }),
            Function::EndsWith => of_texts(&argument(0), &argument(1), |one, other| {
                one.ends_with(other)
            }),
            Function::Contains => {
                of_texts(&argument(0), &argument(1), |one, other| one.contains(other))
            }
        }
    }
}

fn plus(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => {
            one.checked_add(*other).map_or(Value::Null, Value::Int)
        }
        (Value::Text(one), Value::Text(other)) => Value::Text(format!("{one}{other}")),
        _ => match (one.to_float(), other.to_float()) {
            (Value::Float(one), Value::Float(other)) => Value::Float(one + other),
            _ => Value::Null,
        },
    }
}

fn of_texts(one: &Value, other: &Value, is: impl Fn(&str, &str) -> bool) -> Value {
    match (one.to_text(), other.to_text()) {
        (Value::Text(one), Value::Text(other)) => Value::Bool(is(&one, &other)),
        _ => Value::Null,
    }
}

fn substring(of: &Value, start: &Value, length: Option<Value>) -> Value {
    let Value::Text(text) = of.to_text() else {
        return Value::Null;
    };
    let index = |value: &Value| match value.to_int() {
        Value::Int(number) => usize::try_from(number).ok(),
        _ => None,
    };
    let Some(start) = index(start) else {
        return Value::Null;
    };
    let length = match length {
        None => Some(usize::MAX),
        Some(length) => index(&length),
    };
    match length {
        Some(length) => Value::Text(text.chars().skip(start).take(length).collect()),
        None => Value::Null,
    }
}
