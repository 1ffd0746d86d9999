//! `clr_metadata` reads from the files of the loaded modules the same rows as the runtime's metadata interfaces.

use std::borrow::Cow;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use clr_metadata::rows::{ConstantRow, GenericParamConstraintRow};
use clr_metadata::token::{
    CustomAttribute, FieldDef, GenericParam, InterfaceImpl, MethodDef, Module, TypeDef,
};
use clr_metadata::{Assembly, Bundle, HasConstant, Metadata as FileMetadata, Value};
use clr_profiler::il::token::{Token, TokenTable};
use clr_profiler::metadata::Metadata;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Compares each loaded module with its file.
pub(crate) struct MetadataFromFiles;

#[profiler(clsid = clsid("MetadataFromFiles"))]
impl Profiler for MetadataFromFiles {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("different: {failure}")));
        Ok(Self)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let path = info.module_info(module)?.name;
        let application = std::env::current_exe()
            .and_then(fs::read)
            .unwrap_or_default();
        let file = match fs::read(&path) {
            Ok(file) => Cow::Owned(file),
            Err(_) => match bundled(&application, &path) {
                Some(file) => file,
                None => {
                    log::line(format_args!("no file: {path}"));
                    return Ok(());
                }
            },
        };
        let native = info.module_metadata(module)?;
        match Assembly::parse(&file) {
            Ok(assembly) => {
                let mut compared = Compared {
                    native: &native,
                    file: &assembly.metadata,
                    equal: 0,
                };
                compared.module()?;
                let equal = compared.equal;
                let name = Path::new(&path).file_stem().unwrap_or_default();
                log::line(format_args!("{}: {equal} equal", name.display()));
            }
            Err(error) => log::line(format_args!("different: {path}: {error}")),
        }
        Ok(())
    }
}

/// A file of a single-file application.
fn bundled<'a>(application: &'a [u8], path: &str) -> Option<Cow<'a, [u8]>> {
    let name = Path::new(path).file_name()?.to_str()?;
    let mut files = Bundle::find(application).ok()?.files().flatten();
    files.find(|file| file.path == name)?.contents().ok()
}

struct Compared<'a> {
    native: &'a Metadata<'a>,
    file: &'a FileMetadata<'a>,
    equal: usize,
}

/// The most rows of a table that are compared, unless `METADATA_FULL` is set.
const ROWS: u32 = 400;

