//! Binds the parameters of a patch to the values of a method, by their names. Without a runtime.

use std::fmt::Write;

use crate::patches::fields::Field;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::token::MethodDef;

/// When a patch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Prefix,
    Postfix,
    Finalizer,
}

/// A type of the patches' assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchType {
    /// As it is shown.
    pub(super) shown: Box<str>,
    /// In text, without assemblies.
    pub(super) text: Box<str>,
    /// In text, with assemblies.
    pub(super) symbol: Box<str>,
    /// Whether it is a class whose references may be replaced by those of derived classes.
    pub(super) is_reference: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// In the source.
    pub(super) own: Box<str>,
    /// The name that is bound: another one if an attribute renames it.
    pub(super) name: Box<str>,
    /// Of a parameter by reference, the type that it refers to.
    pub(super) class: PatchType,
    pub(super) is_by_ref: bool,
}

/// A method of the patches' assembly.
#[derive(Clone, Debug)]
pub(super) struct PatchMethod {
    /// With its class.
    pub(super) name: Box<str>,
    pub(super) kind: Kind,
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: Option<PatchType>,
    pub(super) symbol: clr_profiler_il::symbol::MethodSymbol,
    pub(super) token: MethodDef,
    /// The assemblies of the types in its signature, without its own and those of .NET.
    pub(super) assemblies: Vec<Box<str>>,
    pub(super) priority: i32,
}

/// A type of a patched method.
#[derive(Clone, Debug)]
pub(super) struct TargetType {
    pub(super) shown: String,
    /// In text, without assemblies.
    pub(super) text: String,
    pub(super) sig: TypeSig,
}

#[derive(Clone, Debug)]
pub(super) struct TargetParameter {
    pub(super) name: Option<String>,
    pub(super) class: TargetType,
    pub(super) is_by_ref: bool,
}

#[derive(Clone, Debug)]
pub(super) struct TargetField {
    pub(super) class: TargetType,
    pub(super) field: Field,
}

/// A patched method, or a patched call.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) this: Option<TargetParameter>,
    pub(super) parameters: Vec<TargetParameter>,
    pub(super) result: Option<TargetType>,
    pub(super) fields: Vec<TargetField>,
    /// Whether a base type is not known yet, so that there may be more fields.
    pub(super) has_unknown_base: bool,
    /// Whether it is a call: then `this` is not the object whose code is changed.
    pub(super) is_call: bool,
}

/// The value that a parameter gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    This,
    /// By its index.
    Argument(usize),
    /// By its index.
    Field(usize),
    Result,
    State,
    Exception,
    RunOriginal,
    Original,
    /// An array of all arguments.
    Arguments,
}

/// How it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Value,
    Address,
    /// As an object.
    Boxed,
    /// As the address of a local with the object.
    BoxedAddress,
}

pub(super) type Bound = (Value, Form);

/// Whether a type in terms of the method derives from another one by its text, or implements it.
pub(super) type IsBase<'a> = dyn Fn(&TypeSig, &str) -> bool + 'a;

pub(super) const OBJECT: &str = "object";
const BOOL: &str = "bool";
pub(super) const EXCEPTION: &str = "class System.Exception";
pub(super) const METHOD_BASE: &str = "class System.Reflection.MethodBase";
pub(super) const METHOD_INFO: &str = "class System.Reflection.MethodInfo";

impl PatchMethod {
    /// Whether a postfix returns the result that it gets in its first parameter.
    pub(super) fn passes_through(&self) -> bool {
        self.kind == Kind::Postfix && self.result.is_some()
    }

    /// Whether a prefix may have effects on the method, so that it does not run after another one has skipped that.
    pub(super) fn has_effects(&self) -> bool {
        let injected = ["__instance", "__originalMethod", "__state", "__runOriginal"];
        self.result.is_some()
            || self.parameters.iter().any(|one| {
                let is_state = &*one.name == "__state";
                one.is_by_ref && !is_state
                    || one.class.is_reference && !injected.contains(&&*one.name)
            })
    }

    /// Mistakes that do not depend on the patched method.
    pub(super) fn check(&self) -> Result<(), String> {
        let result = self.result.as_ref();
        let is_allowed = match (self.kind, result) {
            (_, None) => true,
            (Kind::Prefix, Some(class)) => &*class.text == BOOL,
            (Kind::Finalizer, Some(class)) => &*class.text == EXCEPTION,
            (Kind::Postfix, Some(class)) => {
                let first = self.parameters.first();
                first.is_some_and(|first| first.class.text == class.text && !first.is_by_ref)
            }
        };
        if let (false, Some(class)) = (is_allowed, result) {
            let expected = match self.kind {
                Kind::Prefix => "a prefix returns void, or a bool: whether the method runs",
                Kind::Finalizer => {
                    "a finalizer returns void, or the System.Exception to throw, null for none"
                }
                Kind::Postfix => {
                    "a postfix returns void, or a result of the type of its first parameter, which is the result before"
                }
            };
            return Err(format!(
                "the patch {} returns {}: {expected}",
                self.name, class.shown
            ));
        }
        Ok(())
    }

