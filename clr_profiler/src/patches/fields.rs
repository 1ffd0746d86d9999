//! The fields that code of a method can reach: those that its type declares, and those of its base types.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::method_facts::definition;
use crate::info::names::assembly_name;
use crate::info::{CorProfilerInfo, CorProfilerInfo2};
use crate::metadata::{Metadata, MetadataAssemblyImport, MetadataImport, nested_names};
use crate::rewrite::{RewriteContext, address};
use crate::runtime::{ProfilerInfo, lock};
use clr_profiler_il::attributes::{FieldAttributes, MemberAccess};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{TokenNames, TypeNames, TypeSig};
use clr_profiler_il::symbol::FieldSymbol;
use clr_profiler_il::token::{AssemblyRef, FieldDef, TypeDef, TypeRef, TypeToken};

/// The number of base types after which hostile metadata is suspected.
pub(super) const DEPTH_LIMIT: usize = 64;

/// The types that a module names.
pub(super) struct Types<'info> {
    pub(super) metadata: Metadata<'info>,
    /// The module's own assembly.
    pub(super) own: String,
}

impl<'info> Types<'info> {
    pub(super) fn of(info: &'info ProfilerInfo, module: ModuleId) -> Result<Self> {
        let metadata = info.module_metadata(module)?;
        let own = assembly_name(info, module, &metadata)?;
        Ok(Self { metadata, own })
    }

    /// The assembly that is referred to for a type; `None` for the own one.
    pub(super) fn assembly(&self, class: TypeToken) -> Result<Option<String>> {
        let mut next = class;
        for _ in 0..DEPTH_LIMIT {
            let TypeToken::Ref(class) = next else {
                break;
            };
            let scope = self.metadata.type_ref_props(class)?.resolution_scope;
            if let Ok(assembly) = AssemblyRef::try_from(scope) {
                return Ok(Some(self.metadata.assembly_ref_props(assembly)?.name));
            }
            match TypeRef::try_from(scope) {
                Ok(outer) if !outer.is_nil() => next = TypeToken::Ref(outer),
                _ => break,
            }
        }
        Ok(None)
    }
}

/// Names with the assemblies that a module has them in, for symbols.
struct Qualified<'a, 'info>(&'a Types<'info>);

impl TypeNames for Qualified<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        let types = self.0;
        let names = nested_names(&types.metadata, token);
        let (Ok(names), Ok(assembly)) = (names, types.assembly(token)) else {
            return out.write_str("?");
        };
        let assembly = assembly.as_deref().unwrap_or(&types.own);
        write!(out, "[{assembly}]{}", names.join("/"))
    }
}

/// A field that is no constant.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) is_static: bool,
    pub(super) is_init_only: bool,
    /// Its type, in terms of the module that declares it.
    pub(super) sig: TypeSig,
    /// Its definition.
    pub(super) at: (ModuleId, TypeDef, FieldDef),
    /// If a base type declares it.
    pub(super) inherited: Option<Inherited>,
}

/// A field of a base type.
#[derive(Clone, Debug)]
pub(super) struct Inherited {
    /// The base type, as a symbol.
    pub(super) owner: String,
    /// Its type as text, in terms of the method's module.
    pub(super) type_text: String,
    /// Whether that is the module of the base type, too.
    pub(super) is_same_module: bool,
    /// Whether code of the derived type may name it.
    pub(super) is_accessible: bool,
}

/// The fields of a type: its own, and then those of its base types, the nearest first.
pub(super) struct Fields {
    pub(super) all: Vec<Field>,
    /// Whether a base type is not known yet, so that there may be more.
    pub(super) has_unknown_base: bool,
}

/// The fields of a type, without those of base types that are generic.
pub(super) fn of_type(info: &ProfilerInfo, module: ModuleId, class: TypeDef) -> Result<Fields> {
    let types = Types::of(info, module)?;
    let mut fields = Fields {
        all: Vec::new(),
        has_unknown_base: false,
    };
    fields.add(&types, (module, class), None)?;
    let mut next = base(&types.metadata, class)?;
    let mut at = module;
    for _ in 0..DEPTH_LIMIT {
        let Some(class) = next.filter(|class| !matches!(class, TypeToken::Spec(_))) else {
            break;
        };
        let here = info.module_metadata(at)?;
        let Some((defined, class)) = definition(info, at, &here, class)? else {
            fields.has_unknown_base = true;
            break;
        };
        let of_base = Types::of(info, defined)?;
        fields.add(&of_base, (defined, class), Some(module))?;
        next = base(&of_base.metadata, class)?;
        at = defined;
    }
    Ok(fields)
}

/// The base of a type, if it has one.
fn base(metadata: &Metadata<'_>, class: TypeDef) -> Result<Option<TypeToken>> {
    let extends = metadata.type_def_props(class)?.extends;
    match extends.is_nil() {
        true => Ok(None),
        false => TypeToken::try_from(extends).map(Some).map_err(Error::other),
    }
}

