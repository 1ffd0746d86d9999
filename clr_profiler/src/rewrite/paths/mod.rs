//! Code that reads a value by the names of members: [`RewriteContext::read_path`].

mod types;

use super::RewriteContext;
use super::declared::Files;
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::{Metadata, MetadataImport, nested_names};
use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::core_library;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::{FieldSymbol, MethodSymbol, TypeSymbol};
use clr_profiler_il::token::{AssemblyRef, TypeRef, TypeToken};
use std::sync::Arc;

use types::{Facts, KnownTypes, Member, Named, Names, Type, named};

/// The number of base types after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// A step of a path to a value.
///
/// A field is read. A property is read as its field if its getter does nothing else and no other can take its place; any other
/// getter is code that may do anything, and runs only for a [`Call`](Self::Call).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathStep {
    /// A field, or a property whose getter only reads one.
    Member(Box<str>),
    /// The getter of a property, or a method without parameters, of this name.
    Call(Box<str>),
    /// The result of the indexer for a text.
    Item(Box<str>),
    /// The element of an array, or the result of the indexer for a number.
    Element(i32),
    /// The number of elements of an array or a collection, or of the characters of a string.
    Size,
    /// The object as one of another type; absent if it is none.
    As {
        /// The assembly of the type.
        assembly: Box<str>,
        /// The name of the type, with `+` before nested types.
        class: Box<str>,
    },
}

/// A member, and the type that declares it.
struct Found {
    owner: Named,
    facts: Arc<Facts>,
    member: usize,
}

impl Found {
    fn member(&self) -> Result<&Member> {
        let member = self.facts.members.get(self.member);
        member.ok_or_else(|| Error::other("no member"))
    }
}

/// The names of the types of a module.
struct InModule<'a, 'info> {
    metadata: &'a Metadata<'info>,
    own: &'a str,
}

impl Names for InModule<'_, '_> {
    fn name(&self, class: TypeToken) -> Option<(String, String)> {
        let path = nested_names(self.metadata, class).ok()?.join("/");
        let assembly = match class {
            TypeToken::Def(_) => self.own.to_owned(),
            TypeToken::Ref(class) => self.assembly(class)?,
            TypeToken::Spec(_) => return None,
        };
        Some((assembly, path))
    }
}

impl InModule<'_, '_> {
    fn assembly(&self, class: TypeRef) -> Option<String> {
        let mut next = class;
        for _ in 0..DEPTH_LIMIT {
            let scope = self.metadata.type_ref_props(next).ok()?.resolution_scope;
            if let Ok(assembly) = AssemblyRef::try_from(scope) {
                return self.metadata.assembly_ref_name(assembly).ok();
            }
            match TypeRef::try_from(scope) {
                Ok(outer) if !outer.is_nil() => next = outer,
                _ => return Some(self.own.to_owned()),
            }
        }
        None
    }
}

impl RewriteContext<'_> {
    /// Code that reads the value at a path, and passes it to the code of `use_value`; nothing of the latter runs if an object on
    /// the path is null. The last value may be null.
    ///
    /// `root` loads the first value, of the type `root_type`, in terms of the method's module. Types and members are resolved now, by the
    /// files of their assemblies, loaded or not: no reflection runs later. Locals are added to `body` for values of structures.
    /// Exceptions of the getters that a path [calls](PathStep::Call) propagate.
    ///
    /// # Errors
    ///
    /// That there is no such member, that code of the method may not use it, that its getter may run other code and is not called,
    /// or that a value can be stored nowhere, because it is by-ref-like; an error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    /// use clr_profiler::rewrite::PathStep;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
    /// // In `class Store { void Sell(Order order) { ... } }`: `order.Customer.Name`.
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let mut order = Fragment::new();
    ///     order.ldarg(1);
    ///     let of = cx.signature().params[0].clone();
    ///     let steps = ["Customer", "Name"].map(|name| PathStep::Member(name.into()));
    ///     let code = cx.read_path(body, &order, &of, &steps, |code, _| {
    ///         code.call(&write);
    ///     })?;
    ///     body.prologue(&code)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_path(
        &mut self,
        body: &mut MethodBody,
        root: &Fragment,
        root_type: &TypeSig,
        steps: &[PathStep],
        use_value: impl FnOnce(&mut Fragment, &TypeSig),
    ) -> Result<Fragment> {
        let own = self.module_metadata.own_assembly()?.unwrap_or_default();
        let metadata = self.info().module_metadata(self.module())?;
        let class = nested_names(&metadata, self.props().class.into())?.join("/");
        let names = InModule {
            metadata: &metadata,
            own: &own,
        };
        let at = named(&names, root_type);
        let mut code = Fragment::new();
        let absent = code.label();
        code.append(root);
        let mut reader = Reader {
            cx: self,
            body,
            own,
            class,
            files: None,
            code,
            absent,
            at,
            sig: root_type.unmodified().clone(),
        };
        for step in steps {
            reader.step(step)?;
        }
        reader.check_value()?;
        let Reader { mut code, sig, .. } = reader;
        use_value(&mut code, &sig);
        code.mark(absent);
        Ok(code)
    }
}

