//! Methods as values.

use std::borrow::Cow;
use std::cell::RefCell;

use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{AttributeOwner, GenericOwner, MethodFacts};

/// A method, which records the facts that it is asked for.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) assembly: String,
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) access: MemberAccess,
    pub(crate) parameters: Vec<String>,
    pub(crate) generic_parameters: [Vec<String>; 2],
    pub(crate) generic_arguments: [Vec<String>; 2],
    pub(crate) attributes: [Vec<String>; 3],
    pub(crate) bases: Vec<String>,
    pub(crate) interfaces: Vec<String>,
    pub(crate) asked: RefCell<Vec<&'static str>>,
}

pub(crate) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

impl Facts {
    /// A public method without anything.
    pub(crate) fn new(assembly: &str, class: &str, name: &str) -> Self {
        Self {
            assembly: assembly.to_owned(),
            class: class.to_owned(),
            name: name.to_owned(),
            access: MemberAccess::Public,
            parameters: Vec::new(),
            generic_parameters: Default::default(),
            generic_arguments: Default::default(),
            attributes: Default::default(),
            bases: Vec::new(),
            interfaces: Vec::new(),
            asked: RefCell::default(),
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn ask(&self, fact: &'static str) {
        self.asked.borrow_mut().push(fact);
    }
}

/// The fact fails if its first value is `!`.
fn list(values: &[String]) -> Result<Vec<String>, &'static str> {
    match values.first().is_some_and(|first| first == "!") {
        true => Err("not this fact"),
        false => Ok(values.to_vec()),
    }
}

impl MethodFacts for Facts {
    type Error = &'static str;

    fn assembly(&self) -> Result<Cow<'_, str>, &'static str> {
        self.ask("assembly");
        Ok((&self.assembly).into())
    }

    fn type_path(&self) -> Result<Cow<'_, str>, &'static str> {
        Ok((&self.class).into())
    }

    fn method_name(&self) -> Result<Cow<'_, str>, &'static str> {
        Ok((&self.name).into())
    }

    fn access(&self) -> Result<MemberAccess, &'static str> {
        self.ask("access");
        Ok(self.access)
    }

    fn parameters(&self) -> Result<Vec<String>, &'static str> {
        self.ask("parameters");
        list(&self.parameters)
    }

    fn generic_parameters(&self, of: GenericOwner) -> Result<Vec<String>, &'static str> {
        self.ask("generic parameters");
        list(&self.generic_parameters[of as usize])
    }

    fn generic_arguments(&self, of: GenericOwner) -> Result<Vec<String>, &'static str> {
        self.ask("generic arguments");
        list(&self.generic_arguments[of as usize])
    }

    fn attributes(&self, of: AttributeOwner) -> Result<Vec<String>, &'static str> {
        self.ask("attributes");
        list(&self.attributes[of as usize])
    }

    fn base_types(&self) -> Result<Vec<String>, &'static str> {
        self.ask("bases");
        list(&self.bases)
    }

    fn interfaces(&self) -> Result<Vec<String>, &'static str> {
        self.ask("interfaces");
        list(&self.interfaces)
    }
}
