//! The interfaces that read metadata.

use clr_profiler::AnySignature;
use clr_profiler::prelude::*;

use super::{all, class, method, rows, token};
use crate::implemented::handler;

// Lengths of values and lists are not shown, nor is a truth as a number or a key that is no column.
rows! { IMPORT: Metadata;
    "IMetaDataImport::EnumTypeDefs" => |it| all(it.type_defs());
    "IMetaDataImport::EnumTypeRefs" => |it| all(it.type_refs());
    "IMetaDataImport::EnumTypeSpecs" => |it| all(it.type_specs());
    "IMetaDataImport::EnumModuleRefs" => |it| all(it.module_refs());
    "IMetaDataImport::EnumInterfaceImpls" => |it| all(it.interface_impls(class()));
    "IMetaDataImport::EnumMembers" => |it| all(it.members(class()));
    "IMetaDataImport::EnumMembersWithName" => |it| it.members_with_name(class(), "M").and_then(all);
    "IMetaDataImport::EnumMethods" => |it| all(it.methods(class()));
    "IMetaDataImport::EnumMethodsWithName" => |it| it.methods_with_name(class(), "M").and_then(all);
    "IMetaDataImport::EnumFields" => |it| all(it.fields(class()));
    "IMetaDataImport::EnumFieldsWithName" => |it| it.fields_with_name(class(), "F").and_then(all);
    "IMetaDataImport::EnumParams" => |it| all(it.params(method()));
    "IMetaDataImport::EnumMemberRefs" => |it| all(it.member_refs(class()));
    "IMetaDataImport::EnumUnresolvedMethods" => |it| all(it.unresolved_methods());
    "IMetaDataImport::EnumMethodImpls" => |it| all(it.method_impls(class()));
    "IMetaDataImport::EnumProperties" => |it| all(it.properties(class()));
    "IMetaDataImport::EnumEvents" => |it| all(it.events(class()));
    "IMetaDataImport::EnumMethodSemantics" => |it| all(it.method_associations(method()));
    "IMetaDataImport::EnumSignatures" => |it| all(it.signatures());
    "IMetaDataImport::EnumUserStrings" => |it| all(it.user_strings());
    "IMetaDataImport::EnumCustomAttributes" => |it| all(it.custom_attributes(None, None));
    "IMetaDataImport::EnumPermissionSets" => |it| all(it.permission_sets(None, None));
    "IMetaDataImport::CountEnum" => |it| it.type_defs().total();
    "IMetaDataImport::ResetEnum" => |it| reset(it);
    "IMetaDataImport::CloseEnum" => |it| all(it.type_defs());
    "IMetaDataImport::FindTypeDefByName" => |it| it.find_type_def_by_name("N.C", None);
    "IMetaDataImport::FindTypeRef" => |it| it.find_type_ref(module(), "N.C");
    "IMetaDataImport::FindMember" => |it| it.find_member(Some(class()), "M", AnySignature);
    "IMetaDataImport::FindMethod" => |it| it.find_method(Some(class()), "M", AnySignature);
    "IMetaDataImport::FindField" => |it| it.find_field(Some(class()), "F", AnySignature);
    "IMetaDataImport::FindMemberRef" => |it| it.find_member_ref(class(), "M", AnySignature);
    "IMetaDataImport::GetScopeProps" => |it| it.scope_props();
    "IMetaDataImport::GetModuleFromScope" => |it| it.module_from_scope();
    "IMetaDataImport::GetTypeDefProps" => |it| it.type_def_props(class());
    "IMetaDataImport::GetNestedClassProps" => |it| it.nested_class_props(class());
    "IMetaDataImport::GetInterfaceImplProps" => |it| it.interface_impl_props(token(0x0900_0001));
    "IMetaDataImport::GetTypeRefProps" => |it| it.type_ref_props(type_ref());
    "IMetaDataImport::ResolveTypeRef" => |it| it.resolve_type_ref(type_ref());
    "IMetaDataImport::GetTypeSpecFromToken" => |it| it.type_spec_from_token(token(0x1B00_0001));
    "IMetaDataImport::GetModuleRefProps" => |it| it.module_ref_props(token(0x1A00_0001));
    "IMetaDataImport::GetMethodProps" => |it| it.method_props(method());
    "IMetaDataImport::GetFieldProps" hides ["pcchValue"] => |it| it.field_props(field());
    "IMetaDataImport::GetMemberProps" hides ["pcchValue"] => |it| it.member_props(method());
    "IMetaDataImport::GetMemberRefProps" => |it| it.member_ref_props(token(0x0A00_0001));
    "IMetaDataImport::GetParamProps" hides ["pcchValue"] => |it| it.param_props(token(0x0800_0001));
    "IMetaDataImport::GetParamForMethodIndex" => |it| it.param_for_method_index(method(), 1);
    "IMetaDataImport::GetRVA" => |it| it.rva(method());
    "IMetaDataImport::IsGlobal" hides ["pbGlobal"] => |it| it.is_global(method());
    "IMetaDataImport::GetMethodSemantics" => |it| it.method_semantics(method(), property());
    "IMetaDataImport::GetPropertyProps" hides ["pcchDefaultValue"] => |it| it.property_props(property());
    "IMetaDataImport::GetEventProps" => |it| it.event_props(event());
    "IMetaDataImport::GetSigFromToken" => |it| it.sig_from_token(token(0x1100_0001));
    "IMetaDataImport::GetUserString" => |it| it.user_string_utf16(token(0x7000_0001)).map(text);
    "IMetaDataImport::GetNameFromToken" => |it| it.name_from_token(method());
    "IMetaDataImport::IsValidToken" => |it| Ok(it.is_valid_token(method()));
    "IMetaDataImport::GetNativeCallConvFromSig" => |it| it.native_call_conv_from_sig(METHOD_SIG);
    "IMetaDataImport::GetCustomAttributeProps" => |it| it.custom_attribute_props(token(0x0C00_0001));
    "IMetaDataImport::GetCustomAttributeByName" => |it| it.custom_attribute_by_name(class(), "N.A");
    "IMetaDataImport::GetPermissionSetProps" => |it| it.permission_set_props(token(0x0E00_0001));
    "IMetaDataImport::GetClassLayout" => |it| it.class_layout(class());
    "IMetaDataImport::GetFieldMarshal" => |it| it.field_marshal(field());
    "IMetaDataImport::GetPinvokeMap" => |it| it.pinvoke_map(method());
    "IMetaDataImport2::EnumGenericParams" => |it| all(it.generic_params(class()));
    "IMetaDataImport2::EnumGenericParamConstraints" => |it| all(it.generic_param_constraints(generic_param()));
    "IMetaDataImport2::EnumMethodSpecs" => |it| all(it.method_specs(None));
    "IMetaDataImport2::GetGenericParamProps" hides ["reserved"] => |it| it.generic_param_props(generic_param());
    "IMetaDataImport2::GetGenericParamConstraintProps" => |it| it.generic_param_constraint_props(token(0x2C00_0001));
    "IMetaDataImport2::GetMethodSpecProps" => |it| it.method_spec_props(token(0x2B00_0001));
    "IMetaDataImport2::GetPEKind" => |it| it.pe_kind();
    "IMetaDataImport2::GetVersionString" => |it| it.version_string();
    "IMetaDataAssemblyImport::EnumAssemblyRefs" => |it| it.assembly_refs().and_then(all);
    "IMetaDataAssemblyImport::EnumFiles" => |it| it.files().and_then(all);
    "IMetaDataAssemblyImport::EnumExportedTypes" => |it| it.exported_types().and_then(all);
    "IMetaDataAssemblyImport::EnumManifestResources" => |it| it.manifest_resources().and_then(all);
    "IMetaDataAssemblyImport::CloseEnum" => |it| it.files().and_then(all);
    "IMetaDataAssemblyImport::GetAssemblyFromScope" => |it| it.assembly_from_scope();
    "IMetaDataAssemblyImport::GetAssemblyProps" => |it| it.assembly_props(token(0x2000_0001));
    "IMetaDataAssemblyImport::GetAssemblyRefProps" => |it| it.assembly_ref_props(token(0x2300_0001));
    "IMetaDataAssemblyImport::GetFileProps" => |it| it.file_props(token(0x2600_0001));
    "IMetaDataAssemblyImport::GetExportedTypeProps" => |it| it.exported_type_props(token(0x2700_0001));
    "IMetaDataAssemblyImport::GetManifestResourceProps" => |it| it.manifest_resource_props(token(0x2800_0001));
    "IMetaDataAssemblyImport::FindExportedTypeByName" => |it| it.find_exported_type_by_name("N.C", None);
    "IMetaDataAssemblyImport::FindManifestResourceByName" => |it| it.find_manifest_resource_by_name("r");
    "IMetaDataAssemblyImport::FindAssembliesByName" => |it| it.find_assemblies_by_name(Some("/base"), None, "A");
    "IMetaDataValidate::ValidatorInit" => |it| it.validator_init(1, &handler());
    "IMetaDataValidate::ValidateMetaData" => |it| it.validate_metadata();
    "IMetaDataWinMDImport::GetUntransformedTypeRefProps" => |it| it.untransformed_type_ref_props(type_ref());
}

