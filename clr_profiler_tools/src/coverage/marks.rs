//! The attributes by which code is left out.

use std::collections::{HashMap, HashSet};

use clr_metadata::rows::{CustomAttributeRow, MethodSemanticsRow};
use clr_metadata::token::{HashTokens, MethodDef, Token};
use clr_metadata::{Error, HasCustomAttribute, HasSemantics, Metadata};

/// The attribute of code that no test is to cover.
const EXCLUDE: &str = "System.Diagnostics.CodeAnalysis.ExcludeFromCodeCoverageAttribute";

/// The attribute of code that the compiler has added.
const GENERATED: &str = "System.Runtime.CompilerServices.CompilerGeneratedAttribute";

/// The items of an assembly with one of these attributes. All are read at once: an assembly has more attributes than methods, of
/// few types.
#[derive(Debug)]
pub(super) struct Marks {
    excluded: HashSet<HasCustomAttribute, HashTokens>,
    generated: HashSet<HasCustomAttribute, HashTokens>,
    is_excluded: bool,
}

impl Marks {
    pub(super) fn of(metadata: &Metadata<'_>) -> Result<Self, Error> {
        let mut marks = Self {
            excluded: HashSet::default(),
            generated: HashSet::default(),
            is_excluded: false,
        };
        let mut constructors: HashMap<Token, Option<&str>, HashTokens> = HashMap::default();
        // Rows and names that are malformed mark nothing.
        for row in metadata.rows::<CustomAttributeRow>().flatten() {
            let known = constructors
                .entry(row.constructor.token())
                .or_insert_with(|| {
                    let name = metadata.attribute_name(&row).ok()?;
                    [EXCLUDE, GENERATED].into_iter().find(|one| name.is(one))
                });
            match *known {
                Some(EXCLUDE) => marks.excluded.insert(row.parent),
                Some(_) => marks.generated.insert(row.parent),
                None => continue,
            };
        }
        let mut assemblies = metadata.tokens::<clr_metadata::token::Assembly>();
        marks.is_excluded = assemblies.any(|assembly| marks.exclude(assembly));
        // Of properties and events, the accessors.
        for row in metadata.rows::<MethodSemanticsRow>() {
            let row = row?;
            let item: HasCustomAttribute = match row.association {
                HasSemantics::Property(property) => property.into(),
                HasSemantics::Event(event) => event.into(),
            };
            if marks.excluded.contains(&item) {
                marks.excluded.insert(row.method.into());
            }
        }
        Ok(marks)
    }

    /// Whether the whole assembly is left out.
    pub(super) fn exclude_all(&self) -> bool {
        self.is_excluded
    }

    /// Whether nothing is left out.
    pub(super) fn exclude_nothing(&self) -> bool {
        self.excluded.is_empty()
    }

    /// Whether an item is left out by an attribute of its own.
    pub(super) fn exclude(&self, item: impl Into<HasCustomAttribute>) -> bool {
        self.excluded.contains(&item.into())
    }

    /// Whether the compiler has added a method.
    pub(super) fn is_generated(&self, method: MethodDef) -> bool {
        self.generated.contains(&method.into())
    }
}
