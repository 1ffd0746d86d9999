//! A module of the runtime: a real file, and the rows that a profiler adds to its metadata.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_metadata::rows::{
    AssemblyRefRow, ExportedTypeRow, GenericParamRow, MemberRefRow, TypeRefRow,
};
use clr_metadata::{Assembly, Metadata};
use clr_profiler::il::token::{
    AssemblyRef, ExportedType, FieldDef, GenericParam, MemberRef, MethodDef, Token, TokenTable,
    TypeDef, TypeRef, TypeToken,
};

/// A loaded module, which is its assembly.
pub(crate) struct Module {
    pub(crate) id: usize,
    /// The application domain that has loaded it.
    pub(crate) domain: usize,
    pub(crate) path: PathBuf,
    pub(crate) assembly: String,
    pub(crate) image: &'static [u8],
    pub(crate) file: Assembly<'static>,
    pub(crate) is_precompiled: bool,
    added: Mutex<Added>,
}

/// The rows that were added, by tables, and the new bodies of methods.
#[derive(Default)]
pub(crate) struct Added {
    pub(crate) assembly_refs: Vec<Reference>,
    pub(crate) type_refs: Vec<(u32, String)>,
    pub(crate) member_refs: Vec<(u32, String, &'static [u8])>,
    pub(crate) type_specs: Vec<&'static [u8]>,
    pub(crate) method_specs: Vec<(u32, &'static [u8])>,
    pub(crate) signatures: Vec<&'static [u8]>,
    pub(crate) strings: Vec<String>,
    pub(crate) methods: Vec<Method>,
    pub(crate) bodies: BTreeMap<u32, &'static [u8]>,
}

/// A reference to an assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) version: [u16; 4],
    /// Its key, or the token of it.
    pub(crate) key: &'static [u8],
    /// The flags, of which 1 says that it is a key.
    pub(crate) flags: u32,
}

/// The columns of a method.
#[derive(Clone)]
pub(crate) struct Method {
    pub(crate) class: u32,
    pub(crate) name: String,
    pub(crate) attributes: u32,
    pub(crate) signature: &'static [u8],
    pub(crate) rva: u32,
    pub(crate) implementation: u32,
}

impl Module {
    pub(crate) fn load(path: &Path, id: usize, domain: usize, version: Option<[u16; 4]>) -> Self {
        let mut image =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(version) = version {
            let manifest = Token::from_row(TokenTable::ASSEMBLY, 1).unwrap();
            let metadata = Assembly::parse(&image).unwrap().metadata;
            let row = metadata.row_offset(manifest).unwrap();
            // After the algorithm of the hash.
            let columns = row + 4;
            for (column, number) in image[columns..].chunks_exact_mut(2).zip(version) {
                column.copy_from_slice(&number.to_le_bytes());
            }
        }
        let image: &'static [u8] = image.leak();
        let file = Assembly::parse(image).unwrap();
        let assembly = file.metadata.manifest().unwrap().name.to_owned();
        Self {
            id,
            domain,
            path: path.to_owned(),
            assembly,
            image,
            file,
            is_precompiled: false,
            added: Mutex::default(),
        }
    }

    pub(crate) fn metadata(&self) -> &Metadata<'static> {
        &self.file.metadata
    }

    pub(crate) fn added(&self) -> MutexGuard<'_, Added> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index of a token among the added rows of its table; `None` for a row of the file.
    pub(crate) fn added_index(&self, token: u32) -> Option<usize> {
        let token = Token::new(token);
        let after = token
            .row()
            .checked_sub(self.metadata().row_count(token.table()))?;
        (after as usize).checked_sub(1)
    }

    /// The token of an added row.
    pub(crate) fn added_token(&self, table: TokenTable, index: usize) -> u32 {
        let row = self.metadata().row_count(table) + 1 + index as u32;
        Token::from_row(table, row).unwrap().raw()
    }

    /// The token of a method, by its type and name; the first one of that name.
    pub(crate) fn method(&self, class: &str, name: &str) -> MethodDef {
        let metadata = self.metadata();
        let class = metadata.find_type(class).unwrap();
        let mut methods = metadata.methods(class);
        let found = methods.find(|method| metadata.member_name(*method).unwrap() == name);
        found.unwrap_or_else(|| panic!("{} has no method {name}", self.assembly))
    }

    /// The references of the file and the added ones, with their tokens.
    pub(crate) fn references(&self) -> Vec<(u32, Reference)> {
        let of_file = (1..).zip(self.metadata().rows::<AssemblyRefRow>());
        let mut all: Vec<_> = of_file
            .map(|(row, _)| {
                let token = Token::from_row(TokenTable::ASSEMBLY_REF, row).unwrap();
                (token.raw(), self.reference(token.raw()))
            })
            .collect();
        let added = self.added();
        let added = added.assembly_refs.iter().cloned().enumerate();
        all.extend(
            added.map(|(index, row)| (self.added_token(TokenTable::ASSEMBLY_REF, index), row)),
        );
        all
    }

    pub(crate) fn reference(&self, token: u32) -> Reference {
        if let Some(index) = self.added_index(token) {
            return self.added().assembly_refs[index].clone();
        }
        let metadata = self.metadata();
        let row = metadata
            .row(AssemblyRef::try_from(Token::new(token)).unwrap())
            .unwrap();
        Reference {
            name: metadata.string(row.name).unwrap().to_owned(),
            version: [row.major, row.minor, row.build, row.revision],
            key: metadata.blob(row.public_key_or_token).unwrap(),
            flags: row.flags.bits(),
        }
    }

    pub(crate) fn type_name(&self, class: TypeToken) -> String {
        let name = self.metadata().type_name(class).unwrap();
        match name.namespace {
            "" => name.name.to_owned(),
            namespace => format!("{namespace}.{}", name.name),
        }
    }

