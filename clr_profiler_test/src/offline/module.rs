//! The metadata of one assembly file, with the rows that edits add to it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use clr_metadata::rows::{AssemblyRefRow, MemberRefRow, TypeRefRow};
use clr_metadata::{Metadata, MethodDefOrRef};
use clr_profiler::{Error, Result};
use clr_profiler_il::core_library::{self, ALIAS, MSCORLIB, PRIVATE};
use clr_profiler_il::metadata::{Emitter, Member, ResolutionScope, Tables};
use clr_profiler_il::token::{
    AssemblyRef, FieldDef, MemberRef, MethodDef, MethodSpec, StandAloneSig, Token, TokenTable,
    TypeDef, TypeRef, TypeSpec, TypeToken,
};

/// The table number of user strings, and an offset in that heap after the end of any.
const USER_STRINGS: u32 = 0x7080_0000;

/// A module, and the rows that were added.
pub(super) struct Module<'a> {
    pub(super) metadata: Metadata<'a>,
    own: Option<&'a str>,
    known: OnceCell<Known>,
    added: RefCell<Added>,
}

/// The rows of the file by their contents.
struct Known {
    assemblies: Vec<(String, Token)>,
    types: HashMap<(Option<TypeDef>, String), TypeDef>,
    type_refs: HashMap<(Token, String), TypeToken>,
    member_refs: HashMap<(Token, String, Vec<u8>), Token>,
}

/// The added rows, by tables.
#[derive(Default)]
struct Added {
    assemblies: Vec<String>,
    type_refs: Vec<(Token, String)>,
    member_refs: Vec<(Token, String, Vec<u8>)>,
    type_specs: Vec<Vec<u8>>,
    method_specs: Vec<(Token, Vec<u8>)>,
    signatures: Vec<Vec<u8>>,
    strings: Vec<String>,
}

impl<'a> Module<'a> {
    pub(super) fn new(metadata: Metadata<'a>) -> Self {
        Self {
            own: metadata.manifest().ok().map(|manifest| manifest.name),
            metadata,
            known: OnceCell::new(),
            added: RefCell::default(),
        }
    }

    /// The simple name of the assembly.
    pub(super) fn own(&self) -> &str {
        self.own.unwrap_or_default()
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| Known::of(&self.metadata))
    }

    /// The index of a token among the added rows of its table; `None` for a row of the file.
    fn added_index(&self, token: Token) -> Option<usize> {
        let after = token
            .row()
            .checked_sub(self.metadata.row_count(token.table()))?;
        usize::try_from(after).ok()?.checked_sub(1)
    }

    /// Adds a row, unless it was added before.
    fn add<T: PartialEq>(
        &self,
        table: TokenTable,
        of: impl FnOnce(&mut Added) -> &mut Vec<T>,
        row: T,
    ) -> Result<Token> {
        let mut added = self.added.borrow_mut();
        let rows = of(&mut added);
        let index = rows.iter().position(|known| *known == row);
        let index = index.unwrap_or_else(|| {
            rows.push(row);
            rows.len() - 1
        });
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        Token::from_row(table, self.metadata.row_count(table).saturating_add(number))
            .ok_or_else(|| Error::other("the metadata has no room for more rows"))
    }

    /// A string of the file or an added one.
    pub(super) fn user_string(&self, token: Token) -> Option<String> {
        if let Some(index) = token.raw().checked_sub(USER_STRINGS) {
            return self.added.borrow().strings.get(index as usize).cloned();
        }
        let string = self.metadata.user_string(token.try_into().ok()?).ok()?;
        Some(String::from_utf16_lossy(
            &string.units().collect::<Vec<_>>(),
        ))
    }

    /// The name of an assembly that the file or an edit refers to.
    pub(super) fn assembly(&self, token: Token) -> Option<String> {
        if let Some(index) = self.added_index(token) {
            return self.added.borrow().assemblies.get(index).cloned();
        }
        let row = self.metadata.row(AssemblyRef::try_from(token).ok()?).ok()?;
        Some(self.metadata.string(row.name).ok()?.to_owned())
    }

    /// The core library of the runtime that the file is for. A file that refers to `mscorlib` alone is one for .NET Framework: one
    /// for .NET also refers to a facade.
    fn core_library(&self) -> &'static str {
        let refers_to = |name: &str| self.reference(name).is_some();
        let mut others = core_library::NAMES.into_iter();
        let is_of_framework = (self.is_own(MSCORLIB) || refers_to(MSCORLIB))
            && !others.any(|name| name != MSCORLIB && refers_to(name));
        match is_of_framework {
            true => MSCORLIB,
            false => PRIVATE,
        }
    }

    /// Lets the module refer to an assembly, even if it is not known to exist; by its simple or its full name.
    pub(super) fn assume(&self, assembly: &str) -> Result<Token> {
        let assembly = assembly.split(',').next().unwrap_or(assembly).trim();
        match self.reference(assembly) {
            Some(token) => Ok(token),
            None => self.add(
                TokenTable::ASSEMBLY_REF,
                |added| &mut added.assemblies,
                assembly.to_owned(),
            ),
        }
    }

    fn reference(&self, name: &str) -> Option<Token> {
        let of_file = self.known().assemblies.iter();
        let same = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((_, token)) = of_file.clone().find(|(known, _)| same(known)) {
            return Some(*token);
        }
        let index = self
            .added
            .borrow()
            .assemblies
            .iter()
            .position(|known| same(known))?;
        let before = self.metadata.row_count(TokenTable::ASSEMBLY_REF);
        Token::from_row(
            TokenTable::ASSEMBLY_REF,
            before + 1 + u32::try_from(index).ok()?,
        )
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// The reference to the core library through which the module uses a type, otherwise the first one.
    fn core_scope(&self, path: &str) -> Result<Token> {
        let outermost = path.split('/').next().unwrap_or(path);
        let references: Vec<Token> = core_library::NAMES
            .iter()
            .filter_map(|name| self.reference(name))
            .collect();
        for name in [outermost, "System.Object"] {
            let uses = |token: &&Token| {
                self.known()
                    .type_refs
                    .contains_key(&(**token, name.to_owned()))
            };
            if let Some(token) = references.iter().find(uses) {
                return Ok(*token);
            }
        }
        references
            .first()
            .map_or_else(|| self.assume(core_library::NAMES[0]), |token| Ok(*token))
    }
}

