//! The members of a type, the parameters of a method, and their owners.
//!
//! An owner has the first row of its members; they end where those of the next owner begin. In metadata with edits (`#-`)
//! the range is one of pointers to rows.

use clr_profiler_il::token::{
    Event, FieldDef, MethodDef, ParamDef, Property, Token, TokenTable, TypeDef,
};

use crate::error::{Error, ErrorKind, Result};
use crate::iterators::token;
use crate::metadata::Metadata;
use crate::rows::{EventMapRow, NestedClassRow, PropertyMapRow, RowToken};
use crate::tables::Table;

/// The members of one owner, in their order.
#[derive(Clone, Debug)]
pub struct Members<'a, T> {
    next: u32,
    end: u32,
    pointers: Option<Table<'a>>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: RowToken> Iterator for Members<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while self.next < self.end {
            let row = self.next;
            self.next += 1;
            let row = match &self.pointers {
                Some(pointers) => pointers.number(row, 0),
                None => Some(row),
            };
            // A pointer to no row belongs to a deleted member.
            if let Some(token) = row.filter(|&row| row != 0).and_then(token) {
                return Some(token);
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.end.saturating_sub(self.next) as usize))
    }
}

/// A list of members in the rows of owners.
#[derive(Clone, Copy)]
struct List {
    owners: TokenTable,
    /// The column with the first member.
    column: usize,
    members: TokenTable,
    pointers: TokenTable,
}

impl List {
    const fn new(
        owners: TokenTable,
        column: usize,
        members: TokenTable,
        pointers: TokenTable,
    ) -> Self {
        Self {
            owners,
            column,
            members,
            pointers,
        }
    }

    const FIELDS: Self = Self::new(
        TokenTable::TYPE_DEF,
        4,
        TokenTable::FIELD_DEF,
        TokenTable::FIELD_PTR,
    );
    const METHODS: Self = Self::new(
        TokenTable::TYPE_DEF,
        5,
        TokenTable::METHOD_DEF,
        TokenTable::METHOD_PTR,
    );
    const PARAMS: Self = Self::new(
        TokenTable::METHOD_DEF,
        5,
        TokenTable::PARAM_DEF,
        TokenTable::PARAM_PTR,
    );
    const EVENTS: Self = Self::new(
        TokenTable::EVENT_MAP,
        1,
        TokenTable::EVENT,
        TokenTable::EVENT_PTR,
    );
    const PROPERTIES: Self = Self::new(
        TokenTable::PROPERTY_MAP,
        1,
        TokenTable::PROPERTY,
        TokenTable::PROPERTY_PTR,
    );
}

