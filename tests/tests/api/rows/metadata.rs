//! The interfaces that read metadata.

use clr_profiler::prelude::*;

use super::{all, class, method, rows, token};
use crate::implemented::handler;

rows! { IMPORT: Metadata;
    "IMetaDataImport::EnumMethodImpls" => |it| all(it.method_impls(class()));
    "IMetaDataImport::CountEnum" => |it| it.type_defs().total();
    "IMetaDataImport::ResetEnum" => |it| reset(it);
    "IMetaDataImport::CloseEnum" => |it| all(it.type_defs());
    "IMetaDataImport::GetUserString" => |it| it.user_string_utf16(token(0x7000_0001)).map(text);
    "IMetaDataImport::IsValidToken" => |it| Ok(it.is_valid_token(method()));
    "IMetaDataAssemblyImport::CloseEnum" => |it| it.files().and_then(all);
    "IMetaDataAssemblyImport::GetAssemblyProps" => |it| it.assembly_props(token(0x2000_0001));
    "IMetaDataAssemblyImport::GetAssemblyRefProps" => |it| it.assembly_ref_props(token(0x2300_0001));
    "IMetaDataAssemblyImport::FindAssembliesByName" => |it| it.find_assemblies_by_name(Some("/base"), None, "A");
    "IMetaDataValidate::ValidatorInit" => |it| it.validator_init(1, &handler());
}

rows! { TABLES: Metadata;
    "IMetaDataTables::GetCodedTokenInfo" hides ["pcTokens"] => |it| it.coded_token_info(1);
    "IMetaDataTables::GetRow" => |it| it.row(2, 1);
}

pub(super) const METHOD_SIG: &[u8; 3] = &[0, 0, 1];

/// The fake runtime terminates every text with a zero, the real one does not terminate these.
fn text(units: Vec<u16>) -> String {
    String::from_utf16_lossy(units.strip_suffix(&[0]).unwrap_or(&units))
}

fn reset(metadata: &Metadata<'_>) -> Result<()> {
    let mut types = metadata.type_defs();
    types.next().transpose()?;
    types.reset(0)
}
