//! The attributes of Harmony-style patches: `HarmonyLib.HarmonyPatch` and its companions, read from metadata. No assembly that
//! defines them is needed.

use std::sync::Arc;

use super::bind::Kind;
use super::lookup::Named;
use super::names::{TypeText, method_pattern};
use crate::error::{Error, Result};
use crate::info::is_framework;
use clr_metadata::rows::CustomAttributeRow;
use clr_metadata::{HasCustomAttribute, Metadata};
use clr_profiler_il::attribute::ArgumentValue;
use clr_profiler_il::pattern::MethodPatterns;
use clr_profiler_il::signature::TypeSig;

pub(super) const NAMESPACE: &str = "HarmonyLib";

/// The contents of the attributes of a class or method.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotations {
    pub(super) is_patch: bool,
    class: Option<TypeText>,
    /// Whether the class was named by a string, which may omit the assembly.
    is_text: bool,
    method: Option<String>,
    kind: Option<i32>,
    parameters: Option<Vec<TypeText>>,
    variations: Vec<i32>,
    pub(super) priority: Option<i32>,
    /// New names of parameters: the original one, or its number, and the new one, if not that of the parameter itself.
    pub(super) renames: Vec<(String, Option<String>)>,
    pub(super) role: Option<Role>,
}

/// The part of a method in a class of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Patch(Kind),
    /// It names the methods to patch.
    Target,
    /// It says whether the class is applied.
    Prepare,
    /// It runs after the patches were applied.
    Cleanup,
    Unsupported(&'static str),
}

impl Role {
    /// By the name of the method, or of an attribute.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Prefix" => Self::Patch(Kind::Prefix),
            "Postfix" => Self::Patch(Kind::Postfix),
            "Finalizer" => Self::Patch(Kind::Finalizer),
            "Transpiler" => Self::Unsupported(
                "transpilers are not supported: `Instrumentation::edit` changes IL",
            ),
            "ReversePatch" => Self::Unsupported("reverse patches are not supported"),
            "TargetMethod" | "TargetMethods" => Self::Target,
            "Prepare" => Self::Prepare,
            "Cleanup" => Self::Cleanup,
            _ => return None,
        })
    }
}

/// The patterns for the target of a patch.
pub(super) enum TargetPatterns {
    Methods(Arc<MethodPatterns>),
    /// Of .NET: the methods are patched, or their calls.
    Framework {
        callees: Arc<MethodPatterns>,
        methods: Arc<MethodPatterns>,
    },
}

/// Of an enumeration of the attributes.
const CONSTRUCTOR: i32 = 3;
const STATIC_CONSTRUCTOR: i32 = 4;

impl Annotations {
    /// Reads the attributes of an item.
    pub(super) fn read(metadata: &Metadata<'_>, of: impl Into<HasCustomAttribute>) -> Result<Self> {
        let mut found = Self::default();
        for attribute in metadata.rows_of::<CustomAttributeRow>(of) {
            let attribute = attribute.map_err(Error::other)?;
            let Ok(name) = metadata.attribute_name(&attribute) else {
                continue;
            };
            if name.namespace != NAMESPACE {
                continue;
            }
            let name = name.name;
            let name = name.strip_suffix("Attribute").unwrap_or(name);
            let Some(name) = name.strip_prefix("Harmony") else {
                continue;
            };
            // All enumerations of these attributes are of ints.
            let value = metadata.attribute_value(&attribute, |_| Some(TypeSig::I4));
            let value = value.map_err(Error::other)?;
            match name {
                "Patch" => found.patch(&value.fixed)?,
                "PatchAll" => {
                    return Err(Error::other(
                        "`HarmonyPatchAll` is not supported: use a pattern",
                    ));
                }
                "Priority" => found.priority = value.fixed.first().and_then(number),
                "Argument" => found.rename(&value.fixed),
                other => found.role = Role::of(other).or(found.role),
            }
        }
        Ok(found)
    }

    fn patch(&mut self, arguments: &[ArgumentValue]) -> Result<()> {
        self.is_patch = true;
        let mut texts = Vec::new();
        for argument in arguments {
            match argument {
                ArgumentValue::Type(Some(name)) => {
                    (self.class, self.is_text) = (Some(TypeText::parse(name)?), false);
                }
                ArgumentValue::String(Some(text)) => texts.push(text.clone()),
                ArgumentValue::Enum { .. } => self.kind = number(argument),
                ArgumentValue::Array(Some(elements)) => {
                    let types = elements.iter().map(|one| match one {
                        ArgumentValue::Type(Some(name)) => TypeText::parse(name).map(Some),
                        _ => Ok(None),
                    });
                    let types: Vec<Option<TypeText>> = types.collect::<Result<_>>()?;
                    let numbers: Vec<i32> = elements.iter().filter_map(number).collect();
                    match numbers.is_empty() {
                        true => self.parameters = types.into_iter().collect(),
                        false => self.variations = numbers,
                    }
                }
                _ => {}
            }
        }
        let mut texts = texts.into_iter();
        match (texts.next(), texts.next()) {
            (Some(class), Some(method)) => {
                (self.class, self.is_text) = (Some(TypeText::parse(&class)?), true);
                self.method = Some(method);
            }
            (Some(method), None) => self.method = Some(method),
            _ => {}
        }
        Ok(())
    }

