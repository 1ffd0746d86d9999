//! Reads everything that metadata contains.

use clr_metadata::rows::*;
use clr_metadata::token::{
    Event, FieldDef, GenericParam, ManifestResource, MethodDef, ParamDef, Property, StandAloneSig,
    Token, TokenTable, TypeDef, TypeRef, TypeSpec, TypeToken, UserString,
};
use clr_metadata::{Assembly, Error, HasConstant, Metadata, Result, Value};
use clr_profiler_il::signature;

/// The numbers of the things that were read without an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The rows of all tables.
    pub rows: usize,
    /// The columns that refer to a text, a GUID or a blob.
    pub heap_values: usize,
    /// The members found from their owners, and their owners from them.
    pub members: usize,
    /// The signatures.
    pub signatures: usize,
    /// The default values.
    pub constants: usize,
    /// The custom attributes with a name.
    pub attributes: usize,
    /// The method bodies.
    pub bodies: usize,
    /// The resources.
    pub resources: usize,
    /// The entries of the debug directory.
    pub debug_entries: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.heap_values += other.heap_values;
        self.members += other.members;
        self.signatures += other.signatures;
        self.constants += other.constants;
        self.attributes += other.attributes;
        self.bodies += other.bodies;
        self.resources += other.resources;
        self.debug_entries += other.debug_entries;
    }
}

/// Reads everything in a module. `fail` gets each error, with the token that was read.
pub fn visit(
    metadata: &Metadata<'_>,
    assembly: Option<&Assembly<'_>>,
    fail: &mut dyn FnMut(Token, Error),
) -> Counts {
    let mut visitor = Visitor {
        metadata,
        fail,
        counts: Counts::default(),
    };
    visitor.rows();
    visitor.typed_rows();
    visitor.members();
    visitor.signatures();
    visitor.names();
    visitor.values();
    if let Some(assembly) = assembly {
        visitor.image(assembly);
    }
    visitor.counts
}

struct Visitor<'v, 'a> {
    metadata: &'v Metadata<'a>,
    fail: &'v mut dyn FnMut(Token, Error),
    counts: Counts,
}

impl Visitor<'_, '_> {
    /// The value, unless there is an error.
    fn check<T>(&mut self, token: impl Into<Token>, result: Result<T>) -> Option<T> {
        result
            .map_err(|error| (self.fail)(token.into(), error))
            .ok()
    }

    fn rows(&mut self) {
        for table in (0..64).map(TokenTable) {
            for row in 1..=self.metadata.row_count(table) {
                let Some(token) = Token::from_row(table, row) else {
                    panic!("{table} has {row} rows");
                };
                let values = self.metadata.values(token);
                for value in self.check(token, values).into_iter().flatten() {
                    let read = match value {
                        Value::Number(_) | Value::Token(_) => continue,
                        Value::String(text) => self.metadata.string(text).map(drop),
                        Value::Guid(guid) => self.metadata.guid(guid).map(drop),
                        Value::Blob(blob) => self.metadata.blob(blob).map(drop),
                    };
                    let read = self.check(token, read);
                    self.counts.heap_values += read.iter().count();
                }
                self.counts.rows += 1;
            }
        }
    }

    /// The rows of each type have all columns of their table.
    fn typed_rows(&mut self) {
        macro_rules! rows {
            ($($row:ident)*) => {$({
                let table = <$row as Row>::TABLE;
                let mut count = 0;
                for (number, row) in (1..).zip(self.metadata.rows::<$row>()) {
                    let token = Token::from_row(table, number).expect("few rows");
                    let values = self.metadata.values(token);
                    assert_eq!(row.is_ok(), values.is_ok(), "{token}: {row:?}, {values:?}");
                    let columns = format!("{row:?}").matches(": ").count();
                    let values = values.map_or(0, |values| values.len());
                    assert!(values == 0 || columns >= values, "{token}: {columns} of {values}");
                    count += 1;
                }
                assert_eq!(count, self.metadata.row_count(table), "{table}");
            })*};
        }
        rows! {
            ModuleRow TypeRefRow TypeDefRow FieldPtrRow FieldRow MethodPtrRow MethodRow ParamPtrRow ParamRow
            InterfaceImplRow MemberRefRow ConstantRow CustomAttributeRow FieldMarshalRow DeclSecurityRow
            ClassLayoutRow FieldLayoutRow StandAloneSigRow EventMapRow EventPtrRow EventRow PropertyMapRow
            PropertyPtrRow PropertyRow MethodSemanticsRow MethodImplRow ModuleRefRow TypeSpecRow ImplMapRow
            FieldRvaRow EncLogRow EncMapRow AssemblyRow AssemblyProcessorRow AssemblyOsRow AssemblyRefRow
            AssemblyRefProcessorRow AssemblyRefOsRow FileRow ExportedTypeRow ManifestResourceRow NestedClassRow
            GenericParamRow MethodSpecRow GenericParamConstraintRow DocumentRow MethodDebugInformationRow
            LocalScopeRow LocalVariableRow LocalConstantRow ImportScopeRow StateMachineMethodRow
            CustomDebugInformationRow
        }
    }

