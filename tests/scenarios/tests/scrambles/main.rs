//! Whole programs, rewritten at random without an effect on their behaviour.

mod edits;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteError;
use scenario_support::{clsid, log};

use edits::Edits;

/// Rewrites all methods of the assembly that `SCRAMBLE` names, by edits that `SEED` and the method's
/// token choose. With `SCRAMBLE_LINES`, calls keep their lines.
pub(crate) struct Scrambles {
    assembly: String,
    seed: u64,
    keeps_lines: bool,
    edits: AtomicUsize,
}

#[profiler(clsid = clsid("Scrambles"))]
impl Profiler for Scrambles {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let seed = std::env::var("SEED").map_err(Error::other)?;
        Ok(Self {
            assembly: std::env::var("SCRAMBLE").map_err(Error::other)?,
            seed: seed.parse().map_err(Error::other)?,
            keeps_lines: std::env::var_os("SCRAMBLE_LINES").is_some(),
            edits: AtomicUsize::new(0),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        // A function without a token is not a method of the program.
        let Ok(method) = info.method(function) else {
            return Ok(());
        };
        if method.assembly_name()? != self.assembly {
            return Ok(());
        }
        let rewritten = method.rewrite(|body, cx| {
            let seed = self.seed << 32 | u64::from(cx.token().raw());
            let mut edits = Edits::new(seed, self.keeps_lines, body, cx)?;
            edits.run()?;
            self.edits.fetch_add(edits.done, Ordering::Relaxed);
            log::line(format_args!("handlers {}", edits.handlers));
            Ok(())
        });
        match rewritten {
            Ok(rewritten) if rewritten.is_first() => {
                log::line(format_args!("rewritten {}", method.full_name()?));
            }
            Ok(_) => {}
            Err(error) => {
                log::line(format_args!("refused {}: {error}", method.full_name()?));
                let listing = RewriteError::of(&error).and_then(RewriteError::listing);
                log::line(listing.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("edits {}", self.edits.load(Ordering::Relaxed)));
        Ok(())
    }
}