/// The code so far, and the type of the value that it leaves.
struct Reader<'r, 'a> {
    cx: &'r mut RewriteContext<'a>,
    body: &'r mut MethodBody,
    /// The assembly and the type of the method.
    own: String,
    class: String,
    files: Option<Files>,
    code: Fragment,
    absent: Label,
    at: Type,
    sig: TypeSig,
}

impl Reader<'_, '_> {
    fn step(&mut self, step: &PathStep) -> Result<()> {
        match step {
            PathStep::Member(name) => self.member(name),
            PathStep::Call(name) => {
                let getter = format!("get_{name}");
                let found = self.find(name, |member| {
                    (member.name == getter || *member.name == **name) && is_nullary(member)
                })?;
                self.call(&found, |_| {})
            }
            PathStep::Item(text) => {
                let of_text =
                    |member: &Member, arguments: &[Type]| match member.parameters.as_deref() {
                        Some([key]) => {
                            member.name == "get_Item"
                                && key.with(arguments) == Type::Plain(TypeSig::String)
                        }
                        _ => false,
                    };
                let found = self.find_of("indexer for a text", of_text)?;
                self.call(&found, |code| {
                    code.ldstr(&**text);
                })
            }
            PathStep::Element(number) => self.element(*number),
            PathStep::Size => self.size(),
            PathStep::As { assembly, class } => self.cast(assembly, class),
        }
    }

    fn member(&mut self, name: &str) -> Result<()> {
        let getter = format!("get_{name}");
        let is_it = |member: &Member| {
            (member.parameters.is_none() && member.name == name)
                || (member.name == getter && is_nullary(member))
        };
        let found = self.find(name, is_it)?;
        let member = found.member()?;
        if member.parameters.is_some() {
            if !member.is_plain {
                return Err(Error::other(format!(
                    "the getter of {}.{name} may run other code: `{name}()` calls it",
                    found.owner.path
                )));
            }
            return self.call(&found, |_| {});
        }
        self.object(&found.owner)?;
        let field = FieldSymbol {
            owner: owner(&found.owner),
            name: name.into(),
            field_type: member.value.text().into(),
        };
        self.code.ldfld(&field);
        self.continue_with(member.value.with(&found.owner.arguments))
    }

    /// Calls an instance method; `arguments` loads its arguments.
    fn call(&mut self, found: &Found, arguments: impl FnOnce(&mut Fragment)) -> Result<()> {
        let member = found.member()?;
        self.object(&found.owner)?;
        let method = MethodSymbol {
            owner: owner(&found.owner),
            name: member.name.as_str().into(),
            signature: member.signature().into(),
            type_arguments: Vec::new(),
        };
        arguments(&mut self.code);
        match found.owner.is_value {
            true => self.code.call(&method),
            false => self.code.callvirt(&method),
        };
        self.continue_with(member.value.with(&found.owner.arguments))
    }

    fn element(&mut self, number: i32) -> Result<()> {
        let Type::Vector(element) = self.at.clone() else {
            let of_number = |member: &Member| {
                let parameters = member.parameters.as_deref();
                member.name == "get_Item" && parameters == Some(&[Type::Plain(TypeSig::I4)])
            };
            let found = self.find("indexer for a number", of_number)?;
            return self.call(&found, |code| {
                code.ldc_i4(number);
            });
        };
        self.not_null();
        let is_there = self.code.label();
        self.code
            .dup()
            .ldlen()
            .conv_i4()
            .ldc_i4(number)
            .bgt(is_there)
            .pop()
            .br(self.absent)
            .mark(is_there)
            .ldc_i4(number);
        let sig = self.type_sig(&element)?;
        let operand = self.cx.type_operand(&sig)?;
        self.code.ldelem(operand);
        self.continue_with(*element)
    }