    /// Every member belongs to the owner that has it.
    fn members(&mut self) {
        let metadata = self.metadata;
        macro_rules! check {
            ($owner:expr, $members:expr, $of:expr) => {
                for member in $members {
                    let owner = self.check(member, $of(member));
                    self.counts.members += usize::from(owner == Some($owner));
                }
            };
        }
        for of in metadata.tokens::<TypeDef>() {
            check!(of, metadata.fields(of), |it| metadata.field_owner(it));
            check!(of, metadata.methods(of), |it| metadata.method_owner(it));
            check!(of, metadata.properties(of), |it| metadata
                .property_owner(it));
            check!(of, metadata.events(of), |it| metadata.event_owner(it));
        }
        for of in metadata.tokens::<MethodDef>() {
            check!(of, metadata.params(of), |it| metadata.param_owner(it));
        }
    }

    fn signatures(&mut self) {
        let metadata = self.metadata;
        macro_rules! signatures {
            ($($token:ident.$column:ident: $signature:ident;)*) => {$(
                for token in metadata.tokens::<clr_metadata::token::$token>() {
                    let signature = metadata.row(token).and_then(|row| {
                        metadata.signature::<signature::$signature>(row.$column)
                    });
                    self.counts.signatures += self.check(token, signature).iter().count();
                }
            )*};
        }
        signatures! {
            FieldDef.signature: FieldSig;
            MethodDef.signature: MethodSig;
            MemberRef.signature: MemberRefSig;
            Property.signature: PropertySig;
            StandAloneSig.signature: StandAloneSig;
            TypeSpec.signature: TypeSpecSig;
            MethodSpec.instantiation: MethodSpecSig;
        }
        for token in metadata.tokens::<StandAloneSig>() {
            let _ = metadata.method_signature(token);
        }
    }

    fn names(&mut self) {
        let metadata = self.metadata;
        for of in metadata.tokens::<TypeDef>() {
            let name = metadata.full_name(of.into());
            if let Some(name) = self.check(of, name) {
                // Another type may have the same name.
                let found = metadata.find_type(&name);
                let same = found.map(|found| metadata.full_name(found.into()));
                assert_eq!(same, Some(Ok(name)), "{of}");
            }
            let kind = metadata.type_kind(of);
            self.check(of, kind);
            let nested = metadata.nested_types(of).take(2);
            self.counts.members += nested
                .filter(|it| metadata.enclosing_type(*it) == Some(of))
                .count();
        }
        for of in metadata.tokens::<TypeRef>() {
            let name = metadata.full_name(of.into());
            self.check(of, name);
            let scope = metadata.outermost_scope(of);
            self.check(of, scope);
        }
        for of in metadata.tokens::<TypeSpec>() {
            assert!(metadata.type_name(TypeToken::Spec(of)).is_err());
        }
        for table in [0x04, 0x06, 0x0a, 0x14, 0x17, 0x2b].map(TokenTable) {
            for row in 1..=metadata.row_count(table) {
                let token = Token::from_row(table, row).expect("few rows");
                let name = metadata.member_name(token);
                self.check(token, name);
            }
        }
    }

    fn values(&mut self) {
        let metadata = self.metadata;
        let fields = metadata.tokens::<FieldDef>().map(HasConstant::from);
        let params = metadata.tokens::<ParamDef>().map(HasConstant::from);
        let properties = metadata.tokens::<Property>().map(HasConstant::from);
        for of in fields.chain(params).chain(properties) {
            let value = metadata.constant(of);
            let value = self.check(of, value);
            self.counts.constants += value.flatten().iter().count();
        }
        for row in metadata.rows::<CustomAttributeRow>() {
            let Some(row) = self.check(Token::NIL, row) else {
                continue;
            };
            let name = metadata.attribute_name(&row);
            self.counts.attributes += self.check(row.parent, name).iter().count();
            // The widths of enumerations are unknown here: an error is no failure.
            let _ = metadata.attribute_value(&row, |_| None);
        }
        for of in metadata.tokens::<GenericParam>() {
            for row in metadata.rows_of::<GenericParamConstraintRow>(of) {
                self.check(of, row);
            }
        }
        for event in metadata.tokens::<Event>() {
            for row in metadata.rows_of::<MethodSemanticsRow>(event) {
                self.check(event, row);
            }
        }
    }

    fn image(&mut self, assembly: &Assembly<'_>) {
        for method in self.metadata.tokens::<MethodDef>() {
            let body = assembly.body(method);
            let body = self.check(method, body).flatten();
            self.counts.bodies += body.iter().count();
        }
        for resource in self.metadata.tokens::<ManifestResource>() {
            let bytes = assembly.resource(resource);
            let bytes = self.check(resource, bytes).flatten();
            self.counts.resources += bytes.iter().count();
        }
        for field in self.metadata.tokens::<FieldDef>() {
            let data = assembly.field_data(field, 1);
            self.check(field, data);
        }
        let entries = assembly.image.debug_entries();
        let entries = self.check(Token::NIL, entries);
        for entry in entries.into_iter().flatten() {
            let contents = entry.and_then(|entry| entry.contents());
            self.counts.debug_entries += self.check(Token::NIL, contents).iter().count();
        }
        for offset in [0, 1, 0xff_ffff] {
            let token = UserString::from_row(offset).expect("24 bits");
            let _ = self
                .metadata
                .user_string(token)
                .map(|text| text.to_string_lossy());
        }
    }
}
