//! Replaces the body of one method.

use clr_profiler::prelude::*;

use crate::log;

/// Makes `Basics.Program.Answer` return 42.
pub(crate) struct ReplacesBody;

/// `ldc.i4.s 42; ret` behind the header of a tiny method of three bytes.
const BODY: &[u8] = &[0b1110, 0x1f, 42, 0x2a];

#[profiler(clsid = crate::clsid("ReplacesBody"))]
impl Profiler for ReplacesBody {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let name = method.full_name()?;
        log::line(format_args!("compiling {name}"));
        if name == "Basics.Program.Answer()" {
            log::line(format_args!("was {:02x?}", method.il_body()?));
            match method.set_il_body(&BODY[..3]) {
                Ok(()) => log::line("a body that is cut short was accepted"),
                Err(error) => log::line(error),
            }
            method.set_il_body(BODY)?;
            log::line(format_args!("is {:02x?}", method.il_body()?));
        }
        Ok(())
    }
}