impl Fields {
    /// Adds the fields that a type declares: the method's own type, or a base type of one in another module or the same.
    fn add(
        &mut self,
        types: &Types<'_>,
        (module, class): (ModuleId, TypeDef),
        derived: Option<ModuleId>,
    ) -> Result<()> {
        let is_same_module = derived.is_none_or(|derived| derived == module);
        let owner = match derived {
            None => String::new(),
            Some(_) => {
                let name = nested_names(&types.metadata, class.into())?.join("/");
                match is_same_module {
                    true => name,
                    false => format!("[{}]{name}", types.own),
                }
            }
        };
        for field in types.metadata.fields(class) {
            let field = field?;
            let props = types.metadata.field_props(field)?;
            if props.attributes.contains(FieldAttributes::LITERAL) {
                continue;
            }
            let signature = props.signature()?;
            let sig = signature.field_type.unmodified();
            let inherited = derived.map(|_| Inherited {
                owner: owner.clone(),
                type_text: match is_same_module {
                    true => sig.text(&TokenNames).to_string(),
                    false => sig.text(&Qualified(types)).to_string(),
                },
                is_same_module,
                is_accessible: match props.attributes.access() {
                    MemberAccess::Public | MemberAccess::Family | MemberAccess::FamOrAssem => true,
                    MemberAccess::Assembly | MemberAccess::FamAndAssem => is_same_module,
                    _ => false,
                },
            });
            self.all.push(Field {
                name: props.name,
                is_static: props.attributes.is_static(),
                is_init_only: props.attributes.contains(FieldAttributes::INIT_ONLY),
                sig: sig.clone(),
                at: (module, class, field),
                inherited,
            });
        }
        Ok(())
    }
}

impl Field {
    /// Whether code of the method may name it.
    fn is_named(&self) -> bool {
        let inherited = self.inherited.as_ref();
        inherited.is_none_or(|inherited| inherited.is_accessible)
    }

    fn symbol(&self, cx: &RewriteContext<'_>) -> Result<FieldSymbol> {
        match &self.inherited {
            None => cx.own_field(&self.name, &self.sig.text(&TokenNames).to_string()),
            Some(Inherited {
                owner, type_text, ..
            }) => Ok(FieldSymbol::new(owner, &self.name, type_text)),
        }
    }

    /// Its type, in terms of the method's module.
    pub(super) fn type_in(&self, cx: &mut RewriteContext<'_>) -> Result<TypeSig> {
        match &self.inherited {
            Some(inherited) if !inherited.is_same_module => cx.type_sig(&inherited.type_text),
            _ => Ok(self.sig.clone()),
        }
    }

    /// That it is static and private in a base type, which no code of the derived type can reach.
    pub(super) fn hidden_static(&self) -> Option<String> {
        let inherited = self.inherited.as_ref();
        let inherited = inherited.filter(|one| self.is_static && !one.is_accessible)?;
        Some(format!(
            "the field {} is static, and private in {}: a patch of a method of that type gets it",
            self.name, inherited.owner
        ))
    }
}

/// How code reaches a field of `this`, or a static one.
#[derive(Clone)]
pub(super) enum FieldPlace {
    Named(FieldSymbol),
    /// A private field of a base type: at a distance from a field that the code may name.
    Hidden {
        anchor: FieldSymbol,
        distance: Box<Fragment>,
    },
}

impl FieldPlace {
    /// The place of a field, given all fields of the type.
    pub(super) fn of<'f>(
        field: &Field,
        mut all: impl Iterator<Item = &'f Field>,
        cx: &RewriteContext<'_>,
    ) -> Result<Self> {
        if field.is_named() {
            return Ok(Self::Named(field.symbol(cx)?));
        }
        let name = &field.name;
        let anchor = all.find(|other| !other.is_static && other.is_named());
        let anchor = anchor.ok_or_else(|| {
            Error::other(format!(
                "the field {name} is private in a base type, and the type has no field from which it could be found: patch a \
                 method of the base type"
            ))
        })?;
        let distance = distance(cx.info(), anchor, field).map_err(|error| {
            Error::other(format!(
                "the field {name} is private in a base type, and its offset is not known: {error}"
            ))
        })?;
        Ok(Self::Hidden {
            anchor: anchor.symbol(cx)?,
            distance: Box::new(loaded(distance)),
        })
    }

    /// Pushes the address of a field of `this` that has no name.
    pub(super) fn hidden_address(code: &mut Fragment, anchor: &FieldSymbol, distance: &Fragment) {
        code.ldarg(0).ldflda(anchor).append(distance).add();
    }
}

/// The bytes from one instance field of an object to another one.
fn distance(info: &ProfilerInfo, from: &Field, to: &Field) -> Result<i32> {
    let offset = |field: &Field| {
        let (module, class, token) = field.at;
        let layout = info.class_layout(info.class_from_token(module, class)?)?;
        let mut offsets = layout.fields.into_iter();
        let found = offsets.find(|(of, _)| *of == token);
        let found = found.and_then(|(_, offset)| i32::try_from(offset).ok());
        found.ok_or_else(|| Error::other("it has no offset"))
    };
    Ok(offset(to)? - offset(from)?)
}

/// Code that pushes a distance. It is read from memory: the JIT, which knows the fields of types, then makes no assumption about
/// the value there.
fn loaded(distance: i32) -> Fragment {
    static DISTANCES: Mutex<BTreeMap<i32, &'static i32>> = Mutex::new(BTreeMap::new());
    let mut known = lock(&DISTANCES);
    let cell = *known
        .entry(distance)
        .or_insert_with(|| Box::leak(Box::new(distance)));
    let mut code = address(std::ptr::from_ref(cell).expose_provenance());
    code.volatile().ldind_i4().conv_i();
    code
}
