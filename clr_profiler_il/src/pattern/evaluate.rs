//! Whether a method matches a pattern: cheap facts first, each asked at most once.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::glob::list_matches;
use super::path::{self, Part};
use super::types::{Bindings, ListItem, TypeText, types_match};
use super::{AttributeOwner, GenericOwner, MethodFacts, MethodPattern};
use crate::attributes::MemberAccess;

/// The entry of a program of top-level statements.
const ENTRY: &str = "<Main>$";

/// Whether the compiler has made the name of a method.
#[must_use]
pub fn is_generated(name: &str) -> bool {
    name.starts_with('<') && name != ENTRY
}

/// A method, with the facts that have been asked.
pub(super) struct Subject<'s, F: MethodFacts + ?Sized> {
    facts: &'s F,
    class: &'s str,
    name: &'s str,
    parts: OnceCell<Vec<Part<'s>>>,
    assembly: OnceCell<Cow<'s, str>>,
    access: OnceCell<MemberAccess>,
    parameters: OnceCell<Vec<TypeText>>,
    generic_parameters: [OnceCell<Vec<String>>; 2],
    generic_arguments: [OnceCell<Vec<TypeText>>; 2],
    bindings: OnceCell<Bindings>,
    attributes: [OnceCell<Vec<TypeText>>; 3],
    bases: OnceCell<Vec<TypeText>>,
    interfaces: OnceCell<Vec<TypeText>>,
}

/// The value of a cell, which `ask` sets.
fn once<T, E>(cell: &OnceCell<T>, ask: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = ask()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

fn texts(texts: Vec<String>) -> Vec<TypeText> {
    texts.iter().map(|text| TypeText::new(text)).collect()
}

impl<'s, F: MethodFacts + ?Sized> Subject<'s, F> {
    pub(super) fn new(facts: &'s F, class: &'s str, name: &'s str) -> Self {
        Self {
            facts,
            class,
            name,
            parts: OnceCell::new(),
            assembly: OnceCell::new(),
            access: OnceCell::new(),
            parameters: OnceCell::new(),
            generic_parameters: Default::default(),
            generic_arguments: Default::default(),
            bindings: OnceCell::new(),
            attributes: Default::default(),
            bases: OnceCell::new(),
            interfaces: OnceCell::new(),
        }
    }

    pub(super) fn parts(&self) -> &[Part<'s>] {
        self.parts.get_or_init(|| path::parts(self.class))
    }

    pub(super) fn name(&self) -> &'s str {
        self.name
    }

    pub(super) fn assembly(&self) -> Result<&str, F::Error> {
        once(&self.assembly, || self.facts.assembly()).map(|name| &**name)
    }

    /// Whether the compiler has made the method or its type.
    fn is_generated(&self) -> bool {
        self.has_generated_name() || self.parts().iter().any(Part::is_generated)
    }

    fn has_generated_name(&self) -> bool {
        is_generated(self.name)
    }

    fn parameters(&self) -> Result<&[TypeText], F::Error> {
        once(&self.parameters, || self.facts.parameters().map(texts)).map(Vec::as_slice)
    }

    fn generic_parameters(&self, of: GenericOwner) -> Result<&[String], F::Error> {
        let [class, method] = &self.generic_parameters;
        let cell = match of {
            GenericOwner::Type => class,
            GenericOwner::Method => method,
        };
        once(cell, || self.facts.generic_parameters(of)).map(Vec::as_slice)
    }

    fn generic_arguments(&self, of: GenericOwner) -> Result<&[TypeText], F::Error> {
        let [class, method] = &self.generic_arguments;
        let cell = match of {
            GenericOwner::Type => class,
            GenericOwner::Method => method,
        };
        once(cell, || self.facts.generic_arguments(of).map(texts)).map(Vec::as_slice)
    }

    fn bindings(&self) -> Result<&Bindings, F::Error> {
        once(&self.bindings, || {
            let mut bound = Vec::new();
            // Those of the method first: they hide those of the type.
            for of in [GenericOwner::Method, GenericOwner::Type] {
                let arguments = self.generic_arguments(of)?;
                if !arguments.is_empty() {
                    let names = self.generic_parameters(of)?;
                    bound.extend(names.iter().cloned().zip(arguments.iter().cloned()));
                }
            }
            Ok(Bindings(bound))
        })
    }

    fn attributes(&self, of: AttributeOwner) -> Result<&[TypeText], F::Error> {
        let [method, class, assembly] = &self.attributes;
        let cell = match of {
            AttributeOwner::Method => method,
            AttributeOwner::Type => class,
            AttributeOwner::Assembly => assembly,
        };
        once(cell, || self.facts.attributes(of).map(texts)).map(Vec::as_slice)
    }

    fn bases(&self) -> Result<&[TypeText], F::Error> {
        once(&self.bases, || self.facts.base_types().map(texts)).map(Vec::as_slice)
    }

    fn interfaces(&self) -> Result<&[TypeText], F::Error> {
        once(&self.interfaces, || self.facts.interfaces().map(texts)).map(Vec::as_slice)
    }

    fn has_parameters(&self, items: &[ListItem]) -> Result<bool, F::Error> {
        let types = self.parameters()?;
        if types_match(items, types, &Bindings::default()) {
            return Ok(true);
        }
        // The arguments of the instance instead of its parameters, only where that can make a difference.
        let fixed = items
            .iter()
            .filter(|item| matches!(item, ListItem::Type(_)));
        if fixed.count() > types.len() {
            return Ok(false);
        }
        Ok(types_match(items, types, self.bindings()?))
    }

    /// Whether a list matches the generic arguments, or the names of the parameters.
    fn has_arguments(&self, of: GenericOwner, items: &[ListItem]) -> Result<bool, F::Error> {
        let count = match of {
            GenericOwner::Type => self.parts().iter().map(|part| part.arity).sum(),
            GenericOwner::Method => self.generic_parameters(of)?.len(),
        };
        let indices: Vec<usize> = (0..count).collect();
        list_matches(
            items,
            &indices,
            |item| matches!(item, ListItem::Any),
            |_| true,
            |item, index| {
                let ListItem::Type(item) = item else {
                    return Ok(false);
                };
                let bound = Bindings::default();
                if item.is_any() {
                    return Ok(true);
                }
                if let Some(argument) = self.generic_arguments(of)?.get(index)
                    && item.matches(argument, &bound)
                {
                    return Ok(true);
                }
                let name = self.generic_parameters(of)?.get(index);
                Ok(name.is_some_and(|name| item.matches(&TypeText::new(name), &bound)))
            },
        )
    }
}