    /// Binds each parameter to a value, or says which ones do not bind, and what would.
    pub(super) fn bind(
        &self,
        target: &Target,
        is_base: &IsBase<'_>,
    ) -> Result<Vec<Bound>, Vec<String>> {
        let mut bound = Vec::new();
        let mut problems = Vec::new();
        if target.is_call && self.kind == Kind::Finalizer {
            problems.push(format!(
                "the patch {} is a finalizer: there are none around calls, and methods of .NET are patched at their calls",
                self.name
            ));
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            let result = match index == 0 && self.passes_through() {
                true => self.first(parameter, target),
                false => self.one(parameter, target, is_base),
            };
            match result {
                Ok(one) => bound.push(one),
                Err(problem) => problems.push(format!(
                    "the parameter `{}` of the patch {} does not bind to {}: {problem}",
                    parameter.own, self.name, target.name
                )),
            }
        }
        match problems.is_empty() {
            true => Ok(bound),
            false => Err(problems),
        }
    }

    /// The parameter of a postfix that it returns.
    fn first(&self, parameter: &Parameter, target: &Target) -> Result<Bound, String> {
        match &target.result {
            Some(class) if class.text == *parameter.class.text => Ok((Value::Result, Form::Value)),
            Some(class) => Err(format!(
                "it is {}, and the result that the patch gets and returns is {}",
                parameter.class.shown, class.shown
            )),
            None => Err("the method returns nothing that the patch could return".to_owned()),
        }
    }

    fn one(
        &self,
        parameter: &Parameter,
        target: &Target,
        is_base: &IsBase<'_>,
    ) -> Result<Bound, String> {
        let typed = |value: Value, class: &TargetType| {
            let form = form(parameter, class, is_base)?;
            Ok((value, form))
        };
        let fixed = |value: Value, types: &[&str]| {
            let is_right = types.contains(&&*parameter.class.text) && !parameter.is_by_ref;
            let names = types.iter().map(|text| text.trim_start_matches("class "));
            match is_right {
                true => Ok((value, Form::Value)),
                false => Err(format!(
                    "declare it as `{}`, by value",
                    names.collect::<Vec<_>>().join("` or `")
                )),
            }
        };
        match &*parameter.name {
            "__instance" => {
                let this = target.this.as_ref();
                let this = this.ok_or("the method is static, and has no instance")?;
                if parameter.is_by_ref && !this.is_by_ref {
                    return Err(format!(
                        "`this` of a class cannot be replaced: declare it as `{}`, by value",
                        this.class.shown
                    ));
                }
                typed(Value::This, &this.class)
            }
            "__result" => match &target.result {
                Some(class) => typed(Value::Result, class),
                None => Err("the method returns nothing".to_owned()),
            },
            "__state" => Ok((
                Value::State,
                match parameter.is_by_ref {
                    true => Form::Address,
                    false => Form::Value,
                },
            )),
            "__exception" if self.kind == Kind::Finalizer => fixed(Value::Exception, &[EXCEPTION]),
            "__exception" => Err("only a finalizer gets the exception".to_owned()),
            "__runOriginal" => fixed(Value::RunOriginal, &[BOOL]),
            "__originalMethod" => fixed(Value::Original, &[METHOD_BASE, METHOD_INFO]),
            "__args" => fixed(Value::Arguments, &["object[]"]),
            "__resultRef" => Err("results by reference are not replaced".to_owned()),
            name => match name.strip_prefix("___") {
                Some(field) => self.field(parameter, field, target, is_base),
                None => {
                    let index = argument(name, target)?;
                    match target.parameters.get(index) {
                        Some(of) => typed(Value::Argument(index), &of.class),
                        None => Err(without(target)),
                    }
                }
            },
        }
    }

