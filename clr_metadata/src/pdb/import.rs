//! The namespaces and types that are imported in a scope.

use clr_profiler_il::token::{self, AssemblyRef, TokenTable, TypeToken};

use super::cursor::{Cursor, utf8};
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::heaps::{BlobIndex, Heaps};

/// A scope of imports, such as a source file or a namespace in it.
#[derive(Clone, Copy, Debug)]
pub struct ImportScope<'a> {
    /// The row of the scope.
    pub token: token::ImportScope,
    /// The scope that contains it; nil for the outermost.
    pub parent: token::ImportScope,
    pub(super) heaps: Heaps<'a>,
    pub(super) blob: Bytes<'a>,
}

/// An import, such as `using System;`. The numbers are those of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Import<'a> {
    /// The members of a namespace (1).
    Namespace {
        /// The namespace.
        namespace: &'a str,
    },
    /// The members of a namespace in one assembly (2).
    AssemblyNamespace {
        /// The assembly.
        assembly: AssemblyRef,
        /// The namespace.
        namespace: &'a str,
    },
    /// The static members of a type (3).
    Type {
        /// The type.
        imported: TypeToken,
    },
    /// An XML namespace (4).
    XmlNamespace {
        /// The prefix.
        prefix: &'a str,
        /// The namespace.
        namespace: &'a str,
    },
    /// An alias of an assembly that an enclosing scope defines (5).
    AliasReference {
        /// The alias.
        alias: &'a str,
    },
    /// An alias of an assembly (6).
    AssemblyAlias {
        /// The alias.
        alias: &'a str,
        /// The assembly.
        assembly: AssemblyRef,
    },
    /// An alias of a namespace (7).
    NamespaceAlias {
        /// The alias.
        alias: &'a str,
        /// The namespace.
        namespace: &'a str,
    },
    /// An alias of a namespace in one assembly (8).
    AssemblyNamespaceAlias {
        /// The alias.
        alias: &'a str,
        /// The assembly.
        assembly: AssemblyRef,
        /// The namespace.
        namespace: &'a str,
    },
    /// An alias of a type (9).
    TypeAlias {
        /// The alias.
        alias: &'a str,
        /// The type.
        aliased: TypeToken,
    },
}

impl<'a> ImportScope<'a> {
    /// The imports in their order. An item is an error if the blob is malformed there; it is the last item.
    #[must_use]
    pub const fn imports(&self) -> Imports<'a> {
        Imports {
            heaps: self.heaps,
            cursor: Cursor::new(self.blob),
        }
    }
}

/// The imports of an [`ImportScope`].
#[derive(Clone, Debug)]
pub struct Imports<'a> {
    heaps: Heaps<'a>,
    cursor: Cursor<'a>,
}

impl<'a> Imports<'a> {
    fn name(&mut self) -> Result<&'a str> {
        let blob = self.heaps.blob(BlobIndex(self.cursor.unsigned()?))?;
        utf8(blob, 0, blob.data())
    }

    fn assembly(&mut self) -> Result<AssemblyRef> {
        self.cursor.row(TokenTable::ASSEMBLY_REF)
    }

    fn import(&mut self) -> Result<Import<'a>> {
        let start = self.cursor;
        // The fields are in the order of the format.
        Ok(match self.cursor.unsigned()? {
            1 => Import::Namespace {
                namespace: self.name()?,
            },
            2 => Import::AssemblyNamespace {
                assembly: self.assembly()?,
                namespace: self.name()?,
            },
            3 => Import::Type {
                imported: self.cursor.type_token()?,
            },
            4 => Import::XmlNamespace {
                prefix: self.name()?,
                namespace: self.name()?,
            },
            5 => Import::AliasReference {
                alias: self.name()?,
            },
            6 => Import::AssemblyAlias {
                alias: self.name()?,
                assembly: self.assembly()?,
            },
            7 => Import::NamespaceAlias {
                alias: self.name()?,
                namespace: self.name()?,
            },
            8 => Import::AssemblyNamespaceAlias {
                alias: self.name()?,
                assembly: self.assembly()?,
                namespace: self.name()?,
            },
            9 => Import::TypeAlias {
                alias: self.name()?,
                aliased: self.cursor.type_token()?,
            },
            kind => return Err(start.error(ErrorKind::ImportKind(kind))),
        })
    }
}

impl<'a> Iterator for Imports<'a> {
    type Item = Result<Import<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_at_end() {
            return None;
        }
        let import = self.import();
        if import.is_err() {
            // The last item.
            self.cursor.rest();
        }
        Some(import)
    }
}

impl std::iter::FusedIterator for Imports<'_> {}

#[cfg(test)]
mod tests {
    use clr_profiler_il::token::TypeRef;

    use super::*;

    #[test]
    fn each_kind_has_its_fields() {
        let heaps = Heaps {
            blobs: Bytes::new(b"\0\x01a\x01b"),
            ..Heaps::default()
        };
        let blob = Bytes::new(&[
            1, 1, 2, 7, 1, 3, 5, 4, 1, 3, 5, 1, 6, 1, 7, 7, 1, 3, 8, 1, 7, 3, 9, 1, 5,
        ]);
        let none = token::ImportScope::NIL;
        let scope = ImportScope {
            token: none,
            parent: none,
            heaps,
            blob,
        };
        let imports: Result<Vec<_>> = scope.imports().collect();
        let assembly = AssemblyRef::from_row(7).unwrap();
        let of_type = TypeToken::Ref(TypeRef::from_row(1).unwrap());
        assert_eq!(
            imports.unwrap(),
            [
                Import::Namespace { namespace: "a" },
                Import::AssemblyNamespace {
                    assembly,
                    namespace: "a"
                },
                Import::Type { imported: of_type },
                Import::XmlNamespace {
                    prefix: "a",
                    namespace: "b"
                },
                Import::AliasReference { alias: "a" },
                Import::AssemblyAlias {
                    alias: "a",
                    assembly
                },
                Import::NamespaceAlias {
                    alias: "a",
                    namespace: "b"
                },
                Import::AssemblyNamespaceAlias {
                    alias: "a",
                    assembly,
                    namespace: "b"
                },
                Import::TypeAlias {
                    alias: "a",
                    aliased: of_type
                },
            ]
        );
        let blob = Bytes::new(&[1, 1, 10, 0]);
        let mut imports = ImportScope { blob, ..scope }.imports();
        assert!(imports.next().unwrap().is_ok());
        let error = imports.next().unwrap().unwrap_err();
        assert_eq!(
            (error.offset(), error.kind()),
            (2, &ErrorKind::ImportKind(10))
        );
        assert!(imports.next().is_none());
    }
}
