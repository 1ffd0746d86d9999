//! The names of types and members.

use clr_profiler_il::token::{self, Token, TokenTable, TypeDef, TypeRef, TypeToken};

use crate::columns::{MethodDefOrRef, ResolutionScope};
use crate::error::{Error, ErrorKind, Result};
use crate::iterators::token as token_of;
use crate::metadata::Metadata;
use crate::rows::TypeDefRow;

/// The most types that enclose each other.
const MAX_NESTING: usize = 64;

/// A namespace and a name, without the types that enclose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeName<'a> {
    /// The namespace; empty for a nested type.
    pub namespace: &'a str,
    /// The name, with the number of type parameters: ``List`1``.
    pub name: &'a str,
}

impl TypeName<'_> {
    /// Whether this is the name of a type in text form, such as `System.Object`.
    #[must_use]
    pub fn is(&self, full_name: &str) -> bool {
        let name = full_name.strip_suffix(self.name);
        name.is_some_and(|rest| match self.namespace {
            "" => rest.is_empty(),
            namespace => rest.strip_suffix('.') == Some(namespace),
        })
    }

    /// The length of the text form.
    const fn length(&self) -> usize {
        match self.namespace.len() {
            0 => self.name.len(),
            namespace => namespace + 1 + self.name.len(),
        }
    }

    fn push_to(&self, text: &mut String) {
        text.push_str(self.namespace);
        if !self.namespace.is_empty() {
            text.push('.');
        }
        text.push_str(self.name);
    }
}

impl<'a> Metadata<'a> {
    /// Namespace and name of a type that is defined or referred to here.
    ///
    /// # Errors
    ///
    /// If there is no such row, if it is a `TypeSpec`, which has no name, or if a name is malformed.
    pub fn type_name(&self, of: TypeToken) -> Result<TypeName<'a>> {
        let (namespace, name) = match of {
            TypeToken::Def(of) => {
                let row = self.row(of)?;
                (row.namespace, row.name)
            }
            TypeToken::Ref(of) => {
                let row = self.row(of)?;
                (row.namespace, row.name)
            }
            TypeToken::Spec(of) => return Err(wrong(of.token())),
        };
        Ok(TypeName {
            namespace: self.string(namespace)?,
            name: self.string(name)?,
        })
    }

    /// The full name of a type that is defined or referred to here, with `/` between it and the types that enclose it:
    /// ``System.Collections.Generic.List`1/Enumerator``.
    ///
    /// # Errors
    ///
    /// As [`type_name`](Self::type_name), for each of the types; also if they enclose each other endlessly.
    pub fn full_name(&self, of: TypeToken) -> Result<String> {
        let mut names = vec![self.type_name(of)?];
        let mut at = of;
        while let Some(outer) = self.outer(at)? {
            if names.len() == MAX_NESTING {
                return Err(Error::new(ErrorKind::EndlessNesting, 0));
            }
            names.push(self.type_name(outer)?);
            at = outer;
        }
        let mut text = String::new();
        for (index, name) in names.iter().rev().enumerate() {
            if index > 0 {
                text.push('/');
            }
            name.push_to(&mut text);
        }
        Ok(text)
    }

    /// The type that encloses a type.
    fn outer(&self, of: TypeToken) -> Result<Option<TypeToken>> {
        Ok(match of {
            TypeToken::Def(of) => self.enclosing_type(of).map(TypeToken::Def),
            TypeToken::Ref(of) => match self.row(of)?.scope {
                ResolutionScope::TypeRef(outer) if !outer.is_nil() => Some(TypeToken::Ref(outer)),
                _ => None,
            },
            TypeToken::Spec(_) => None,
        })
    }

    /// The definition that a reference finally names: the scope of the outermost type of a nested one.
    ///
    /// # Errors
    ///
    /// If there is no such row, or the types enclose each other endlessly.
    pub fn outermost_scope(&self, of: TypeRef) -> Result<ResolutionScope> {
        let mut at = of;
        for _ in 0..MAX_NESTING {
            match self.row(at)?.scope {
                ResolutionScope::TypeRef(outer) if !outer.is_nil() => at = outer,
                scope => return Ok(scope),
            }
        }
        Err(Error::new(ErrorKind::EndlessNesting, 0))
    }

    /// The type with a full name, in the form of [`full_name`](Self::full_name). Types whose rows or names are
    /// malformed are not found.
    ///
    /// This reads the table from its beginning, about 10 ns for each type. For many names, make a map of the names.
    #[must_use]
    pub fn find_type(&self, full_name: &str) -> Option<TypeDef> {
        let rows = (1..).zip(self.rows::<TypeDefRow>());
        rows.filter_map(|(number, row)| {
            // Cheaper than all other comparisons.
            let name = self.string_bytes(row.ok()?.name).ok()?;
            let ends = full_name.as_bytes().ends_with(name);
            token_of(number).filter(|_| ends)
        })
        .find(|&found| self.has_name(found, full_name))
    }

    fn has_name(&self, of: TypeDef, full_name: &str) -> bool {
        let (mut at, mut rest) = (of, full_name);
        for _ in 0..MAX_NESTING {
            let Ok(name) = self.type_name(at.into()) else {
                return false;
            };
            let Some(outer) = self.enclosing_type(at) else {
                return name.is(rest);
            };
            let inner = rest.len().checked_sub(name.length());
            let Some((before, last)) = inner.and_then(|at| rest.split_at_checked(at)) else {
                return false;
            };
            match before.strip_suffix('/') {
                Some(before) if name.is(last) => (at, rest) = (outer, before),
                _ => return false,
            }
        }
        false
    }

    /// The name of a member: of a method, a field, a property, an event, or of a reference to a method or field. A
    /// `MethodSpec` has the name of its generic method.
    ///
    /// # Errors
    ///
    /// If the token is of another table, if there is no such row, or if the name is malformed.
    pub fn member_name(&self, member: impl Into<Token>) -> Result<&'a str> {
        let member = member.into();
        let name = match member.table() {
            TokenTable::METHOD_DEF => self.row(self.typed::<token::MethodDef>(member)?)?.name,
            TokenTable::FIELD_DEF => self.row(self.typed::<token::FieldDef>(member)?)?.name,
            TokenTable::MEMBER_REF => self.row(self.typed::<token::MemberRef>(member)?)?.name,
            TokenTable::PROPERTY => self.row(self.typed::<token::Property>(member)?)?.name,
            TokenTable::EVENT => self.row(self.typed::<token::Event>(member)?)?.name,
            TokenTable::METHOD_SPEC => {
                let method = self.row(self.typed::<token::MethodSpec>(member)?)?.method;
                match method {
                    MethodDefOrRef::MethodDef(method) => self.row(method)?.name,
                    MethodDefOrRef::MemberRef(method) => self.row(method)?.name,
                }
            }
            _ => return Err(wrong(member)),
        };
        self.string(name)
    }

    /// A token of the expected table.
    pub(crate) fn typed<T: TryFrom<Token>>(&self, token: Token) -> Result<T> {
        T::try_from(token).map_err(|_| wrong(token))
    }
}

#[cold]
pub(crate) fn wrong(token: Token) -> Error {
    Error::new(ErrorKind::WrongToken(token), 0)
}