impl Compared<'_> {
    fn same<T: PartialEq + Debug>(&mut self, token: impl Into<Token>, runtime: T, file: T) {
        if runtime == file {
            self.equal += 1;
        } else {
            let token = token.into();
            log::line(format_args!("different {token}: {runtime:?} is {file:?}"));
        }
    }

    /// The value in the file, which must be readable.
    fn read<T>(&mut self, token: impl Into<Token>, value: clr_metadata::Result<T>) -> Option<T> {
        let token = token.into();
        value
            .map_err(|error| log::line(format_args!("different {token}: {error}")))
            .ok()
    }

    fn sample(count: u32) -> impl Iterator<Item = u32> {
        let full = std::env::var_os("METADATA_FULL").is_some();
        let step = if full { 1 } else { count.div_ceil(ROWS).max(1) };
        (1..=count)
            .step_by(step as usize)
            .chain((!full && count > 0).then_some(count))
    }

    fn module(&mut self) -> Result<()> {
        let module = Module::from_row(1).unwrap_or(Module::NIL);
        if let Some(row) = self.read(module, self.file.row(module)) {
            let mvid = self.read(module, self.file.guid(row.mvid)).flatten();
            self.same(
                module,
                Some(self.native.scope_props()?.mvid.to_bytes_le()),
                mvid,
            );
        }
        self.tables()?;
        self.types()?;
        self.methods()?;
        self.fields()
    }

    /// Every column of the tables, and the values in the heaps.
    fn tables(&mut self) -> Result<()> {
        for table in 0..self.native.num_tables()?.min(0x2d) {
            let info = self.native.table_info(table)?;
            let table_of = TokenTable(u8::try_from(table).unwrap_or(0xff));
            let nil = Token::from_row(table_of, 0).unwrap_or(Token::NIL);
            self.same(nil, info.rows, self.file.row_count(table_of));
            for row in Self::sample(info.rows) {
                let token = Token::from_row(table_of, row).unwrap_or(Token::NIL);
                let Some(values) = self.read(token, self.file.values(token)) else {
                    continue;
                };
                self.same(token, info.columns as usize, values.len());
                for (column, value) in (0..).zip(values) {
                    let number = match value {
                        Value::Number(number) => number,
                        Value::Token(token) => token.raw(),
                        Value::String(text) => {
                            let read = self.read(token, self.file.string(text)).map(str::to_owned);
                            self.same(token, Some(self.native.string(text.0)?), read);
                            text.0
                        }
                        Value::Blob(blob) => {
                            let read = self.read(token, self.file.blob(blob)).map(<[u8]>::to_vec);
                            self.same(token, Some(self.native.blob(blob.0)?), read);
                            blob.0
                        }
                        Value::Guid(guid) => guid.0,
                    };
                    self.same(token, self.native.column(table, column, row)?, number);
                }
            }
        }
        Ok(())
    }

    fn types(&mut self) -> Result<()> {
        for row in Self::sample(self.file.row_count(TokenTable::TYPE_DEF)) {
            let class = TypeDef::from_row(row).unwrap_or(TypeDef::NIL);
            let props = self.native.type_def_props(class)?;
            let Some(name) = self.read(class, self.file.type_name(class.into())) else {
                continue;
            };
            self.same(class, true, name.is(&props.name));
            let enclosing = self.file.enclosing_type(class);
            self.same(class, self.native.nested_class_props(class)?, enclosing);
            let found = self.native.find_type_def_by_name(&props.name, enclosing)?;
            if let Some(full_name) = self.read(class, self.file.full_name(class.into())) {
                self.same(class, Some(found), self.file.find_type(&full_name));
            }
            macro_rules! members {
                ($($members:ident)*) => {$(
                    let members = self.native.$members(class).collect::<Result<Vec<_>>>()?;
                    self.same(class, members, self.file.$members(class).collect());
                )*};
            }
            members! { methods fields properties events }
            let interfaces = self
                .native
                .interface_impls(class)
                .collect::<Result<Vec<_>>>()?;
            self.same(
                class,
                interfaces,
                self.file.tokens_of::<InterfaceImpl>(class).collect(),
            );
            self.of_item(class.token(), self.file.tokens_of(class).collect())?;
            self.generics(class.token(), self.file.tokens_of(class).collect())?;
        }
        Ok(())
    }

    fn of_item(&mut self, item: Token, attributes: Vec<CustomAttribute>) -> Result<()> {
        let native = self.native.custom_attributes(Some(item), None);
        self.same(item, native.collect::<Result<Vec<_>>>()?, attributes);
        Ok(())
    }

    fn generics(&mut self, owner: Token, params: Vec<GenericParam>) -> Result<()> {
        for &param in &params {
            let constraints = self.native.generic_param_constraints(param).count();
            let rows = self.file.rows_of::<GenericParamConstraintRow>(param);
            self.same(param, constraints, rows.count());
        }
        let native = self
            .native
            .generic_params(owner)
            .collect::<Result<Vec<_>>>()?;
        self.same(owner, native, params);
        Ok(())
    }

    fn methods(&mut self) -> Result<()> {
        for row in Self::sample(self.file.row_count(TokenTable::METHOD_DEF)) {
            let method = MethodDef::from_row(row).unwrap_or(MethodDef::NIL);
            let props = self.native.method_props(method)?;
            if let Some(owner) = self.read(method, self.file.method_owner(method)) {
                self.same(method, props.class, owner);
            }
            if let Some(name) = self.read(method, self.file.member_name(method)) {
                self.same(method, &*props.name, name);
            }
            if let Some(row) = self.read(method, self.file.row(method)) {
                let flags = (props.attributes, props.implementation, props.rva);
                self.same(method, flags, (row.attributes, row.implementation, row.rva));
                let blob = self.read(method, self.file.blob(row.signature));
                self.same(method, Some(&*props.signature_blob), blob);
            }
            let params = self.native.params(method).collect::<Result<Vec<_>>>()?;
            self.same(method, params, self.file.params(method).collect());
            self.of_item(method.token(), self.file.tokens_of(method).collect())?;
            self.generics(method.token(), self.file.tokens_of(method).collect())?;
        }
        Ok(())
    }

    fn fields(&mut self) -> Result<()> {
        for row in Self::sample(self.file.row_count(TokenTable::FIELD_DEF)) {
            let field = FieldDef::from_row(row).unwrap_or(FieldDef::NIL);
            let props = self.native.field_props(field)?;
            if let Some(owner) = self.read(field, self.file.field_owner(field)) {
                self.same(field, props.class, owner);
            }
            if let Some(name) = self.read(field, self.file.member_name(field)) {
                self.same(field, &*props.name, name);
            }
            let constants = self.file.rows_of::<ConstantRow>(HasConstant::from(field));
            self.same(field, props.value.is_some(), constants.count() == 1);
            let value = self.file.constant(field);
            self.read(field, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::MetadataFromFiles;

    fn files_are_equal(program: &str) {
        let scenario = Scenario::new(program).profiled_by::<MetadataFromFiles>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            assert!(!profiled.log.contains("different"), "{}", profiled.log);
            for module in [program, "System.Private.CoreLib"] {
                let line = profiled.log.lines().find_map(|line| {
                    let equal = line.strip_prefix(&format!("{module}: "))?;
                    equal.strip_suffix(" equal")?.parse::<u32>().ok()
                });
                let least = if module == program { 100 } else { 20_000 };
                assert!(line.is_some_and(|equal| equal > least), "{}", profiled.log);
            }
        });
    }

    #[test]
    fn of_a_program_with_many_kinds_of_members() {
        files_are_equal("Behaviours");
    }

    #[test]
    fn of_a_program_with_attributes() {
        files_are_equal("Attributes");
    }

    #[test]
    fn of_a_small_program() {
        files_are_equal("Basics");
    }
}