    fn size(&mut self) -> Result<()> {
        if let Type::Vector(_) = self.at {
            self.not_null();
            self.code.ldlen().conv_i4();
            return self.continue_with(Type::Plain(TypeSig::I4));
        }
        let is_size = |member: &Member| {
            let is_named = ["get_Count", "get_Length"].contains(&&*member.name);
            is_named && is_nullary(member) && member.value == Type::Plain(TypeSig::I4)
        };
        let found = self.find("number of elements", is_size)?;
        self.call(&found, |_| {})
    }

    fn cast(&mut self, assembly: &str, class: &str) -> Result<()> {
        let mut to = Named {
            assembly: assembly.to_owned(),
            path: class.replace('+', "/"),
            is_value: false,
            arguments: Vec::new(),
        };
        let facts = self.facts(&to)?;
        to.is_value = facts.is_value;
        self.check_type(&facts, &to)?;
        if self.is_value() {
            return Err(Error::other(format!(
                "{} is a value, which is of its own type alone",
                self.name()
            )));
        }
        self.refer_to(&Type::Named(to.clone()))?;
        let name = TypeSymbol::new(&to.name());
        self.code.isinst(&name);
        if to.is_value {
            self.not_null();
            self.code.unbox_any(&name);
        }
        self.continue_with(Type::Named(to))
    }

    /// Leaves the object whose member is used: a reference that is not null, or the address of a value.
    fn object(&mut self, owner: &Named) -> Result<()> {
        self.refer_to(&Type::Named(owner.clone()))?;
        if !self.is_value() {
            self.not_null();
            return Ok(());
        }
        if !owner.is_value {
            return Err(Error::other(format!(
                "{} inherits it from {}: a value would have to be boxed",
                self.name(),
                owner.path
            )));
        }
        let local = self.body.add_local(self.sig.clone())?;
        self.code.stloc(local).ldloca(local);
        Ok(())
    }

    /// Continues only with a reference that is not null.
    fn not_null(&mut self) {
        let next = self.code.label();
        self.code
            .dup()
            .brtrue(next)
            .pop()
            .br(self.absent)
            .mark(next);
    }

    fn continue_with(&mut self, next: Type) -> Result<()> {
        if next.is_nameless() {
            return Err(Error::other(
                "the next value is a pointer, a reference or of another type without members",
            ));
        }
        self.refer_to(&next)?;
        self.sig = self.type_sig(&next)?;
        self.at = next;
        Ok(())
    }

    fn type_sig(&mut self, of: &Type) -> Result<TypeSig> {
        match of {
            Type::Plain(plain) => Ok(plain.clone()),
            of => self.cx.type_sig(&of.text()),
        }
    }

    /// Lets the module refer to the assemblies of a type, which have files.
    fn refer_to(&mut self, of: &Type) -> Result<()> {
        match of {
            Type::Plain(_) | Type::Other => Ok(()),
            Type::Vector(element) => self.refer_to(element),
            Type::Named(named) => {
                let is_core = named.assembly == core_library::ALIAS
                    || core_library::has_name(&named.assembly);
                if !is_core {
                    self.cx.assume_loadable(&named.assembly)?;
                }
                let mut arguments = named.arguments.iter();
                arguments.try_for_each(|argument| self.refer_to(argument))
            }
        }
    }

    fn is_value(&self) -> bool {
        match &self.at {
            Type::Named(named) => named.is_value,
            Type::Vector(_) => false,
            Type::Plain(plain) => !matches!(plain, TypeSig::String | TypeSig::Object),
            Type::Other => true,
        }
    }

    fn name(&self) -> String {
        match &self.at {
            Type::Named(named) => named.path.clone(),
            other => other.text(),
        }
    }

    fn facts(&mut self, of: &Named) -> Result<Arc<Facts>> {
        let (info, module) = (self.cx.info(), self.cx.module());
        let known: &KnownTypes = info.extension();
        let found = known.find(info, module, &mut self.files, of)?;
        found.ok_or_else(|| {
            Error::other(format!(
                "no file has the type {} of {}",
                of.path, of.assembly
            ))
        })
    }

