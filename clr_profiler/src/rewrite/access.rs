//! Checks whether code may use the types and members that it names. This is the last check of the JIT for a
//! reference, which otherwise throws an exception in the program.
//!
//! Only inserted code is checked; the original code runs as before. References that cannot be resolved,
//! because a module is not loaded, are accepted.

use std::sync::Arc;

use super::error::Refused;
use super::lookup::{
    Lookup, ModulesByName, NotFound, SearchResult, TypeDefinition, signature_text,
};
use super::module_metadata::ModuleMetadata;
use super::store::Module;
use super::subject::Subject;
use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::metadata::{Metadata, MetadataAssemblyImport, MetadataImport};
use clr_profiler_il::access::{self, Accessibility};
use clr_profiler_il::attributes::{MemberAccess, TypeAttributes};
use clr_profiler_il::metadata::{Member, Tables};
use clr_profiler_il::token::{FieldDef, MethodDef, Token, TypeDef, TypeToken};
use clr_profiler_il::usage::{AccessTarget, Usage};

/// The number of enclosing or base types after which hostile metadata is suspected.
const DEPTH_LIMIT: usize = 64;

/// The access to a reference, the same for all code of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// Code may use it if all of them permit that. Public types and members have none.
    limits: Arc<[Limit]>,
}

#[derive(Clone, Debug)]
struct Limit {
    what: String,
    to: Accessibility,
    /// The type that declares it, or that encloses it, in the module that defines it.
    module: ModuleId,
    class: TypeDef,
}

/// Refuses the references that code of the method may not use.
pub(super) fn check(
    used: &Usage,
    subject: &Subject<'_>,
    module_metadata: &ModuleMetadata<'_>,
    cached: &Module,
    listing: impl Fn() -> String,
) -> Result<()> {
    if used.names.is_empty() && used.constructors.is_empty() {
        return Ok(());
    }
    let checker = AccessChecker {
        lookup: Lookup::of(subject.info),
        module_metadata,
        module: subject.module,
    };
    let names = used.names.iter().filter_map(|&name| {
        let access = cached.access.get(name, || checker.access(name));
        let class = subject.props.class;
        let broken = access
            .limits
            .iter()
            .find(|limit| !checker.allows(limit, class));
        broken.map(|limit| format!("{} {}{}", limit.what, limit.to, checker.remedy(limit)))
    });
    let constructors = used.constructors.iter().filter_map(|&constructor| {
        let made = cached
            .made
            .get(constructor, || checker.cannot_make(constructor));
        made.map(|problem| problem.to_string())
    });
    match names.chain(constructors).next() {
        None => Ok(()),
        Some(problem) => Err(Error::other(Refused {
            problem,
            listing: listing(),
        })),
    }
}

/// Resolves references of one module.
struct AccessChecker<'a, 'info> {
    lookup: Lookup<'a>,
    module_metadata: &'a ModuleMetadata<'info>,
    module: ModuleId,
}