    fn field(
        &self,
        parameter: &Parameter,
        name: &str,
        target: &Target,
        is_base: &IsBase<'_>,
    ) -> Result<Bound, String> {
        if target.is_call {
            return Err(
                "there are no fields at calls, and methods of .NET are patched at their calls"
                    .to_owned(),
            );
        }
        let by_number = name.parse::<usize>().ok();
        let by_name = || target.fields.iter().position(|of| of.field.name == name);
        let index = by_number.or_else(by_name);
        let found = index.and_then(|at| Some((at, target.fields.get(at)?)));
        // Numbers are those of the type's own fields.
        let found = found.filter(|(_, of)| by_number.is_none() || of.field.inherited.is_none());
        let Some((index, TargetField { class, field })) = found else {
            if target.has_unknown_base && by_number.is_none() {
                return Ok((Value::Field(usize::MAX), Form::Value));
            }
            let names = target
                .fields
                .iter()
                .map(|of| format!("`___{}`", of.field.name));
            let names: Vec<String> = names.take(8).collect();
            return Err(match names.is_empty() {
                true => format!("its type has no field `{name}`, nor any other"),
                false => format!(
                    "its type has no field `{name}`; there are {}",
                    names.join(", ")
                ),
            });
        };
        if !field.is_static && target.this.is_none() {
            return Err(format!(
                "the field {name} belongs to an instance, and the method is static"
            ));
        }
        if let Some(problem) = field.hidden_static() {
            return Err(problem);
        }
        let form = form(parameter, class, is_base)?;
        let is_written = matches!(form, Form::Address | Form::BoxedAddress);
        if is_written && field.is_static && field.is_init_only {
            return Err(format!(
                "the field {name} is `static readonly`, and the JIT may have replaced it by its value: declare it by value"
            ));
        }
        Ok((Value::Field(index), form))
    }
}

/// Why the patches of a class cannot share their state.
pub(super) fn state_problem(class: &[PatchMethod]) -> Option<String> {
    let mut states = class.iter().flat_map(|patch| {
        let states = patch.parameters.iter();
        let states = states.filter(|one| &*one.name == "__state");
        states.map(move |one| (patch, &one.class))
    });
    let (first, known) = states.next()?;
    let (other, class) = states.find(|(_, class)| class.text != known.text)?;
    Some(format!(
        "`__state` is {} in the patch {}, and {} in the patch {}: the patches of a class share it",
        known.shown, first.name, class.shown, other.name
    ))
}

/// The argument with a name, or with a number: `__0`.
fn argument(name: &str, target: &Target) -> Result<usize, String> {
    if let Some(Ok(number)) = name.strip_prefix("__").map(str::parse::<usize>) {
        return match number < target.parameters.len() {
            true => Ok(number),
            false => Err(without(target)),
        };
    }
    let named = |one: &TargetParameter| one.name.as_deref() == Some(name);
    let found = target.parameters.iter().position(named);
    found.ok_or_else(|| without(target))
}

/// That there is no such parameter, and those that there are.
fn without(target: &Target) -> String {
    let mut text = match target.parameters.is_empty() {
        true => "the method has no parameters".to_owned(),
        false => "the method has the parameters ".to_owned(),
    };
    for (index, one) in target.parameters.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let name = match &one.name {
            Some(name) => name.clone(),
            None => format!("__{index}"),
        };
        let _ = write!(text, "{comma}`{name}` ({})", one.class.shown);
    }
    text + "; other names are `__instance`, `__result`, `__state`, `__args`, `__originalMethod`, `__runOriginal`, \
            `__exception`, `__0` for the first parameter, and `___name` for a field"
}

fn form(parameter: &Parameter, class: &TargetType, is_base: &IsBase<'_>) -> Result<Form, String> {
    let wanted = &parameter.class;
    let is_same = *wanted.text == *class.text;
    match parameter.is_by_ref {
        false if is_same => return Ok(Form::Value),
        true if is_same => return Ok(Form::Address),
        false if &*wanted.text == OBJECT => return Ok(Form::Boxed),
        true if &*wanted.text == OBJECT => return Ok(Form::BoxedAddress),
        false if wanted.is_reference && is_base(&class.sig, &wanted.text) => {
            return Ok(Form::Value);
        }
        _ => {}
    }
    let by_ref = if parameter.is_by_ref { "ref " } else { "" };
    if *wanted.shown == *class.shown {
        return Err(format!(
            "it is `{}`, and the value is `{}`: types of the same name",
            wanted.text, class.text
        ));
    }
    let here = match is_generic(&class.sig) {
        // All instances share the code.
        true => format!("declare it as `{by_ref}object`"),
        false => format!(
            "declare it as `{by_ref}{}`, or as `{by_ref}object`",
            class.shown
        ),
    };
    Err(format!(
        "it is `{by_ref}{}`, and the value is {}: {here}",
        wanted.shown, class.shown
    ))
}

