//! The calls of the threads: a table, and the check of a call's result.

use clr_profiler::prelude::*;

use super::world::State;
use super::{functions, metadata, modules};

/// A call of the table.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// Makes the call, if there are ids for it, and returns whether its result is right.
    pub(super) run: Run,
    /// The failures that are legal results, too.
    pub(super) legal: &'static [Hresult],
    /// Whether it takes long.
    pub(super) rarely: bool,
}

pub(super) type Run = fn(&ProfilerInfo, &State, &mut Random) -> Option<Result<bool>>;

const fn call(name: &'static str, run: Run) -> Call {
    Call {
        name,
        run,
        legal: &[],
        rarely: false,
    }
}

impl Call {
    const fn or(mut self, legal: &'static [Hresult]) -> Self {
        self.legal = legal;
        self
    }

    const fn rarely(mut self) -> Self {
        self.rarely = true;
        self
    }
}

/// All of them.
pub(super) const CALLS: &[Call] = &[
    call("function_info", functions::function_info),
    call("function_info2", functions::function_info2),
    call("full_name", functions::full_name),
    call("code_info2", functions::code_info2),
    call("code_info3", functions::code_info3),
    call("native_code_start_addresses", functions::start_addresses),
    call("function_from_ip3", functions::function_from_ip3),
    call("il_to_native_mapping", functions::il_to_native_mapping),
    call("rejit_ids", functions::rejit_ids),
    call("is_function_dynamic", functions::is_function_dynamic),
    call("function_from_token", functions::function_from_token),
    call("il_function_body", functions::il_function_body),
    call(
        "token_and_metadata_from_function",
        functions::token_and_metadata,
    ),
    call("class_id_info", functions::class_id_info),
    call("class_id_info2", functions::class_id_info2),
    call("class_from_token", functions::class_from_token),
    call("array_class_info", functions::array_class_info),
    call("function_from_ip of none", functions::function_from_no_ip).or(&[Hresult::E_FAIL]),
    call("module_info", modules::module_info),
    call("module_info2", modules::module_info2),
    call("assembly_info", modules::assembly_info),
    call("app_domain_info", modules::app_domain_info),
    call(
        "app_domains_containing_module",
        modules::app_domains_containing_module,
    ),
    call("modules", modules::modules).rarely(),
    call("threads", modules::threads),
    call("runtime_information", modules::runtime_information),
    call("event_mask2", modules::event_mask2),
    call("string_layout2", modules::string_layout2),
    call("current_thread_id", modules::current_thread_id)
        .or(&[Hresult::CORPROF_E_NOT_MANAGED_THREAD]),
    call("environment_variable", modules::environment_variable),
    call(
        "loh_object_size_threshold",
        modules::loh_object_size_threshold,
    ),
    call("generation_bounds", modules::generation_bounds),
    call("force_gc", modules::force_gc).rarely(),
    call("scope_props", metadata::scope_props),
    call("type_defs", metadata::type_defs),
    call("type_def_props", metadata::type_def_props),
    call("find_type_def_by_name", metadata::find_type_def_by_name),
    call("find_type_def_by_name of none", metadata::find_no_type)
        .or(&[Hresult::CLDB_E_RECORD_NOTFOUND]),
    call("nested_class_props", metadata::nested_class_props),
    call("methods", metadata::methods),
    call("method_props", metadata::method_props),
    call("find_method", metadata::find_method),
    call("fields", metadata::fields),
    call("type_refs", metadata::type_refs),
    call("custom_attributes", metadata::custom_attributes),
    call("user_strings", metadata::user_strings),
    call("generic_params", metadata::generic_params),
    call("pe_kind", metadata::pe_kind),
    call("assembly_props", metadata::assembly_props),
    call("assembly_refs", metadata::assembly_refs),
    call("table_info", metadata::table_info),
    call("column", metadata::column),
];

/// Numbers in no order, the same in each run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ (seed + 1))
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}
