//! The metadata interfaces of a module.

use clr_metadata::MethodDefOrRef;
use clr_metadata::rows::MethodSpecRow;
use clr_profiler::il::token::{
    ExportedType, GenericParam, MethodDef, MethodSpec, ParamDef, StandAloneSig, Token, TokenTable,
    TypeDef, TypeSpec,
};
use clr_profiler_sys as sys;
use clr_profiler_test::stand_in::Call;
use sys::HRESULT;

use crate::module::{Method, Module, Reference};
use crate::outputs::{blob, enumerate, set_blob, set_text, text, token};

/// Not found.
const MISSING: HRESULT = sys::CLDB_E_RECORD_NOTFOUND;

fn found(call: &Call<'_>, output: usize, token: Option<u32>) -> HRESULT {
    match token {
        Some(token) => {
            call.set(output, token);
            sys::S_OK
        }
        None => MISSING,
    }
}

/// Answers a call of one of the interfaces; `None` for those that nothing here needs.
pub(crate) fn answer(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    let known = match call.method.interface {
        "IMetaDataEmit" | "IMetaDataEmit2" | "IMetaDataAssemblyEmit" => emit(module, call),
        "IMetaDataAssemblyImport" => assemblies(module, call),
        _ => None,
    };
    known
        .or_else(|| search(module, call))
        .or_else(|| rows(module, call))
        .or_else(|| enumerations(module, call))
}

fn assemblies(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    Some(match call.method.facts.name {
        "GetAssemblyFromScope" => found(call, 0, Some(0x2000_0001)),
        "GetAssemblyProps" => {
            let manifest = module.metadata().manifest().unwrap();
            set_blob(call, 1, manifest.public_key);
            call.set(3, 0x8004_u32);
            set_text(call, [5, 6, 4], manifest.name);
            set_version(call, 7, manifest.version);
            call.set(8, manifest.flags.bits());
            sys::S_OK
        }
        "GetAssemblyRefProps" => {
            let reference = module.reference(token(call, 0));
            set_blob(call, 1, reference.key);
            set_text(call, [4, 5, 3], &reference.name);
            set_version(call, 6, reference.version);
            set_blob(call, 7, &[]);
            call.set(9, reference.flags);
            sys::S_OK
        }
        "EnumAssemblyRefs" => enumerate(call, || {
            let all = module.references().into_iter();
            all.map(|(token, _)| token).collect()
        }),
        "FindExportedTypeByName" => found(call, 2, module.exported(&text(call, 0))),
        "GetExportedTypeProps" => {
            let exported = ExportedType::try_from(Token::new(token(call, 0))).unwrap();
            let row = module.metadata().row(exported).unwrap();
            set_text(call, [2, 3, 1], module.metadata().string(row.name).unwrap());
            call.set(4, row.implementation.token().raw());
            call.set(5, row.type_def_id);
            call.set(6, row.attributes.bits());
            sys::S_OK
        }
        "CloseEnum" => sys::S_OK,
        _ => return None,
    })
}

fn set_version(call: &Call<'_>, parameter: usize, version: [u16; 4]) {
    let props = call.pointer::<sys::ASSEMBLYMETADATA>(parameter);
    // SAFETY: the caller passes null or such a structure.
    if let Some(props) = unsafe { props.as_mut() } {
        [
            props.usMajorVersion,
            props.usMinorVersion,
            props.usBuildNumber,
            props.usRevisionNumber,
        ] = version;
        (props.cbLocale, props.ulProcessor, props.ulOS) = (0, 0, 0);
    }
}

fn search(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    let member = |members: Vec<u32>| {
        let (name, signature) = (text(call, 1), blob(call, 2));
        let mut members = members.into_iter();
        members.find(|token| {
            let (of, sig) = named(module, *token);
            of == name && (signature.is_empty() || sig == signature)
        })
    };
    let of_class = || match token(call, 0) {
        class if Token::new(class).is_nil() => module.members(0x0200_0001),
        class => module.members(class),
    };
    Some(match call.method.facts.name {
        "FindTypeDefByName" => {
            let outer = token(call, 1);
            found(call, 2, module.find_type_def(&text(call, 0), outer))
        }
        "FindTypeRef" => {
            let scope = token(call, 0);
            found(call, 2, module.find_type_ref(scope, &text(call, 1)))
        }
        "FindMember" | "FindMethod" | "FindField" => found(call, 4, member(of_class())),
        "FindMemberRef" => {
            let name = text(call, 1);
            let token = module.find_member_ref(token(call, 0), &name, blob(call, 2));
            found(call, 4, token)
        }
        _ => return None,
    })
}

