//! Editing bodies: inserting, replacing, removing, locals, exception clauses, prologue and epilogue.
//!
//! Nothing here counts offsets. Instead, an insertion states its effect on branches to its position
//! ([`Labels`]), and the side of the bounds of regions that the new code is on ([`Side`]).
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::fragment::Fragment;
//! use clr_profiler_il::symbol::NoTokens;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `ldarg.0; brfalse.s IL_0004; nop; ret`
//! let mut body = MethodBody::decode(&[0x16, 0x02, 0x2c, 0x01, 0x00, 0x2a])?;
//! body.prologue(Fragment::new().ldc_i4(7).pop())?;
//! // The branch to the `ret` runs this, too.
//! body.before_ret(Fragment::new().nop())?;
//! assert_eq!(
//!     body.to_string(),
//!     "\
//! .maxstack 8
//! IL_0000:  ldc.i4.7
//! IL_0001:  pop
//! IL_0002:  ldarg.0
//! IL_0003:  brfalse.s  IL_0006
//! IL_0005:  nop
//! IL_0006:  nop
//! IL_0007:  ret
//! "
//! );
//! let mut out = Vec::new();
//! body.encode(&mut NoTokens, &mut out)?;
//! assert_eq!(out, [0x22, 0x1d, 0x26, 0x02, 0x2c, 0x01, 0x00, 0x00, 0x2a]);
//! # Ok(())
//! # }
//! ```

mod error;
mod handlers;
mod insert;
mod locals;
mod method;
mod offset_mapping;
mod places;
mod refusal;

pub use error::EditError;
pub use insert::{InsertedRange, InsertionPoint, Labels, Side};
pub use method::OffsetPair;
pub use offset_mapping::OffsetMapping;
pub use places::AtOffset;
pub use refusal::NotInstrumentable;

pub(crate) use insert::check;
