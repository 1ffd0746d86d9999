//! The values of code that finds methods, and the look-ups of types and methods that it may call.

use super::names::TypeText;
use clr_metadata::token::TypeDef;

/// Of `HarmonyLib.MethodType`.
const GETTER: i32 = 1;
const SETTER: i32 = 2;
const CONSTRUCTOR: i32 = 3;
const STATIC_CONSTRUCTOR: i32 = 4;

/// A method that such code has named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) class: TypeText,
    /// Whether the class was named by a text, which may omit the assembly.
    pub(super) is_text: bool,
    pub(super) method: Option<String>,
    /// Of `HarmonyLib.MethodType`.
    pub(super) kind: Option<i32>,
    pub(super) parameters: Option<Vec<TypeText>>,
}

/// A value on the stack.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Number(i32),
    Text(String),
    Type(TypeText, bool),
    Method(Named),
    /// A property, of which a getter or a setter is taken.
    Property(Named),
    /// An array or a list, by its number.
    Items(usize),
    /// The iterator whose code runs.
    This,
    /// An iterator of a class that the compiler has made.
    Iterator(TypeDef),
}

/// The values of arrays and lists, by their numbers.
pub(super) struct Items(pub(super) Vec<Vec<Value>>);

impl Items {
    pub(super) fn get(&self, number: usize) -> Option<&Vec<Value>> {
        self.0.get(number)
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Vec<Value>> {
        self.0.get_mut(number)
    }

    /// The types in an array; `None` for any other value. Null is no array.
    fn types(&self, value: &Value) -> Option<Option<Vec<TypeText>>> {
        match value {
            Value::Null => Some(None),
            Value::Items(number) => {
                let items = self.get(*number)?.iter();
                let types = items.map(|one| match one {
                    Value::Type(class, _) => Some(class.clone()),
                    _ => None,
                });
                types.collect::<Option<_>>().map(Some)
            }
            _ => None,
        }
    }

    /// A look-up of Harmony.
    pub(super) fn access_tools(&self, method: &str, arguments: &[Value]) -> Option<Value> {
        let method = method.strip_prefix("Declared").unwrap_or(method);
        match (method, arguments) {
            ("TypeByName", [Value::Text(name)]) => text_type(name),
            ("Inner", [Value::Type(outer, is_text), Value::Text(name)]) => {
                let path = format!("{}+{name}", outer.path);
                let class = TypeText {
                    path,
                    ..outer.clone()
                };
                Some(Value::Type(class, *is_text))
            }
            ("Constructor", [class @ Value::Type(..), rest @ ..]) => {
                let is_static = matches!(rest.get(1), Some(Value::Number(1)));
                let kind = if is_static {
                    STATIC_CONSTRUCTOR
                } else {
                    CONSTRUCTOR
                };
                // Without types, the constructor that has no parameters.
                let parameters = rest.first().map(|one| self.types(one));
                let parameters = parameters.unwrap_or(Some(None))?.unwrap_or_default();
                let named = named(class, None, Some(kind))?;
                Some(Value::Method(Named {
                    parameters: Some(parameters).filter(|_| !is_static),
                    ..named
                }))
            }
            _ => {
                let (of, rest) = of_member(arguments)?;
                match (method, rest) {
                    ("Method", []) => Some(Value::Method(of)),
                    ("Method", [types, generics @ ..]) => {
                        let generics = generics.first();
                        if generics.is_some_and(|generics| *generics != Value::Null) {
                            return None;
                        }
                        let parameters = self.types(types)?;
                        Some(Value::Method(Named { parameters, ..of }))
                    }
                    ("Property", []) => Some(Value::Property(of)),
                    ("PropertyGetter", []) => Some(with_kind(of, GETTER)),
                    ("PropertySetter", []) => Some(with_kind(of, SETTER)),
                    _ => None,
                }
            }
        }
    }

    /// A look-up of reflection.
    pub(super) fn of_type(&self, method: &str, arguments: &[Value]) -> Option<Value> {
        let with = |class: &TypeText, is_text: bool, suffix: &str| {
            let mut class = class.clone();
            class.suffix.push_str(suffix);
            Some(Value::Type(class, is_text))
        };
        match (method, arguments) {
            ("GetTypeFromHandle", [class @ Value::Type(..)]) => Some(class.clone()),
            ("GetType", [Value::Text(name), ..]) => text_type(name),
            ("MakeByRefType", [Value::Type(class, is_text)]) => with(class, *is_text, "&"),
            ("MakeArrayType", [Value::Type(class, is_text)]) => with(class, *is_text, "[]"),
            ("GetMethod", [class, Value::Text(name), rest @ ..]) => {
                // Among the others, one is an array of types; binding flags are numbers.
                let arrays = rest.iter().filter(|one| matches!(one, Value::Items(_)));
                let mut arrays = arrays.map(|one| self.types(one));
                let parameters = arrays.next().unwrap_or(Some(None))?;
                let named = named(class, Some(name), None)?;
                Some(Value::Method(Named {
                    parameters,
                    ..named
                }))
            }
            ("GetConstructor", [class, rest @ ..]) => {
                let array = rest.iter().find(|one| matches!(one, Value::Items(_)))?;
                let parameters = self.types(array)?;
                let named = named(class, None, Some(CONSTRUCTOR))?;
                Some(Value::Method(Named {
                    parameters,
                    ..named
                }))
            }
            ("GetProperty", [class, Value::Text(name), ..]) => {
                Some(Value::Property(named(class, Some(name), None)?))
            }
            ("get_TypeInitializer", [class]) => {
                Some(Value::Method(named(class, None, Some(STATIC_CONSTRUCTOR))?))
            }
            _ => None,
        }
    }
}

fn text_type(name: &str) -> Option<Value> {
    Some(Value::Type(TypeText::parse(name).ok()?, true))
}

fn named(class: &Value, method: Option<&str>, kind: Option<i32>) -> Option<Named> {
    let Value::Type(class, is_text) = class else {
        return None;
    };
    Some(Named {
        class: class.clone(),
        is_text: *is_text,
        method: method.map(str::to_owned),
        kind,
        parameters: None,
    })
}

fn with_kind(of: Named, kind: i32) -> Value {
    Value::Method(Named {
        kind: Some(kind),
        ..of
    })
}

/// A member by a type and a name, or by a text `Namespace.Type:Member`, and the other arguments.
fn of_member(arguments: &[Value]) -> Option<(Named, &[Value])> {
    match arguments {
        [class @ Value::Type(..), Value::Text(name), rest @ ..] => {
            Some((named(class, Some(name), None)?, rest))
        }
        [Value::Text(text), rest @ ..] => {
            let (class, name) = text.split_once(':')?;
            Some((named(&text_type(class)?, Some(name), None)?, rest))
        }
        _ => None,
    }
}

/// The getter or the setter of a property.
pub(super) fn accessor(method: &str, arguments: &[Value]) -> Option<Value> {
    let Some(Value::Property(of)) = arguments.first() else {
        return None;
    };
    let kind = match method {
        "get_GetMethod" | "GetGetMethod" => GETTER,
        "get_SetMethod" | "GetSetMethod" => SETTER,
        _ => return None,
    };
    Some(with_kind(of.clone(), kind))
}
