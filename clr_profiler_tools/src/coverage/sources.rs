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
            classes,
            pdb,
            named: HashMap::new(),
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

struct Search<'m, 'a> {
    metadata: &'m Metadata<'a>,
    classes: &'m Classes,
    pdb: Option<&'m Pdb<'a>>,
    /// The methods of types by their names, of those types that were looked at.
    named: HashMap<TypeDef, HashMap<&'a str, Vec<MethodDef>>>,
}

impl Search<'_, '_> {
    fn find(&mut self, class: TypeDef, method: MethodDef) -> Option<MethodDef> {
        let kickoff = self.pdb.and_then(|pdb| pdb.kickoff_method(method).ok()?);
        kickoff.or_else(|| self.method_around(class, method))
    }

    /// The method whose name is in that of a lambda, local function or state machine: `Sum` of `<Sum>b__0_1`, `<Sum>g__Add|0_0` and
    /// `<Sum>d__0.MoveNext`.
    fn method_around(&mut self, mut class: TypeDef, method: MethodDef) -> Option<MethodDef> {
        let (metadata, classes) = (self.metadata, self.classes);
        let mut name = metadata.member_name(method).ok()?;
        let mut kinds: &[u8] = b"bg";
        if !name.starts_with('<') {
            if !classes.get(class).is_of_compiler {
                return None;
            }
            name = metadata.type_name(class.into()).ok()?.name;
            class = metadata.enclosing_type(class)?;
            kinds = b"d";
        }
        let (around, kind) = name.strip_prefix('<')?.rsplit_once('>')?;
        if !kinds.contains(kind.as_bytes().first()?) {
            return None;
        }
        // Closures are types of the compiler in the type of the source.
        for _ in 0..DEPTH {
            let is_of_compiler = classes.get(class).is_of_compiler;
            match metadata.enclosing_type(class).filter(|_| is_of_compiler) {
                Some(outer) => class = outer,
                None => break,
            }
        }
        let named = self.named.entry(class).or_insert_with(|| {
            let mut named: HashMap<&str, Vec<MethodDef>> = HashMap::new();
            for one in metadata.methods(class) {
                if let Ok(name) = metadata.member_name(one) {
                    named.entry(name).or_default().push(one);
                }
            }
            named
        });
        match named.get(around)?.as_slice() {
            [one] => Some(*one),
            several => {
                let mut several = several.iter().copied();
                several.find(|one| surrounds(self.pdb, *one, method))
            }
        }
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
