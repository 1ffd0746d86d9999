//! Dispensers, and what only the metadata that they open can do.

use std::path::Path;

use clr_profiler::prelude::*;
use clr_profiler::{AssemblySearch, DispenserOption};

use super::{method, rows};
use crate::implemented::type_info;

const OPTION: DispenserOption = DispenserOption::ThreadSafety;
const SEARCH: AssemblySearch<'_> = AssemblySearch {
    application_base: Some("/base"),
    private_bin: None,
    global_bin: None,
};

rows! { ROWS: Dispenser;
    "IMetaDataDispenser::DefineScope" => |it| it.define_scope();
    "IMetaDataDispenser::OpenScope" => |it| it.open_scope(Path::new("/nowhere"));
    "IMetaDataDispenser::OpenScopeOnMemory" => |it| it.open_scope_on_memory(&[]);
    "IMetaDataDispenserEx::SetOption" => |it| it.set_option(OPTION, 1);
    "IMetaDataDispenserEx::GetOption" => |it| it.option(OPTION);
    "IMetaDataDispenserEx::OpenScopeOnITypeInfo" => |it| it.open_scope_on_type_info(&type_info());
    "IMetaDataDispenserEx::GetCORSystemDirectory" => |it| it.cor_system_directory();
    "IMetaDataDispenserEx::FindAssembly" => |it| it.find_assembly(&SEARCH, "A");
    "IMetaDataDispenserEx::FindAssemblyModule" => |it| it.find_assembly_module(&SEARCH, "A", "M");
}

rows! { STORED: Stored;
    "IMetaDataTables2::GetMetaDataStorage" => |it| it.metadata_storage();
    "IMetaDataTables2::GetMetaDataStreamInfo" => |it| it.metadata_stream(0);
    "IMetaDataFilter::UnmarkAll" => |it| it.unmark_all();
    "IMetaDataFilter::MarkToken" => |it| it.mark_token(method());
    "IMetaDataFilter::IsTokenMarked" => |it| it.is_token_marked(method());
}