/// The name and the signature of a method or field.
fn named(module: &Module, token: u32) -> (String, &'static [u8]) {
    match Token::new(token).table() {
        TokenTable::METHOD_DEF => {
            let row = module.method_row(token);
            (row.name, row.signature)
        }
        _ => {
            let (_, name, _, signature) = module.field_row(token);
            (name, signature)
        }
    }
}

fn rows(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    let metadata = module.metadata();
    let number = || token(call, 0);
    match call.method.facts.name {
        "GetTypeDefProps" => {
            let class = TypeDef::try_from(Token::new(number())).unwrap();
            let row = metadata.row(class).unwrap();
            set_text(call, [2, 3, 1], &module.type_name(class.into()));
            call.set(4, row.attributes.bits());
            call.set(5, row.extends.token().raw());
        }
        "GetTypeRefProps" => {
            let (scope, name) = module.type_ref(number());
            call.set(1, scope);
            set_text(call, [3, 4, 2], &name);
        }
        "GetNestedClassProps" => {
            let class = TypeDef::try_from(Token::new(number())).unwrap();
            let outer = metadata.enclosing_type(class);
            return Some(found(call, 1, outer.map(|outer| outer.token().raw())));
        }
        "GetMethodProps" => {
            let row = module.method_row(number());
            call.set(1, row.class);
            set_text(call, [3, 4, 2], &row.name);
            call.set(5, row.attributes);
            set_blob(call, 6, row.signature);
            call.set(8, row.rva);
            call.set(9, row.implementation);
        }
        "GetMemberProps" if Token::new(number()).table() == TokenTable::METHOD_DEF => {
            let row = module.method_row(number());
            call.set(1, row.class);
            set_text(call, [3, 4, 2], &row.name);
            call.set(5, row.attributes);
            set_blob(call, 6, row.signature);
            call.set(8, row.rva);
            call.set(9, row.implementation);
        }
        "GetFieldProps" | "GetMemberProps" => {
            let (class, name, attributes, signature) = module.field_row(number());
            call.set(1, class);
            set_text(call, [3, 4, 2], &name);
            call.set(5, attributes);
            set_blob(call, 6, signature);
        }
        "GetMemberRefProps" => {
            let (parent, name, signature) = module.member_ref(number());
            call.set(1, parent);
            set_text(call, [3, 4, 2], &name);
            set_blob(call, 5, signature);
        }
        "GetSigFromToken" => {
            let signature = match module.added_index(number()) {
                Some(index) => module.added().signatures[index],
                None => {
                    let token = StandAloneSig::try_from(Token::new(number())).unwrap();
                    metadata
                        .blob(metadata.row(token).unwrap().signature)
                        .unwrap()
                }
            };
            set_blob(call, 1, signature);
        }
        "GetTypeSpecFromToken" => {
            let signature = match module.added_index(number()) {
                Some(index) => module.added().type_specs[index],
                None => {
                    let token = TypeSpec::try_from(Token::new(number())).unwrap();
                    metadata
                        .blob(metadata.row(token).unwrap().signature)
                        .unwrap()
                }
            };
            set_blob(call, 1, signature);
        }
        "GetMethodSpecProps" => {
            let (method, signature) = match module.added_index(number()) {
                Some(index) => module.added().method_specs[index],
                None => {
                    let token = MethodSpec::try_from(Token::new(number())).unwrap();
                    let row: MethodSpecRow = metadata.row(token).unwrap();
                    let method = match row.method {
                        MethodDefOrRef::MethodDef(method) => method.token(),
                        MethodDefOrRef::MemberRef(method) => method.token(),
                    };
                    (method.raw(), metadata.blob(row.instantiation).unwrap())
                }
            };
            call.set(1, method);
            set_blob(call, 2, signature);
        }
        "GetParamProps" => {
            let param = ParamDef::try_from(Token::new(number())).unwrap();
            let row = metadata.row(param).unwrap();
            call.set(1, metadata.param_owner(param).unwrap().token().raw());
            call.set(2, u32::from(row.sequence));
            set_text(call, [4, 5, 3], metadata.string(row.name).unwrap());
            call.set(6, row.attributes.bits());
        }
        "GetGenericParamProps" => {
            let param = GenericParam::try_from(Token::new(number())).unwrap();
            let row = metadata.row(param).unwrap();
            call.set(1, u32::from(row.number));
            call.set(2, row.attributes.bits());
            call.set(3, row.owner.token().raw());
            set_text(call, [6, 7, 5], metadata.string(row.name).unwrap());
        }
        // No attribute changes the result of a test.
        "GetCustomAttributeByName" => {
            set_blob(call, 2, &[]);
            return Some(sys::S_FALSE);
        }
        _ => return None,
    }
    Some(sys::S_OK)
}