impl Known {
    /// Rows that cannot be read are left out.
    fn of(metadata: &Metadata<'_>) -> Self {
        let name = |token: TypeToken| metadata.type_name(token).ok().map(|it| text(&it));
        let assemblies = (1..).zip(metadata.rows::<AssemblyRefRow>());
        let types = metadata.tokens::<TypeDef>();
        let type_refs = (1..).zip(metadata.rows::<TypeRefRow>());
        let member_refs = (1..).zip(metadata.rows::<MemberRefRow>());
        Self {
            assemblies: assemblies
                .filter_map(|(row, it)| {
                    let token = Token::from_row(TokenTable::ASSEMBLY_REF, row)?;
                    Some((metadata.string(it.ok()?.name).ok()?.to_owned(), token))
                })
                .collect(),
            types: types
                .filter_map(|it| Some(((metadata.enclosing_type(it), name(it.into())?), it)))
                .collect(),
            type_refs: type_refs
                .filter_map(|(row, it)| {
                    let token = TypeRef::from_row(row)?;
                    Some(((it.ok()?.scope.token(), name(token.into())?), token.into()))
                })
                .collect(),
            member_refs: member_refs
                .filter_map(|(row, it)| {
                    let it = it.ok()?;
                    let name = metadata.string(it.name).ok()?.to_owned();
                    let signature = metadata.blob(it.signature).ok()?.to_vec();
                    let token = Token::from_row(TokenTable::MEMBER_REF, row)?;
                    Some(((it.parent.token(), name, signature), token))
                })
                .collect(),
        }
    }
}

/// Namespace and name.
pub(super) fn text(name: &clr_metadata::TypeName<'_>) -> String {
    match name.namespace {
        "" => name.name.to_owned(),
        namespace => format!("{namespace}.{}", name.name),
    }
}

impl Tables for Module<'_> {
    fn member(&self, token: Token) -> Option<Member> {
        let metadata = &self.metadata;
        let (parent, name, signature) = match token.table() {
            TokenTable::METHOD_DEF => {
                let method = MethodDef::try_from(token).ok()?;
                let row = metadata.row(method).ok()?;
                (
                    metadata.method_owner(method).ok()?.token(),
                    row.name,
                    row.signature,
                )
            }
            TokenTable::FIELD_DEF => {
                let field = FieldDef::try_from(token).ok()?;
                let row = metadata.row(field).ok()?;
                (
                    metadata.field_owner(field).ok()?.token(),
                    row.name,
                    row.signature,
                )
            }
            _ => {
                if let Some(index) = self.added_index(token) {
                    let added = self.added.borrow();
                    let (parent, name, signature) = added.member_refs.get(index)?.clone();
                    return Some(Member {
                        parent,
                        name,
                        signature,
                    });
                }
                let row = metadata.row(MemberRef::try_from(token).ok()?).ok()?;
                (row.parent.token(), row.name, row.signature)
            }
        };
        Some(Member {
            parent,
            name: metadata.string(name).ok()?.to_owned(),
            signature: metadata.blob(signature).ok()?.to_vec(),
        })
    }

    fn method_spec(&self, token: Token) -> Option<(Token, Vec<u8>)> {
        if let Some(index) = self.added_index(token) {
            return self.added.borrow().method_specs.get(index).cloned();
        }
        let row = self.metadata.row(MethodSpec::try_from(token).ok()?).ok()?;
        let method = match row.method {
            MethodDefOrRef::MethodDef(method) => method.token(),
            MethodDefOrRef::MemberRef(method) => method.token(),
        };
        Some((method, self.metadata.blob(row.instantiation).ok()?.to_vec()))
    }

    fn stand_alone_sig(&self, token: Token) -> Option<Vec<u8>> {
        if let Some(index) = self.added_index(token) {
            return self.added.borrow().signatures.get(index).cloned();
        }
        let row = self
            .metadata
            .row(StandAloneSig::try_from(token).ok()?)
            .ok()?;
        Some(self.metadata.blob(row.signature).ok()?.to_vec())
    }

    fn type_spec(&self, token: Token) -> Option<Vec<u8>> {
        if let Some(index) = self.added_index(token) {
            return self.added.borrow().type_specs.get(index).cloned();
        }
        let row = self.metadata.row(TypeSpec::try_from(token).ok()?).ok()?;
        Some(self.metadata.blob(row.signature).ok()?.to_vec())
    }

    fn type_name(&self, token: Token) -> Option<(String, Token)> {
        let token = TypeToken::try_from(token).ok()?;
        let other = match token {
            TypeToken::Def(class) => self.metadata.row(class).ok()?.extends.token(),
            TypeToken::Ref(class) => {
                if let Some(index) = self.added_index(class.token()) {
                    let added = self.added.borrow();
                    let (scope, name) = added.type_refs.get(index)?.clone();
                    return Some((name, scope));
                }
                self.metadata.row(class).ok()?.scope.token()
            }
            TypeToken::Spec(_) => return None,
        };
        Some((text(&self.metadata.type_name(token).ok()?), other))
    }

    fn is_core_library(&self) -> bool {
        self.is_own(self.core_library())
    }
}