/// Whether a type depends on generic parameters, so that no patch can name it.
fn is_generic(sig: &TypeSig) -> bool {
    match sig {
        TypeSig::Var(_) | TypeSig::MVar(_) => true,
        TypeSig::GenericInstance { arguments, .. } => arguments.iter().any(is_generic),
        TypeSig::SzArray(of) | TypeSig::ByRef(of) | TypeSig::Pointer(of) => is_generic(of),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clr_profiler_il::symbol::MethodSymbol;

    fn class(text: &str, shown: &str) -> PatchType {
        PatchType {
            shown: shown.into(),
            text: text.into(),
            symbol: text.into(),
            is_reference: text.starts_with("class ") || text == OBJECT,
        }
    }

    fn patch(kind: Kind, parameters: &[(&str, &str, bool)], result: Option<&str>) -> PatchMethod {
        let parameters = parameters.iter().map(|(name, text, is_by_ref)| Parameter {
            own: (*name).into(),
            name: (*name).into(),
            class: class(text, text.trim_start_matches("class [B]")),
            is_by_ref: *is_by_ref,
        });
        PatchMethod {
            name: "Shop.Patch".into(),
            kind,
            parameters: parameters.collect(),
            result: result.map(|text| class(text, text)),
            symbol: MethodSymbol::new("[P]Shop", "Patch", "void ()"),
            token: MethodDef::from_row(1).unwrap(),
            assemblies: Vec::new(),
            priority: 400,
        }
    }

    fn target() -> Target {
        let of = |text: &str, sig: TypeSig| TargetType {
            shown: text.trim_start_matches("class [A]").to_owned(),
            text: text.to_owned(),
            sig,
        };
        let parameter = |name: &str, class: TargetType, is_by_ref: bool| TargetParameter {
            name: Some(name.to_owned()),
            class,
            is_by_ref,
        };
        let store = of("class [A]Store", TypeSig::Object);
        Target {
            name: "Store.Sell(int, ref string)".to_owned(),
            this: Some(parameter("", store, false)),
            parameters: vec![
                parameter("count", of("int", TypeSig::I4), false),
                parameter("item", of("string", TypeSig::String), true),
            ],
            result: Some(of("long", TypeSig::I8)),
            fields: Vec::new(),
            has_unknown_base: false,
            is_call: false,
        }
    }

    #[test]
    fn names_bind_to_values() {
        let parameters = [
            ("__instance", "class [A]Store", false),
            ("count", "int", true),
            ("__1", "string", false),
            ("item", "object", true),
            ("__result", "object", false),
            ("__state", "short", true),
            ("__originalMethod", METHOD_BASE, false),
            ("__runOriginal", "bool", false),
            ("__args", "object[]", false),
        ];
        let bound = patch(Kind::Prefix, &parameters, None).bind(&target(), &|_, _| false);
        let expected = [
            (Value::This, Form::Value),
            (Value::Argument(0), Form::Address),
            (Value::Argument(1), Form::Value),
            (Value::Argument(1), Form::BoxedAddress),
            (Value::Result, Form::Boxed),
            (Value::State, Form::Address),
            (Value::Original, Form::Value),
            (Value::RunOriginal, Form::Value),
            (Value::Arguments, Form::Value),
        ];
        assert_eq!(bound.unwrap(), expected);
        let based = [("__instance", "class [A]Base", false)];
        let based = patch(Kind::Postfix, &based, None);
        assert!(
            based
                .bind(&target(), &|_, base| base == "class [A]Base")
                .is_ok()
        );
        assert!(based.bind(&target(), &|_, _| false).is_err());
    }

    #[test]
    fn types_of_the_same_name_are_told_apart() {
        let other = patch(
            Kind::Prefix,
            &[("__instance", "class [B]Store", false)],
            None,
        );
        let problems = other.bind(&target(), &|_, _| false).unwrap_err();
        let expected = "the parameter `__instance` of the patch Shop.Patch does not bind to Store.Sell(int, ref string): it \
                        is `class [B]Store`, and the value is `class [A]Store`: types of the same name";
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn there_are_no_finalizers_and_fields_at_calls() {
        let call = Target {
            is_call: true,
            ..target()
        };
        let finalizer = patch(Kind::Finalizer, &[("___total", "int", false)], None);
        let problems = finalizer.bind(&call, &|_, _| false).unwrap_err();
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("is a finalizer: there are none around calls"));
        assert!(problems[1].contains("there are no fields at calls"));
    }

    #[test]
    fn prefixes_without_effects_are_known() {
        type Case<'a> = (&'a [(&'a str, &'a str, bool)], Option<&'a str>, bool);
        let cases: [Case<'_>; 7] = [
            (&[("count", "int", false)], None, false),
            (&[("__instance", "class [A]Store", false)], None, false),
            (&[("__state", "object", true)], None, false),
            (&[("item", "class [A]Item", false)], None, true),
            (&[("count", "int", true)], None, true),
            (&[("__args", "class object[]", false)], None, true),
            (&[], Some("bool"), true),
        ];
        for (parameters, result, expected) in cases {
            let patch = patch(Kind::Prefix, parameters, result);
            assert_eq!(patch.has_effects(), expected, "{parameters:?} {result:?}");
        }
    }
}