impl MethodPattern {
    pub(super) fn is_met<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        Ok(self.has_names(subject)
            && self.has_assembly(subject)?
            && self.has_access(subject)?
            && self.has_shape(subject)?
            && self.has_attributes(subject)?
            && self.has_bases(subject)?)
    }

    fn has_names<F: MethodFacts + ?Sized>(&self, subject: &Subject<'_, F>) -> bool {
        let all = self.is_exclusion || self.is_generated;
        let may = all || !subject.has_generated_name() || self.method.prefix().starts_with('<');
        may && (!self.is_generated || subject.is_generated())
            && self.method.matches(subject.name)
            && self.has_type_names(subject, all)
    }

    fn has_type_names<F: MethodFacts + ?Sized>(&self, subject: &Subject<'_, F>, all: bool) -> bool {
        // Without a name of the compiler there is no need to take it apart.
        let is_met = self.class.is_any() && (all || !subject.class.contains('<'));
        is_met || self.class.names(subject.parts(), all)
    }

    fn has_assembly<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        match &self.assembly {
            Some((_, name)) => Ok(name.matches(subject.assembly()?)),
            None => Ok(true),
        }
    }

    fn has_access<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        let Some(wanted) = self.access else {
            return Ok(true);
        };
        let access = *once(&subject.access, || subject.facts.access())?;
        Ok(access == wanted)
    }

    fn has_shape<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        if let Some(items) = &self.parameters
            && !subject.has_parameters(items)?
        {
            return Ok(false);
        }
        if let Some(items) = &self.class.arguments
            && !subject.has_arguments(GenericOwner::Type, items)?
        {
            return Ok(false);
        }
        match &self.method_arguments {
            Some(items) => subject.has_arguments(GenericOwner::Method, items),
            None => Ok(true),
        }
    }

    fn has_attributes<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        for (owner, pattern) in &self.attributes {
            let found = subject.attributes(*owner)?;
            if !found.iter().any(|text| pattern.matches_attribute(text)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_bases<F: MethodFacts + ?Sized>(
        &self,
        subject: &Subject<'_, F>,
    ) -> Result<bool, F::Error> {
        let bound = Bindings::default();
        for pattern in &self.bases {
            let is_one = |text: &TypeText| pattern.matches(text, &bound);
            if !subject.bases()?.iter().any(is_one) && !subject.interfaces()?.iter().any(is_one) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