impl Emitter for &Module<'_> {
    type Error = Error;

    fn resolution_scope(&mut self, assembly: &str, path: &str) -> Result<ResolutionScope> {
        let is_core = assembly == ALIAS || core_library::has_name(assembly);
        if self.is_own(assembly) || (is_core && self.is_core_library()) {
            return Ok(ResolutionScope::Module);
        }
        if is_core && assembly != self.core_library() {
            return self.core_scope(path).map(ResolutionScope::Assembly);
        }
        if let Some(token) = self.reference(assembly) {
            return Ok(ResolutionScope::Assembly(token));
        }
        if self.is_core_library() {
            return Err(Error::other(format!(
                "the core library cannot refer to {assembly}: use its own types"
            )));
        }
        if !is_core {
            return Err(Error::other(format!(
                "the file does not refer to an assembly {assembly}: where the runtime will find it, \
                 assume_loadable says so"
            )));
        }
        self.assume(assembly).map(ResolutionScope::Assembly)
    }

    fn type_def(&self, name: &str, outer: Option<TypeDef>) -> Result<Option<TypeDef>> {
        Ok(self.known().types.get(&(outer, name.to_owned())).copied())
    }

    fn type_ref(&mut self, scope: Token, name: &str, _whole: (Token, &str)) -> Result<TypeToken> {
        let row = (scope, name.to_owned());
        if let Some(token) = self.known().type_refs.get(&row) {
            return Ok(*token);
        }
        let token = self.add(TokenTable::TYPE_REF, |added| &mut added.type_refs, row)?;
        TypeToken::try_from(token).map_err(Error::other)
    }

    fn member_def(&self, class: TypeDef, name: &str, signature: &[u8]) -> Result<Option<Token>> {
        let methods = self.metadata.methods(class).map(|it| it.token());
        let fields = self.metadata.fields(class).map(|it| it.token());
        Ok(methods.chain(fields).find(|token| {
            self.member(*token)
                .is_some_and(|it| it.name == name && it.signature == signature)
        }))
    }

    fn member_ref(&mut self, parent: TypeToken, name: &str, signature: &[u8]) -> Result<Token> {
        let row = (parent.token(), name.to_owned(), signature.to_vec());
        match self.known().member_refs.get(&row) {
            Some(token) => Ok(*token),
            None => self.add(TokenTable::MEMBER_REF, |added| &mut added.member_refs, row),
        }
    }

    fn type_spec(&mut self, signature: &[u8]) -> Result<TypeToken> {
        let row = signature.to_vec();
        let token = self.add(TokenTable::TYPE_SPEC, |added| &mut added.type_specs, row)?;
        TypeToken::try_from(token).map_err(Error::other)
    }

    fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Result<Token> {
        let row = (method, arguments.to_vec());
        self.add(
            TokenTable::METHOD_SPEC,
            |added| &mut added.method_specs,
            row,
        )
    }

    fn stand_alone_sig(&mut self, signature: &[u8]) -> Result<Token> {
        let row = signature.to_vec();
        self.add(
            TokenTable::STAND_ALONE_SIG,
            |added| &mut added.signatures,
            row,
        )
    }

    fn user_string(&mut self, text: &str) -> Result<Token> {
        let mut added = self.added.borrow_mut();
        let index = added.strings.iter().position(|known| known == text);
        let index = index.unwrap_or_else(|| {
            added.strings.push(text.to_owned());
            added.strings.len() - 1
        });
        Ok(Token::new(
            USER_STRINGS.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)),
        ))
    }
}