impl<'a> AccessChecker<'a, '_> {
    /// The words after the limit of another assembly that its author can lift.
    fn remedy(&self, limit: &Limit) -> &'static str {
        match limit.to {
            Accessibility::Assembly | Accessibility::FamOrAssem if limit.module != self.module => {
                ": make it public, or name the assembly of this method in an `InternalsVisibleTo` of its own"
            }
            _ => "",
        }
    }

    fn metadata(&self) -> Option<Metadata<'a>> {
        self.lookup.info().module_metadata(self.module).ok()
    }

    /// The result of the search; `None` if it is unknown.
    fn find<T>(
        &self,
        search: impl Fn(&ModulesByName, Metadata<'a>) -> SearchResult<T>,
    ) -> Option<T> {
        let found = self.lookup.search(|known| {
            let metadata = self.lookup.info().module_metadata(self.module)?;
            search(known, metadata)
        });
        found.ok()
    }

    fn access(&self, name: Token) -> Access {
        let mut limits = Vec::new();
        for part in AccessTarget::of(self.module_metadata, name) {
            match part {
                AccessTarget::Class(class) => {
                    let look = |definition: &TypeDefinition<'_>| Some(of_type(definition));
                    let found = self.lookup.in_type(self.module, class, look);
                    limits.extend(found.into_iter().flatten());
                }
                AccessTarget::Member {
                    token,
                    class,
                    member,
                } => limits.extend(self.member(token, class, &member)),
            }
        }
        Access {
            limits: limits.into(),
        }
    }

    fn member(&self, token: Token, class: TypeToken, member: &Member) -> Option<Limit> {
        let found = self.find(|known, metadata| {
            if let TypeToken::Def(class) = class {
                let access = own_access(&metadata, token)?;
                let definition = TypeDefinition {
                    module: self.module,
                    metadata,
                    class,
                };
                return Ok(of_member(&definition, &member.name, access));
            }
            let wanted = signature_text(&metadata, &member.signature).ok_or(NotFound::Unknown)?;
            let lookup = self.lookup;
            let definition = lookup.definition_of(known, self.module, metadata, class)?;
            let found = lookup.member_named(known, definition, &member.name, &wanted);
            found.map(|(definition, attributes)| {
                of_member(&definition, &member.name, attributes.access())
            })
        });
        found.flatten()
    }

    /// Why `newobj` cannot create an object with this constructor.
    fn cannot_make(&self, constructor: Token) -> Option<Arc<str>> {
        let member = self.module_metadata.member(constructor)?;
        if member.name != ".ctor" {
            return Some(format!("newobj calls {}, which is no constructor", member.name).into());
        }
        let parent = TypeToken::try_from(member.parent).ok()?;
        let (name, attributes) = self.lookup.in_type(self.module, parent, |definition| {
            let props = definition.metadata.type_def_props(definition.class).ok();
            let attributes = props.map(|props| props.attributes);
            Some((definition.name(), attributes.unwrap_or_default()))
        })?;
        attributes
            .intersects(TypeAttributes::ABSTRACT | TypeAttributes::INTERFACE)
            .then(|| format!("{name} is abstract: newobj makes no objects of it").into())
    }

    /// Whether code of a type of this module may use a reference with this limit.
    fn allows(&self, limit: &Limit, class: TypeDef) -> bool {
        let checker = self;
        limit.to.permits(&AccessContext {
            checker,
            class,
            limit,
        })
    }

    /// A type of the module and its enclosing types.
    fn around(&self, class: TypeDef) -> Vec<TypeDef> {
        let metadata = self.metadata();
        metadata.map_or_else(Vec::new, |metadata| around(&metadata, class))
    }

    fn is_within(&self, class: TypeDef, outer: TypeDef) -> bool {
        self.around(class).contains(&outer)
    }

    /// Whether a type, or one that encloses it, derives from another; `true` if that is unknown.
    fn derives(&self, class: TypeDef, from: (ModuleId, TypeDef)) -> bool {
        let derives = |class: TypeDef| {
            let found = self.find(|known, metadata| {
                let mut next = TypeDefinition {
                    module: self.module,
                    metadata,
                    class,
                };
                for _ in 0..DEPTH_LIMIT {
                    if (next.module, next.class) == from {
                        return Ok(true);
                    }
                    next = match next.base()? {
                        None => return Ok(false),
                        Some(base) => self.lookup.known_type(known, next, base)?,
                    };
                }
                Err(NotFound::Unknown)
            });
            found.unwrap_or(true)
        };
        self.around(class).into_iter().any(derives)
    }

    /// The assemblies that such attributes of a module's assembly name.
    fn named_by(&self, module: ModuleId, attribute: &str) -> Option<Vec<String>> {
        let metadata = self.lookup.info().module_metadata(module).ok()?;
        let assembly = metadata.assembly_from_scope().ok()??;
        metadata.attribute_texts(assembly, attribute).ok()
    }

    /// Whether an assembly exposes its internals to this one; `true` if that is unknown.
    fn is_friend(&self, of: ModuleId) -> bool {
        const ATTRIBUTE: &str = "System.Runtime.CompilerServices.InternalsVisibleToAttribute";
        let own = self.module_metadata.own_assembly().ok().flatten();
        may_name(self.named_by(of, ATTRIBUTE), own)
    }

    /// Whether this assembly declares that access to another one is not checked.
    fn ignores_checks(&self, of: ModuleId) -> bool {
        const ATTRIBUTE: &str = "System.Runtime.CompilerServices.IgnoresAccessChecksToAttribute";
        let other = self.lookup.info().module_metadata(of).ok().and_then(|of| {
            let assembly = of.assembly_from_scope().ok()??;
            of.assembly_name(assembly).ok()
        });
        may_name(self.named_by(self.module, ATTRIBUTE), other)
    }
}

