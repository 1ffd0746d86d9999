//! The interfaces that write metadata.

use std::io::Write;
use std::path::Path;

use clr_profiler::il::signature::MethodSig;
use clr_profiler::prelude::*;
use clr_profiler::{EventMethods, NewAssembly, NewAssemblyRef, PropertyMethods};

use super::metadata::{METHOD_SIG, event, field, generic_param, module, property};
use super::{class, method, rows, token};
use crate::implemented::handler;

// Not of a module that is loaded.
rows! { STORED: StoredWriter;
    "IMetaDataEmit::DeleteToken" => |it| it.delete_token(method());
}

rows! { ROWS: Writer;
    "IMetaDataEmit::SetModuleProps" => |it| it.set_module_props("m");
    "IMetaDataEmit::Save" => |it| it.save(Path::new("/nowhere"));
    "IMetaDataEmit::SaveToStream" => |it| saved(|out| it.save_to_stream(out));
    "IMetaDataEmit::GetSaveSize" => |it| it.save_size(0);
    "IMetaDataEmit::SaveToMemory" => |it| it.save_to_memory();
    "IMetaDataEmit::SetHandler" => |it| it.set_handler(Some(&handler()));
    "IMetaDataEmit::ApplyEditAndContinue" => |it| it.apply_edit_and_continue(it);
    "IMetaDataEmit::Merge" => |it| it.merge(it, Some(&handler()), Some(&handler()));
    "IMetaDataEmit::MergeEnd" => |it| it.merge_end();
    "IMetaDataEmit::DefineTypeDef" => |it| it.define_type_def("N.C", 0, None, &[]);
    "IMetaDataEmit::DefineNestedType" => |it| it.define_nested_type("C", 0, None, &[], class());
    "IMetaDataEmit::SetTypeDefProps" => |it| it.set_type_def_props(class(), Some(0), None, None);
    "IMetaDataEmit::SetClassLayout" => |it| it.set_class_layout(class(), 8, &[], 16);
    "IMetaDataEmit::DeleteClassLayout" => |it| it.delete_class_layout(class());
    "IMetaDataEmit::DefineEvent" => |it| it.define_event(class(), "E", 0, None, &EventMethods::default());
    "IMetaDataEmit::SetEventProps" => |it| it.set_event_props(event(), Some(0), None, &EventMethods::default());
    "IMetaDataEmit::DefineProperty" => |it| it.define_property(class(), "P", 0, PROPERTY_SIG, None, &PropertyMethods::default());
    "IMetaDataEmit::SetPropertyProps" => |it| it.set_property_props(property(), Some(0), None, &PropertyMethods::default());
    "IMetaDataEmit::DefineMethod" => |it| it.define_method(Some(class()), "M", 0, METHOD_SIG, 0, 0);
    "IMetaDataEmit::DefineMethodImpl" => |it| it.define_method_impl(class(), method(), method());
    "IMetaDataEmit::SetRVA" => |it| it.set_rva(method(), 1);
    "IMetaDataEmit::SetMethodProps" => |it| it.set_method_props(method(), Some(0), None, None);
    "IMetaDataEmit::SetMethodImplFlags" => |it| it.set_method_impl_flags(method(), 0);
    "IMetaDataEmit::DefineField" => |it| it.define_field(Some(class()), "F", 0, FIELD_SIG, None);
    "IMetaDataEmit::SetFieldProps" => |it| it.set_field_props(field(), Some(0), None);
    "IMetaDataEmit::SetFieldRVA" => |it| it.set_field_rva(field(), 1);
    "IMetaDataEmit::DefineParam" => |it| it.define_param(method(), 1, "p", 0, None);
    "IMetaDataEmit::SetParamProps" => |it| it.set_param_props(token(0x0800_0001), Some("p"), Some(0), None);
    "IMetaDataEmit::DefineTypeRefByName" => |it| it.define_type_ref_by_name(module(), "N.C");
    "IMetaDataEmit::DefineImportType" => |it| it.define_import_type(it, &[], class());
    "IMetaDataEmit::DefineMemberRef" => |it| it.define_member_ref(class(), "M", METHOD_SIG);
    "IMetaDataEmit::DefineImportMember" => |it| it.define_import_member(it, &[], method(), class());
    "IMetaDataEmit::SetParent" => |it| it.set_parent(token(0x0A00_0001), class());
    "IMetaDataEmit::DefineModuleRef" => |it| it.define_module_ref("m");
    "IMetaDataEmit::GetTokenFromSig" => |it| it.token_from_sig(METHOD_SIG);
    "IMetaDataEmit::GetTokenFromTypeSpec" => |it| it.token_from_type_spec(TYPE_SIG);
    "IMetaDataEmit::TranslateSigWithScope" => |it| it.translate_sig_with_scope::<MethodSig>(it, &[], METHOD_SIG);
    "IMetaDataEmit::DefineUserString" => |it| it.define_user_string_utf16(&[0x78]);
    "IMetaDataEmit::DefineCustomAttribute" => |it| it.define_custom_attribute(class(), method(), &[1, 0, 0, 0]);
    "IMetaDataEmit::SetCustomAttributeValue" => |it| it.set_custom_attribute_value(token(0x0C00_0001), &[1, 0, 0, 0]);
    "IMetaDataEmit::DefinePermissionSet" => |it| it.define_permission_set(class(), 1, &[0]);
    "IMetaDataEmit::SetPermissionSetProps" => |it| it.set_permission_set_props(class(), 1, &[0]);
    "IMetaDataEmit::DefineSecurityAttributeSet" hides ["pulErrorAttr"] => |it| it.define_security_attribute_set(class(), &[]);
    "IMetaDataEmit::SetFieldMarshal" => |it| it.set_field_marshal(field(), &[2]);
    "IMetaDataEmit::DeleteFieldMarshal" => |it| it.delete_field_marshal(field());
    "IMetaDataEmit::DefinePinvokeMap" => |it| it.define_pinvoke_map(method(), 0, "f", token(0x1A00_0001));
    "IMetaDataEmit::SetPinvokeMap" => |it| it.set_pinvoke_map(method(), Some(0), Some("f"), None);
    "IMetaDataEmit::DeletePinvokeMap" => |it| it.delete_pinvoke_map(method());
    "IMetaDataEmit2::DefineMethodSpec" => |it| it.define_method_spec(method(), SPEC_SIG);
    "IMetaDataEmit2::GetDeltaSaveSize" => |it| it.delta_save_size(0);
    "IMetaDataEmit2::SaveDelta" => |it| it.save_delta(Path::new("/nowhere"));
    "IMetaDataEmit2::SaveDeltaToStream" => |it| saved(|out| it.save_delta_to_stream(out));
    "IMetaDataEmit2::SaveDeltaToMemory" => |it| it.save_delta_to_memory();
    "IMetaDataEmit2::DefineGenericParam" => |it| it.define_generic_param(class(), 0, 0, "T", &[]);
    "IMetaDataEmit2::SetGenericParamProps" => |it| it.set_generic_param_props(generic_param(), 0, Some("T"), None);
    "IMetaDataEmit2::ResetENCLog" => |it| it.reset_enc_log();
    "IMetaDataAssemblyEmit::DefineAssembly" => |it| it.define_assembly(&NewAssembly::default());
    "IMetaDataAssemblyEmit::SetAssemblyProps" => |it| it.set_assembly_props(token(0x2000_0001), &NewAssembly::default());
    "IMetaDataAssemblyEmit::DefineAssemblyRef" => |it| it.define_assembly_ref(&NewAssemblyRef::default());
    "IMetaDataAssemblyEmit::SetAssemblyRefProps" => |it| it.set_assembly_ref_props(token(0x2300_0001), &NewAssemblyRef::default());
    "IMetaDataAssemblyEmit::DefineFile" => |it| it.define_file("f", &[], 0);
    "IMetaDataAssemblyEmit::SetFileProps" => |it| it.set_file_props(token(0x2600_0001), &[], 0);
    "IMetaDataAssemblyEmit::DefineExportedType" => |it| it.define_exported_type("N.C", class(), None, 0);
    "IMetaDataAssemblyEmit::SetExportedTypeProps" => |it| it.set_exported_type_props(token(0x2700_0001), class(), None, 0);
    "IMetaDataAssemblyEmit::DefineManifestResource" => |it| it.define_manifest_resource("r", None, 0, 0);
    "IMetaDataAssemblyEmit::SetManifestResourceProps" => |it| it.set_manifest_resource_props(token(0x2800_0001), None, 0, 0);
}

fn saved(save: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    save(&mut bytes)?;
    Ok(bytes)
}

/// `int`.
const FIELD_SIG: &[u8; 2] = &[6, 8];
const TYPE_SIG: &[u8; 2] = &[0x1D, 8];
const PROPERTY_SIG: &[u8; 3] = &[0x28, 0, 8];
/// `<int>`.
const SPEC_SIG: &[u8; 3] = &[0x0A, 1, 8];
