//! The interfaces of metadata.

use clr_profiler::prelude::*;

use super::{all, class, method, rows, token};

rows! { ROWS: Metadata;
    "IMetaDataImport::FindTypeDefByName" => |metadata| metadata.find_type_def_by_name("N.C", None);
    "IMetaDataImport::GetScopeProps" => |metadata| metadata.scope_props();
    "IMetaDataImport::GetTypeDefProps" => |metadata| metadata.type_def_props(class());
    "IMetaDataImport::GetNestedClassProps" => |metadata| metadata.nested_class_props(class());
    "IMetaDataImport::GetTypeRefProps" => |metadata| metadata.type_ref_props(token(0x0100_0001));
    "IMetaDataImport::GetTypeSpecFromToken" =>
        |metadata| metadata.type_spec_from_token(token(0x1B00_0001));
    "IMetaDataImport::GetMethodProps" => |metadata| metadata.method_props(method());
    "IMetaDataImport2::EnumGenericParams" =>
        |metadata| all(metadata.generic_params(Token::from(class())));
    "IMetaDataImport::CloseEnum" => |metadata| all(metadata.generic_params(Token::from(class())));
    "IMetaDataImport2::GetGenericParamProps" hides ["reserved"] =>
        |metadata| metadata.generic_param_props(token(0x2A00_0001));
}