fn enumerations(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    let of = || token(call, 1);
    let named_members = |wanted: &str| {
        let members = module.members(of()).into_iter();
        let found = members.filter(|token| named(module, *token).0 == wanted);
        found.collect::<Vec<u32>>()
    };
    Some(match call.method.facts.name {
        "EnumMembersWithName" => enumerate(call, || named_members(&text(call, 2))),
        "EnumMethodsWithName" => enumerate(call, || {
            let mut members = named_members(&text(call, 2));
            members.retain(|token| Token::new(*token).table() == TokenTable::METHOD_DEF);
            members
        }),
        "EnumMethods" => enumerate(call, || {
            let mut members = module.members(of());
            members.retain(|token| Token::new(*token).table() == TokenTable::METHOD_DEF);
            members
        }),
        "EnumFields" => enumerate(call, || {
            let mut members = module.members(of());
            members.retain(|token| Token::new(*token).table() == TokenTable::FIELD_DEF);
            members
        }),
        "EnumTypeDefs" => enumerate(call, || {
            let all = module.metadata().tokens::<TypeDef>().skip(1);
            all.map(|class| class.token().raw()).collect()
        }),
        "EnumGenericParams" => enumerate(call, || module.generic_params(of())),
        "EnumParams" => enumerate(call, || {
            let method = MethodDef::try_from(Token::new(of())).unwrap();
            let all = module.metadata().params(method);
            all.map(|param| param.token().raw()).collect()
        }),
        "EnumCustomAttributes" | "EnumInterfaceImpls" => enumerate(call, Vec::new),
        "CloseEnum" => sys::S_OK,
        _ => return None,
    })
}

/// Adds rows. Each is a new one, as in the runtime.
fn emit(module: &Module, call: &Call<'_>) -> Option<HRESULT> {
    let (table, index, output) = match call.method.facts.name {
        "DefineAssemblyRef" => {
            let props = call.pointer::<sys::ASSEMBLYMETADATA>(3);
            // SAFETY: the caller passes such a structure.
            let props = unsafe { &*props };
            let reference = Reference {
                name: text(call, 2),
                version: [
                    props.usMajorVersion,
                    props.usMinorVersion,
                    props.usBuildNumber,
                    props.usRevisionNumber,
                ],
                key: blob(call, 0),
                flags: token(call, 6),
            };
            let rows = &mut module.added().assembly_refs;
            (TokenTable::ASSEMBLY_REF, push(rows, reference), 7)
        }
        "DefineTypeRefByName" => {
            let row = (token(call, 0), text(call, 1));
            let rows = &mut module.added().type_refs;
            (TokenTable::TYPE_REF, push(rows, row), 2)
        }
        "DefineMemberRef" => {
            let row = (token(call, 0), text(call, 1), blob(call, 2));
            let rows = &mut module.added().member_refs;
            (TokenTable::MEMBER_REF, push(rows, row), 4)
        }
        "GetTokenFromTypeSpec" => {
            let rows = &mut module.added().type_specs;
            (TokenTable::TYPE_SPEC, push(rows, blob(call, 0)), 2)
        }
        "GetTokenFromSig" => {
            let rows = &mut module.added().signatures;
            (TokenTable::STAND_ALONE_SIG, push(rows, blob(call, 0)), 2)
        }
        "DefineMethodSpec" => {
            let row = (token(call, 0), blob(call, 1));
            let rows = &mut module.added().method_specs;
            (TokenTable::METHOD_SPEC, push(rows, row), 3)
        }
        "DefineMethod" => {
            let row = Method {
                class: token(call, 0),
                name: text(call, 1),
                attributes: token(call, 2),
                signature: blob(call, 3),
                rva: token(call, 5),
                implementation: token(call, 6),
            };
            let rows = &mut module.added().methods;
            (TokenTable::METHOD_DEF, push(rows, row), 7)
        }
        "DefineUserString" => {
            let length = call.argument(1);
            // SAFETY: the caller passes so many units.
            let units = unsafe { std::slice::from_raw_parts(call.pointer::<u16>(0), length) };
            let rows = &mut module.added().strings;
            let index = push(rows, String::from_utf16_lossy(units));
            // An offset after those of the file.
            call.set(2, 0x7080_0000 + index as u32);
            return Some(sys::S_OK);
        }
        _ => return None,
    };
    call.set(output, module.added_token(table, index));
    Some(sys::S_OK)
}

fn push<T>(rows: &mut Vec<T>, row: T) -> usize {
    rows.push(row);
    rows.len() - 1
}