    /// Scope and name.
    pub(crate) fn type_ref(&self, token: u32) -> (u32, String) {
        if let Some(index) = self.added_index(token) {
            return self.added().type_refs[index].clone();
        }
        let class = TypeRef::try_from(Token::new(token)).unwrap();
        let row = self.metadata().row(class).unwrap();
        (row.scope.token().raw(), self.type_name(class.into()))
    }

    pub(crate) fn find_type_ref(&self, scope: u32, name: &str) -> Option<u32> {
        let rows = self.metadata().row_count(TokenTable::TYPE_REF);
        let count = self.metadata().rows::<TypeRefRow>().count();
        assert_eq!(rows as usize, count);
        let all =
            (1..=rows).chain((0..self.added().type_refs.len() as u32).map(|it| rows + 1 + it));
        let mut tokens = all.map(|row| Token::from_row(TokenTable::TYPE_REF, row).unwrap().raw());
        tokens.find(|token| self.type_ref(*token) == (scope, name.to_owned()))
    }

    pub(crate) fn find_type_def(&self, name: &str, outer: u32) -> Option<u32> {
        let metadata = self.metadata();
        let mut all = metadata.tokens::<TypeDef>();
        let found = all.find(|class| {
            let enclosing = metadata.enclosing_type(*class);
            let enclosing = enclosing.map_or(0, |it| it.token().raw());
            let outer = if Token::new(outer).is_nil() { 0 } else { outer };
            enclosing == outer && self.type_name((*class).into()) == name
        });
        found.map(|class| class.token().raw())
    }

    /// Parent, name and signature.
    pub(crate) fn member_ref(&self, token: u32) -> (u32, String, &'static [u8]) {
        if let Some(index) = self.added_index(token) {
            return self.added().member_refs[index].clone();
        }
        let metadata = self.metadata();
        let row: MemberRefRow = metadata
            .row(MemberRef::try_from(Token::new(token)).unwrap())
            .unwrap();
        (
            row.parent.token().raw(),
            metadata.string(row.name).unwrap().to_owned(),
            metadata.blob(row.signature).unwrap(),
        )
    }

    pub(crate) fn find_member_ref(&self, parent: u32, name: &str, sig: &[u8]) -> Option<u32> {
        let rows = self.metadata().row_count(TokenTable::MEMBER_REF);
        let all = rows + self.added().member_refs.len() as u32;
        let mut tokens =
            (1..=all).map(|row| Token::from_row(TokenTable::MEMBER_REF, row).unwrap().raw());
        tokens.find(|token| {
            let (of, called, signature) = self.member_ref(*token);
            of == parent && called == name && signature == sig
        })
    }

    /// The methods and fields of a type.
    pub(crate) fn members(&self, class: u32) -> Vec<u32> {
        let class = TypeDef::try_from(Token::new(class)).unwrap();
        let metadata = self.metadata();
        let methods = metadata.methods(class).map(|it| it.token().raw());
        let fields = metadata.fields(class).map(|it| it.token().raw());
        methods.chain(fields).collect()
    }

    pub(crate) fn method_row(&self, token: u32) -> Method {
        if let Some(index) = self.added_index(token) {
            return self.added().methods[index].clone();
        }
        let metadata = self.metadata();
        let method = MethodDef::try_from(Token::new(token)).unwrap();
        let row = metadata.row(method).unwrap();
        let class = metadata.method_owner(method).unwrap();
        Method {
            // The global members are those of no type.
            class: match class.row() {
                1 => TypeDef::NIL.token().raw(),
                _ => class.token().raw(),
            },
            name: metadata.string(row.name).unwrap().to_owned(),
            attributes: row.attributes.bits(),
            signature: metadata.blob(row.signature).unwrap(),
            rva: row.rva,
            implementation: row.implementation.bits(),
        }
    }

    /// Class, name, attributes and signature.
    pub(crate) fn field_row(&self, token: u32) -> (u32, String, u32, &'static [u8]) {
        let metadata = self.metadata();
        let field = FieldDef::try_from(Token::new(token)).unwrap();
        let row = metadata.row(field).unwrap();
        (
            metadata.field_owner(field).unwrap().token().raw(),
            metadata.string(row.name).unwrap().to_owned(),
            row.attributes.bits(),
            metadata.blob(row.signature).unwrap(),
        )
    }

    /// The parameters of a type or method.
    pub(crate) fn generic_params(&self, owner: u32) -> Vec<u32> {
        let rows = (1..).zip(self.metadata().rows::<GenericParamRow>().flatten());
        let of = rows.filter(|(_, row)| row.owner.token().raw() == owner);
        of.map(|(row, _)| GenericParam::from_row(row).unwrap().token().raw())
            .collect()
    }

    /// The forwarder of a type, with the assembly.
    pub(crate) fn exported(&self, name: &str) -> Option<u32> {
        let metadata = self.metadata();
        let mut rows = (1..).zip(metadata.rows::<ExportedTypeRow>().flatten());
        let found = rows.find(|(_, row)| {
            let (space, own) = (metadata.string(row.namespace), metadata.string(row.name));
            format!("{}.{}", space.unwrap(), own.unwrap()) == name
        });
        found.map(|(row, _)| ExportedType::from_row(row).unwrap().token().raw())
    }

    /// The body of a method: the new one, or that of the file.
    pub(crate) fn body(&self, method: u32) -> Option<&'static [u8]> {
        if let Some(new) = self.added().bodies.get(&method) {
            return Some(new);
        }
        let method = MethodDef::try_from(Token::new(method)).unwrap();
        self.file.body(method).unwrap()
    }
}