    fn rename(&mut self, arguments: &[ArgumentValue]) {
        let text = |argument: &ArgumentValue| match argument {
            ArgumentValue::String(Some(text)) => Some(text.clone()),
            // By its number.
            other => number(other).map(|number| format!("__{number}")),
        };
        if let Some(original) = arguments.first().and_then(text) {
            let new = arguments.get(1).and_then(text);
            self.renames.push((original, new));
        }
    }

    /// These, where `inner` does not say otherwise.
    pub(super) fn with(&self, inner: &Self) -> Self {
        let outer = self.clone();
        Self {
            is_patch: outer.is_patch || inner.is_patch,
            is_text: match inner.class {
                Some(_) => inner.is_text,
                None => outer.is_text,
            },
            class: inner.class.clone().or(outer.class),
            method: inner.method.clone().or(outer.method),
            kind: inner.kind.or(outer.kind),
            parameters: inner.parameters.clone().or(outer.parameters),
            variations: match inner.variations.is_empty() {
                true => outer.variations,
                false => inner.variations.clone(),
            },
            priority: inner.priority.or(outer.priority),
            renames: [inner.renames.clone(), outer.renames].concat(),
            role: inner.role,
        }
    }

    /// These, with a target that code has named.
    pub(super) fn of(&self, target: Named) -> Self {
        Self {
            is_patch: true,
            class: Some(target.class),
            is_text: target.is_text,
            method: target.method,
            kind: target.kind,
            parameters: target.parameters,
            variations: Vec::new(),
            ..self.clone()
        }
    }

    /// The patterns for the target.
    pub(super) fn target(&self, own: &str) -> Result<TargetPatterns> {
        let Some(class) = &self.class else {
            return Err(Error::other(
                "its attributes name no type: `HarmonyPatch(typeof(X), \"Method\")` does, or \
                 `ManagedPatches::class` with a pattern",
            ));
        };
        if !class.arguments.is_empty() || !class.suffix.is_empty() {
            return Err(Error::other(format!(
                "{} is an instance of a generic type, or an array: all instances share their code, so name \
                 the generic type, `typeof(X<>)`",
                class.pattern()
            )));
        }
        let method = self.method()?;
        let assembly = class.assembly.as_deref();
        if assembly.unwrap_or(own) == own && !self.is_text {
            return Err(Error::other(format!(
                "{} is a type of the patches' own assembly, which is not patched",
                class.path
            )));
        }
        let is_framework = is_framework(assembly.unwrap_or(&class.path));
        let mut text = format!("{}.{}", class.path, method_pattern(&method));
        if let Some(parameters) = &self.parameters {
            let parameters = parameters.iter().enumerate().map(|(index, one)| {
                let mut one = one.clone();
                // Of the variations, 1 and 2 are `ref` and `out`, 3 is a pointer.
                one.suffix.push_str(match self.variations.get(index) {
                    Some(1 | 2) => "&",
                    Some(3) => "*",
                    _ => "",
                });
                one.pattern()
            });
            let parameters: Vec<String> = parameters.collect();
            text += &format!("({})", parameters.join(", "));
        }
        let parse = |text: &str| {
            MethodPatterns::parse(text)
                .map(Arc::new)
                .map_err(|mistake| Error::other(format!("`{text}`: {mistake}")))
        };
        if !is_framework {
            return Ok(TargetPatterns::Methods(parse(&match assembly {
                Some(assembly) => format!("{assembly}!{text}"),
                None => text,
            })?));
        }
        // Programs refer to a type by an assembly that may forward it to another one.
        let family = match assembly.unwrap_or(&class.path).starts_with("Microsoft") {
            true => "Microsoft",
            false => "System",
        };
        Ok(TargetPatterns::Framework {
            // At a call, any assembly through which the program refers to the type.
            callees: parse(&text)?,
            methods: parse(&format!("{family}.*!{text}"))?,
        })
    }

    fn method(&self) -> Result<String> {
        let name = self.method.as_deref();
        let accessor = |prefix: &str| format!("{prefix}{}", name.unwrap_or("Item"));
        Ok(match self.kind {
            Some(1) => accessor("get_"),
            Some(2) => accessor("set_"),
            Some(CONSTRUCTOR) => ".ctor".to_owned(),
            Some(STATIC_CONSTRUCTOR) => ".cctor".to_owned(),
            Some(other) if other != 0 => {
                return Err(Error::other(format!(
                    "the `MethodType` {other} is not supported: of an iterator or `async` method, name the \
                     method `MoveNext` of the type that the compiler has made, by a pattern"
                )));
            }
            _ => match name {
                Some(name) => name.to_owned(),
                None => {
                    return Err(Error::other(
                        "its attributes name no method: `HarmonyPatch(typeof(X), \"Method\")` does",
                    ));
                }
            },
        })
    }
}

fn number(argument: &ArgumentValue) -> Option<i32> {
    match argument {
        ArgumentValue::I4(number) => Some(*number),
        ArgumentValue::Enum { value, .. } => number(value),
        _ => None,
    }
}