impl<'a> Metadata<'a> {
    fn pointers(&self, list: List) -> Option<Table<'a>> {
        Some(self.tables.table(list.pointers)).filter(|table| table.rows() > 0)
    }

    fn members<T>(&self, list: List, owner: u32) -> Members<'a, T> {
        let pointers = self.pointers(list);
        let members = pointers
            .as_ref()
            .map_or(self.row_count(list.members), Table::rows);
        let first = |owner: u32| {
            let first = self
                .tables
                .table_ref(list.owners)?
                .number(owner, list.column)?;
            Some(first.clamp(1, members + 1))
        };
        Members {
            next: first(owner).unwrap_or(members + 1),
            end: first(owner.saturating_add(1)).unwrap_or(members + 1),
            pointers,
            of: std::marker::PhantomData,
        }
    }

    /// The row of the owner of a member: the last one whose first member is not after it.
    fn owner(&self, list: List, member: Token) -> Result<u32> {
        let none = || Error::new(ErrorKind::NoRow(member), 0);
        if !self.is_valid(member) {
            return Err(none());
        }
        let position = match self.pointers(list) {
            Some(pointers) => (1..=pointers.rows())
                .find(|&row| pointers.number(row, 0) == Some(member.row()))
                .ok_or_else(none)?,
            None => member.row(),
        };
        let owners = self.tables.table_ref(list.owners).ok_or_else(none)?;
        let (mut low, mut high) = (1, owners.rows() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match owners.number(middle, list.column) {
                Some(first) if first <= position => low = middle + 1,
                _ => high = middle,
            }
        }
        Some(low - 1).filter(|&row| row != 0).ok_or_else(none)
    }

    /// The fields of a type, in their order.
    #[must_use]
    pub fn fields(&self, of: TypeDef) -> Members<'a, FieldDef> {
        self.members(List::FIELDS, of.row())
    }

    /// The methods of a type, in their order.
    #[must_use]
    pub fn methods(&self, of: TypeDef) -> Members<'a, MethodDef> {
        self.members(List::METHODS, of.row())
    }

    /// The parameters of a method that have a row, in their order: those with a name, an attribute or a default.
    #[must_use]
    pub fn params(&self, of: MethodDef) -> Members<'a, ParamDef> {
        self.members(List::PARAMS, of.row())
    }

    /// The events of a type, in their order.
    #[must_use]
    pub fn events(&self, of: TypeDef) -> Members<'a, Event> {
        let map = self.numbers_of::<EventMapRow>(of).next();
        self.members(List::EVENTS, map.unwrap_or(u32::MAX))
    }

    /// The properties of a type, in their order.
    #[must_use]
    pub fn properties(&self, of: TypeDef) -> Members<'a, Property> {
        let map = self.numbers_of::<PropertyMapRow>(of).next();
        self.members(List::PROPERTIES, map.unwrap_or(u32::MAX))
    }

    /// The type that declares a method.
    ///
    /// # Errors
    ///
    /// If there is no such method, or it belongs to no type.
    pub fn method_owner(&self, method: MethodDef) -> Result<TypeDef> {
        let row = self.owner(List::METHODS, method.token())?;
        token(row).ok_or(Error::new(ErrorKind::NoRow(method.token()), 0))
    }

    /// The type that declares a field.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it belongs to no type.
    pub fn field_owner(&self, field: FieldDef) -> Result<TypeDef> {
        let row = self.owner(List::FIELDS, field.token())?;
        token(row).ok_or(Error::new(ErrorKind::NoRow(field.token()), 0))
    }

    /// The method of a parameter.
    ///
    /// # Errors
    ///
    /// If there is no such parameter, or it belongs to no method.
    pub fn param_owner(&self, param: ParamDef) -> Result<MethodDef> {
        let row = self.owner(List::PARAMS, param.token())?;
        token(row).ok_or(Error::new(ErrorKind::NoRow(param.token()), 0))
    }

    /// The type that declares a property.
    ///
    /// # Errors
    ///
    /// If there is no such property, or it belongs to no type.
    pub fn property_owner(&self, property: Property) -> Result<TypeDef> {
        let row = self.owner(List::PROPERTIES, property.token())?;
        self.map_parent(TokenTable::PROPERTY_MAP, row, property.token())
    }

    /// The type that declares an event.
    ///
    /// # Errors
    ///
    /// If there is no such event, or it belongs to no type.
    pub fn event_owner(&self, event: Event) -> Result<TypeDef> {
        let row = self.owner(List::EVENTS, event.token())?;
        self.map_parent(TokenTable::EVENT_MAP, row, event.token())
    }

    fn map_parent(&self, map: TokenTable, row: u32, member: Token) -> Result<TypeDef> {
        let parent = self
            .tables
            .table_ref(map)
            .and_then(|map| map.number(row, 0));
        parent
            .and_then(token)
            .ok_or(Error::new(ErrorKind::NoRow(member), 0))
    }

    /// The type that encloses a type; `None` for a type that is not nested.
    #[must_use]
    pub fn enclosing_type(&self, of: TypeDef) -> Option<TypeDef> {
        let row = self.rows_of::<NestedClassRow>(of).next()?.ok()?;
        Some(row.enclosing)
    }

    /// The types that a type encloses, in their order. This reads the whole table of nested types.
    pub fn nested_types(&self, of: TypeDef) -> impl Iterator<Item = TypeDef> + use<'a> {
        let rows = self.rows::<NestedClassRow>().flatten();
        rows.filter(move |row| row.enclosing == of)
            .map(|row| row.nested)
    }
}