rows! { TABLES: Metadata;
    "IMetaDataTables::GetStringHeapSize" => |it| it.string_heap_size();
    "IMetaDataTables::GetBlobHeapSize" => |it| it.blob_heap_size();
    "IMetaDataTables::GetGuidHeapSize" => |it| it.guid_heap_size();
    "IMetaDataTables::GetUserStringHeapSize" => |it| it.user_string_heap_size();
    "IMetaDataTables::GetNumTables" => |it| it.num_tables();
    "IMetaDataTables::GetTableIndex" => |it| it.table_index(method());
    "IMetaDataTables::GetTableInfo" hides ["piKey"] => |it| it.table_info(2);
    "IMetaDataTables::GetColumnInfo" => |it| it.column_info(2, 1);
    "IMetaDataTables::GetCodedTokenInfo" hides ["pcTokens"] => |it| it.coded_token_info(1);
    "IMetaDataTables::GetRow" => |it| it.row(2, 1);
    "IMetaDataTables::GetColumn" => |it| it.column(2, 1, 1);
    "IMetaDataTables::GetString" => |it| it.string(1);
    "IMetaDataTables::GetBlob" => |it| it.blob(1);
    "IMetaDataTables::GetUserString" => |it| it.user_string_blob(1);
    "IMetaDataTables::GetGuid" => |it| it.guid(1);
    "IMetaDataTables::GetNextString" => |it| it.next_string(1);
    "IMetaDataTables::GetNextBlob" => |it| it.next_blob(1);
    "IMetaDataTables::GetNextGuid" => |it| it.next_guid(1);
    "IMetaDataTables::GetNextUserString" => |it| it.next_user_string(1);
    "IMetaDataInfo::GetFileMapping" => |it| it.file_mapping();
}

pub(super) const METHOD_SIG: &[u8; 3] = &[0, 0, 1];

pub(super) fn module() -> Token {
    Token::new(1)
}

pub(super) fn type_ref() -> TypeRef {
    token(0x0100_0001)
}

pub(super) fn field() -> FieldDef {
    token(0x0400_0001)
}

pub(super) fn event() -> Event {
    token(0x1400_0001)
}

pub(super) fn property() -> Property {
    token(0x1700_0001)
}

pub(super) fn generic_param() -> GenericParam {
    token(0x2A00_0001)
}

/// The fake runtime ends every text with a zero, the real one does not end these.
fn text(units: Vec<u16>) -> String {
    String::from_utf16_lossy(units.strip_suffix(&[0]).unwrap_or(&units))
}

fn reset(metadata: &Metadata<'_>) -> Result<()> {
    let mut types = metadata.type_defs();
    types.next().transpose()?;
    types.reset(0)
}
