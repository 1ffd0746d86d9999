//! The methods into which a compiler has split those of the source: which method each is a part of.

use std::collections::HashMap;

use clr_metadata::Metadata;
use clr_metadata::pdb::Pdb;
use clr_metadata::token::{MethodDef, TypeDef};

use super::classes::Classes;
use super::module::DEPTH;

/// The type of each method, and the method that it is directly a part of, by rows.
#[derive(Debug)]
pub(super) struct Sources(Vec<(TypeDef, Option<MethodDef>)>);

impl Sources {
    pub(super) fn of(metadata: &Metadata<'_>, classes: &Classes, pdb: Option<&Pdb<'_>>) -> Self {
        let mut search = Search {
            metadata,
            is_of_compiler: &|class| classes.get(class).is_of_compiler,
            pdb,
            named: Some(HashMap::new()),
        };
        let mut sources = vec![(TypeDef::NIL, None); metadata.tokens::<MethodDef>().count()];
        // By types: to find that of a method takes a search.
        for class in metadata.tokens::<TypeDef>() {
            for method in metadata.methods(class) {
                if let Some(index) = index(method)
                    && let Some(slot) = sources.get_mut(index)
                {
                    *slot = (class, search.find(class, method));
                }
            }
        }
        Self(sources)
    }

    /// The method that a method of a type is directly a part of, without a look at the others.
    pub(super) fn one(
        (metadata, pdb): (&Metadata<'_>, Option<&Pdb<'_>>),
        is_of_compiler: &dyn Fn(TypeDef) -> bool,
        class: TypeDef,
        method: MethodDef,
    ) -> Option<MethodDef> {
        let mut search = Search {
            metadata,
            is_of_compiler,
            pdb,
            named: None,
        };
        search.find(class, method)
    }

    pub(super) fn get(&self, method: MethodDef) -> Option<MethodDef> {
        self.0.get(index(method)?)?.1
    }

    /// The type of a method.
    pub(super) fn owner(&self, method: MethodDef) -> Option<TypeDef> {
        let (class, _) = self.0.get(index(method)?)?;
        Some(*class).filter(|class| !class.is_nil())
    }
}

fn index(method: MethodDef) -> Option<usize> {
    (method.row() as usize).checked_sub(1)
}

/// The name of a method. To check that it is UTF-8 takes longer than to compare it.
fn name<'a>(metadata: &Metadata<'a>, method: MethodDef) -> Option<&'a [u8]> {
    metadata.string_bytes(metadata.row(method).ok()?.name).ok()
}

/// Whether a method has a name that no source can have.
pub(super) fn is_named_by_compiler(metadata: &Metadata<'_>, method: MethodDef) -> bool {
    name(metadata, method).is_none_or(|name| name.starts_with(b"<"))
}

/// Methods by their names.
type Named<'a> = HashMap<&'a [u8], Vec<MethodDef>>;

struct Search<'m, 'a> {
    metadata: &'m Metadata<'a>,
    is_of_compiler: &'m dyn Fn(TypeDef) -> bool,
    pdb: Option<&'m Pdb<'a>>,
    /// The methods of types by their names, of those types that were looked at, if many are asked for.
    named: Option<HashMap<TypeDef, Named<'a>>>,
}

impl Search<'_, '_> {
    fn find(&mut self, class: TypeDef, method: MethodDef) -> Option<MethodDef> {
        let kickoff = self.pdb.and_then(|pdb| pdb.kickoff_method(method).ok()?);
        kickoff.or_else(|| self.method_around(class, method))
    }

    /// The method whose name is in that of a lambda, local function or state machine: `Sum` of `<Sum>b__0_1`, `<Sum>g__Add|0_0` and
    /// `<Sum>d__0.MoveNext`.
    fn method_around(&mut self, mut class: TypeDef, method: MethodDef) -> Option<MethodDef> {
        let metadata = self.metadata;
        let mut name = name(metadata, method)?;
        let mut kinds: &[u8] = b"bg";
        if !name.starts_with(b"<") {
            if !(self.is_of_compiler)(class) {
                return None;
            }
            name = metadata.string_bytes(metadata.row(class).ok()?.name).ok()?;
            class = metadata.enclosing_type(class)?;
            kinds = b"d";
        }
        let name = name.strip_prefix(b"<")?;
        let end = name.iter().rposition(|one| *one == b'>')?;
        let (around, kind) = (name.get(..end)?, name.get(end + 1..)?);
        if !kinds.contains(kind.first()?) {
            return None;
        }
        // Closures are types of the compiler in the type of the source.
        for _ in 0..DEPTH {
            let is_of_compiler = (self.is_of_compiler)(class);
            match metadata.enclosing_type(class).filter(|_| is_of_compiler) {
                Some(outer) => class = outer,
                None => break,
            }
        }
        match self.named(class, around).as_slice() {
            [one] => Some(*one),
            several => {
                let mut several = several.iter().copied();
                several.find(|one| surrounds(self.pdb, *one, method))
            }
        }
    }

    /// The methods of a type that have a name.
    fn named(&mut self, class: TypeDef, wanted: &[u8]) -> Vec<MethodDef> {
        let metadata = self.metadata;
        let methods = metadata.methods(class);
        let mut methods = methods.filter_map(|one| Some((name(metadata, one)?, one)));
        let Some(named) = &mut self.named else {
            let named = methods.filter(|(of, _)| *of == wanted);
            return named.map(|(_, one)| one).collect();
        };
        let named = named.entry(class).or_insert_with(|| {
            let mut named = Named::new();
            for (name, one) in methods.by_ref() {
                named.entry(name).or_default().push(one);
            }
            named
        });
        named.get(wanted).cloned().unwrap_or_default()
    }
}

/// Whether the lines of a method are around those of another.
fn surrounds(pdb: Option<&Pdb<'_>>, outer: MethodDef, inner: MethodDef) -> bool {
    let lines = |method| {
        let move_next = pdb?.move_next_method(method).ok().flatten();
        let points = pdb?.sequence_points(move_next.unwrap_or(method)).ok()?;
        let spans = points.filter_map(|point| point.ok()?.span);
        spans.fold(None, |lines: Option<(u32, u32)>, span| {
            let (first, last) = lines.unwrap_or((span.start_line, span.end_line));
            Some((first.min(span.start_line), last.max(span.end_line)))
        })
    };
    match (lines(outer), lines(inner)) {
        (Some(outer), Some(inner)) => outer.0 <= inner.0 && inner.1 <= outer.1,
        _ => false,
    }
}