/// Code of a type of this module that uses a reference with a limit.
struct AccessContext<'a, 'info> {
    checker: &'a AccessChecker<'a, 'info>,
    class: TypeDef,
    limit: &'a Limit,
}

impl access::AccessContext for AccessContext<'_, '_> {
    fn is_in_module(&self) -> bool {
        self.limit.module == self.checker.module
    }

    fn is_in_type(&self) -> bool {
        self.is_in_module() && self.checker.is_within(self.class, self.limit.class)
    }

    fn is_in_assembly(&self) -> bool {
        self.is_in_module() || self.checker.is_friend(self.limit.module)
    }

    fn is_derived(&self) -> bool {
        let from = (self.limit.module, self.limit.class);
        self.checker.derives(self.class, from)
    }

    fn ignores_checks(&self) -> bool {
        !self.is_in_module() && self.checker.ignores_checks(self.limit.module)
    }
}

/// Whether one of these display names is of the assembly with this simple name; `true` if either is unknown.
fn may_name(named: Option<Vec<String>>, simple: Option<String>) -> bool {
    let (Some(named), Some(simple)) = (named, simple) else {
        return true;
    };
    let mut names = named.iter().filter_map(|display| display.split(',').next());
    names.any(|name| name.trim().eq_ignore_ascii_case(&simple))
}

/// A type and its enclosing types, from the inside out.
fn around(metadata: &Metadata<'_>, class: TypeDef) -> Vec<TypeDef> {
    let outer = |class: &TypeDef| metadata.nested_class_props(*class).ok().flatten();
    let all = std::iter::successors(Some(class), outer);
    all.take(DEPTH_LIMIT).collect()
}

/// The limits of a type and of its enclosing types.
fn of_type(definition: &TypeDefinition<'_>) -> Vec<Limit> {
    let metadata = &definition.metadata;
    let all = around(metadata, definition.class);
    let outer = all.iter().skip(1).chain(all.last());
    let limits = all.iter().zip(outer).map_while(|(&class, &outer)| {
        let props = metadata.type_def_props(class).ok()?;
        Some(
            Accessibility::of_type(props.attributes.visibility()).map(|to| Limit {
                what: definition.name(),
                to,
                module: definition.module,
                class: outer,
            }),
        )
    });
    limits.flatten().collect()
}

fn of_member(definition: &TypeDefinition<'_>, name: &str, access: MemberAccess) -> Option<Limit> {
    let to = Accessibility::of_member(name, access);
    to.map(|to| Limit {
        what: format!("{}::{name}", definition.name()),
        to,
        module: definition.module,
        class: definition.class,
    })
}

/// The accessibility of a method or field that the module defines.
fn own_access(metadata: &Metadata<'_>, token: Token) -> SearchResult<MemberAccess> {
    if let Ok(method) = MethodDef::try_from(token) {
        return Ok(metadata.method_props(method)?.attributes.access());
    }
    let field = FieldDef::try_from(token).map_err(|_| NotFound::Unknown)?;
    Ok(metadata.field_props(field)?.attributes.access())
}
