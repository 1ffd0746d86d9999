//! Made-up tokens are refused.
//!
//! The profiler resolves made-up tokens: tokens are numbers, and runtimes check them.

use std::sync::atomic::{AtomicBool, Ordering};

use clr_profiler::il::attributes::TypeAttributes;
use clr_profiler::il::token::Token;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Makes calls with tokens that the module does not have, as `Main` is compiled.
#[derive(Default)]
pub(crate) struct MadeUpTokens {
    is_done: AtomicBool,
}

#[profiler(clsid = clsid("MadeUpTokens"))]
impl Profiler for MadeUpTokens {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let facts = info.function_info2(function)?;
        let Some(class) = facts.class else {
            return Ok(());
        };
        if info.class_full_name(class)? != "Hello" || self.is_done.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        for row in [0, 4_000, 0xFFFF, 0x1_0000, 0x7F_FFFF, 0xFF_FFFF] {
            ask(info, facts.module, class, row)?;
        }
        Ok(())
    }
}

fn token<T: TryFrom<Token>>(table: u32, row: u32) -> Result<T> {
    T::try_from(Token::new(table << 24 | row)).map_err(|_| Error::other("a table of another kind"))
}

fn ask(info: &ProfilerInfo, module: ModuleId, class: ClassId, row: u32) -> Result<()> {
    let (of_type, method, field) = (token(2, row)?, token(6, row)?, token(4, row)?);
    let thread = info.current_thread_id()?;
    let domain = info.thread_app_domain(thread)?;
    let metadata = info.module_metadata(module)?;
    let writer = info.module_metadata_for_writing(module)?;
    let refused = [
        info.class_from_token(module, of_type).is_err(),
        info.class_from_token_and_type_args(module, of_type, &[class])
            .is_err(),
        info.function_from_token(module, method).is_err(),
        info.function_from_token_and_type_args(module, method, class, &[class])
            .is_err(),
        info.il_function_body(module, method).is_err(),
        info.static_field_info(class, field).is_err(),
        info.rva_static_address(class, field).is_err(),
        info.app_domain_static_address(class, field, domain)
            .is_err(),
        info.thread_static_address(class, field, None).is_err(),
        info.thread_static_address2(class, field, domain, thread)
            .is_err(),
        metadata.type_def_props(of_type).is_err(),
        metadata.type_ref_props(token(1, row)?).is_err(),
        metadata.type_spec_from_token(token(0x1B, row)?).is_err(),
        metadata.method_props(method).is_err(),
        metadata.field_props(field).is_err(),
        metadata.member_ref_props(token(0x0A, row)?).is_err(),
        metadata.param_props(token(8, row)?).is_err(),
        metadata.property_props(token(0x17, row)?).is_err(),
        metadata.event_props(token(0x14, row)?).is_err(),
        metadata.custom_attribute_props(token(0x0C, row)?).is_err(),
        metadata.generic_param_props(token(0x2A, row)?).is_err(),
        metadata.method_spec_props(token(0x2B, row)?).is_err(),
        metadata.sig_from_token(token(0x11, row)?).is_err(),
        metadata.assembly_ref_props(token(0x23, row)?).is_err(),
        writer.set_rva(method, 1).is_err(),
        writer.set_field_rva(field, 1).is_err(),
        writer
            .set_type_def_props(of_type, Some(TypeAttributes::empty()), None, None)
            .is_err(),
    ];
    let answered: Vec<usize> = (refused.iter().enumerate())
        .filter_map(|(call, is_refused)| (!is_refused).then_some(call))
        .collect();
    log::line(format_args!("{row:#x} answered {answered:?}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::MadeUpTokens;

    #[test]
    fn made_up_tokens_are_refused() {
        let scenario = Scenario::new("Hello").profiled_by::<MadeUpTokens>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(
                lines,
                [
                    // A token that is neither a type nor a reference to one has no properties.
                    "0x0 answered [10, 11]",
                    "0xfa0 answered []",
                    "0xffff answered []",
                    "0x10000 answered []",
                    "0x7fffff answered []",
                    "0xffffff answered []",
                ]
            );
        });
    }
}
