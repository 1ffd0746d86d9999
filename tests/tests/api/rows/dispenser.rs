//! Dispensers, and the calls that only metadata that they open supports.

use std::path::Path;

use clr_profiler::metadata::DispenserOption;
use clr_profiler::prelude::*;

use super::rows;
use crate::implemented::type_info;

const OPTION: DispenserOption = DispenserOption::ThreadSafety;

rows! { ROWS: Dispenser;
    "IMetaDataDispenser::DefineScope" => |it| it.define_scope();
    "IMetaDataDispenser::OpenScope" => |it| it.open_scope(Path::new("/nowhere"));
    "IMetaDataDispenser::OpenScopeOnMemory" => |it| it.open_scope_on_memory(&[]);
    "IMetaDataDispenserEx::SetOption" => |it| it.set_option(OPTION, 1);
    "IMetaDataDispenserEx::GetOption" => |it| it.option(OPTION);
    "IMetaDataDispenserEx::OpenScopeOnITypeInfo" => |it| it.open_scope_on_type_info(&type_info());
}

rows! { STORED: Stored;
    "IMetaDataTables2::GetMetaDataStorage" => |it| it.metadata_storage();
    "IMetaDataTables2::GetMetaDataStreamInfo" => |it| it.metadata_stream(0);
}
