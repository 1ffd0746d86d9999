//! One row for each native method: the wrapper that calls it. Most come from the library's own table.

mod cee_gen;
mod dispenser;
mod emit;
mod handed;
mod hooks;
mod info;
mod metadata;
mod table;

use std::fmt::Debug;

use clr_profiler::il::token::Token;
use clr_profiler::metadata::Dispenser;
use clr_profiler::prelude::*;

/// The result of a wrapper, as text.
pub(crate) type Outcome = Result<String>;

/// The object on which a wrapper is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    Info(fn(&ProfilerInfo) -> Outcome),
    Metadata(fn(&Metadata<'_>) -> Outcome),
    Writer(fn(&MetadataWriter<'_>) -> Outcome),
    /// The dispenser of .NET Framework.
    Dispenser(fn(&Dispenser) -> Outcome),
    /// Metadata that a dispenser has opened.
    Stored(fn(&Metadata<'_>) -> Outcome),
    /// The same for writing.
    StoredWriter(fn(&MetadataWriter<'_>) -> Outcome),
    /// In `get_rejit_parameters`.
    Control(fn(&FunctionControl<'_>) -> Outcome),
    /// In `get_assembly_references`.
    References(fn(&AssemblyReferenceProvider<'_>) -> Outcome),
    /// In a callback that has an object.
    Object(fn(&ProfilerInfo, ObjectId<'_>) -> Outcome),
    /// In a callback of a collection.
    Gc(fn(&GcScope, ObjectId<'_>) -> Outcome),
}

/// A native method and a wrapper that calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) native: &'static str,
    /// Outputs that are not visible as numbers in the wrapper's result.
    pub(crate) hides: &'static [&'static str],
    pub(crate) run: Run,
}

/// Declares rows.
///
/// ```text
/// rows! { ROWS: Info;
///     "ICorProfilerInfo::GetEventMask" hides ["pdwEvents"] => |info| info.event_mask();
/// }
/// ```
macro_rules! rows {
    ($table:ident: $kind:ident; $(
        $native:literal $(hides $hides:tt)? => |$($subject:ident),+| $call:expr;
    )*) => {
        pub(super) const $table: &[$crate::rows::Row] = &[$($crate::rows::Row {
            native: $native,
            hides: rows!(@hides $($hides)?),
            run: $crate::rows::Run::$kind(|$($subject),+| $crate::rows::show($call)),
        }),*];
    };
    (@hides) => { &[] };
    (@hides $hides:tt) => { &$hides };
}
use rows;

/// Every row.
pub(crate) fn all_rows() -> impl Iterator<Item = &'static Row> {
    [
        info::FIRST,
        info::SECOND,
        info::LATER,
        info::OBJECTS,
        info::IN_COLLECTION,
        info::MODULES,
        info::THREADS,
        info::FUNCTIONS,
        info::METHODS,
        info::FROZEN,
        hooks::ROWS,
        handed::CONTROL,
        handed::REFERENCES,
        metadata::IMPORT,
        metadata::TABLES,
        emit::ROWS,
        emit::STORED,
        dispenser::ROWS,
        dispenser::STORED,
        cee_gen::ROWS,
    ]
    .into_iter()
    .flatten()
    .chain(table::all())
}

fn show<T: Debug>(given: Result<T>) -> Outcome {
    given.map(|given| format!("{given:?}"))
}

/// All items of an enumeration.
fn all<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    items.collect()
}

// SAFETY: the fake runtime takes any number.
pub(crate) const MODULE: ModuleId = unsafe { ModuleId::from_raw(0x51) };
// SAFETY: as above.
const CLASS: ClassId = unsafe { ClassId::from_raw(0x61) };
// SAFETY: as above.
const FUNCTION: FunctionId = unsafe { FunctionId::from_raw(0x71) };

fn token<T: TryFrom<Token>>(raw: u32) -> T {
    T::try_from(Token::new(raw))
        .ok()
        .expect("the rows know the tables")
}

fn method() -> MethodDef {
    token(0x0600_0001)
}

fn class() -> TypeDef {
    token(0x0200_0002)
}

/// `ret`, with a tiny header.
const BODY: &[u8] = &[0x06, 0x2A];