    /// A class of the core library.
    fn core(&self, path: &str) -> Named {
        Named {
            assembly: self.cx.info().core_library().to_owned(),
            path: path.to_owned(),
            is_value: false,
            arguments: Vec::new(),
        }
    }

    /// A member of the type of the value, of a base type, or of an interface of an interface.
    fn find(&mut self, what: &str, is_it: impl Fn(&Member) -> bool) -> Result<Found> {
        self.find_of(what, |member, _| is_it(member))
    }

    /// The same, with the arguments of the type that declares the member.
    fn find_of(&mut self, what: &str, is_it: impl Fn(&Member, &[Type]) -> bool) -> Result<Found> {
        let start = match &self.at {
            Type::Named(named) => named.clone(),
            Type::Plain(TypeSig::String) => self.core("System.String"),
            Type::Plain(TypeSig::Object) => self.core("System.Object"),
            Type::Vector(_) => self.core("System.Array"),
            _ => {
                return Err(Error::other(format!(
                    "{} has no known members",
                    self.name()
                )));
            }
        };
        let mut waiting = vec![start];
        let mut refused = None;
        for _ in 0..DEPTH_LIMIT {
            let Some(mut owner) = waiting.pop() else {
                break;
            };
            let facts = self.facts(&owner)?;
            owner.is_value = facts.is_value;
            let members = (0..).zip(&facts.members);
            let candidates = members.filter(|(_, member)| is_it(member, &owner.arguments));
            for (member, candidate) in candidates {
                if let Err(reason) = self.check_access(&facts, &owner, candidate) {
                    refused.get_or_insert(reason);
                    continue;
                }
                return Ok(Found {
                    owner,
                    facts,
                    member,
                });
            }
            let inherited = facts.base.iter();
            let inherited = inherited.chain(facts.interfaces.iter().filter(|_| facts.is_interface));
            for next in inherited {
                if let Type::Named(next) = next.with(&owner.arguments) {
                    waiting.push(next);
                }
            }
        }
        Err(refused.unwrap_or_else(|| Error::other(format!("{} has no {what}", self.name()))))
    }

    fn check_type(&self, facts: &Facts, of: &Named) -> Result<()> {
        let is_own = facts.home.eq_ignore_ascii_case(&self.own);
        let is_within =
            is_own && (self.class == of.path || self.class.starts_with(&format!("{}/", of.path)));
        match is_within || facts.is_public || (is_own && facts.is_internal) {
            true => Ok(()),
            false => Err(Error::other(format!(
                "{} is not accessible to this code",
                of.path
            ))),
        }
    }

    fn check_access(&self, facts: &Facts, of: &Named, member: &Member) -> Result<()> {
        self.check_type(facts, of)?;
        let is_own = facts.home.eq_ignore_ascii_case(&self.own);
        let is_within =
            is_own && (self.class == of.path || self.class.starts_with(&format!("{}/", of.path)));
        let is_allowed = match member.access {
            MemberAccess::Public => true,
            MemberAccess::Assembly | MemberAccess::FamOrAssem => is_own,
            _ => is_within,
        };
        match is_allowed || is_within {
            true => Ok(()),
            false => Err(Error::other(format!(
                "{}.{} is not accessible to this code",
                of.path, member.name
            ))),
        }
    }

    /// Whether the last value can be used.
    fn check_value(&mut self) -> Result<()> {
        let Type::Named(of) = self.at.clone() else {
            return match self.at {
                Type::Other => Err(Error::other(
                    "the value is a pointer, or of a type without name",
                )),
                _ => Ok(()),
            };
        };
        let facts = self.facts(&of)?;
        if facts.is_by_ref_like {
            return Err(Error::other(format!(
                "{} is by-ref-like, and its values can be kept nowhere",
                of.path
            )));
        }
        self.check_type(&facts, &of)
    }
}

fn is_nullary(member: &Member) -> bool {
    member.parameters.as_ref().is_some_and(Vec::is_empty)
}

fn owner(of: &Named) -> TypeSymbol {
    match of.arguments.is_empty() {
        true => TypeSymbol::new(&of.name()),
        false => TypeSymbol::new(&of.text()),
    }
}
