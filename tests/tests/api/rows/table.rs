//! The rows of the library's own table of native calls, with arguments by their types.

#![allow(deprecated, reason = "all rows are called")]

use std::fmt::Debug;
use std::path::Path;

use clr_profiler::ContextId;
use clr_profiler::events::{EventPipeProviderConfig, EventPipeSessionId};
use clr_profiler::il::attributes::*;
use clr_profiler::il::token::*;
use clr_profiler::info::{FrameInfo, IlMapEntry, RejitFlags};
use clr_profiler::metadata::SaveSize;
use clr_profiler::metadata::{
    AssemblyProps, AssemblyRefProps, AssemblySearch, ConstantValue, EventMethods, FieldOffset,
    PropertyMethods,
};
use clr_profiler::prelude::*;

use super::{CLASS, FUNCTION, MODULE, Outcome, Row, Run, class, method, show, token};

/// Outputs of rows that are not visible as numbers in the wrapper's result: flags have
/// names, lengths of values and lists are not shown, and a `bool` is not a number.
const HIDDEN: &[(&str, &[&str])] = &[
    ("ICorProfilerInfo::GetEventMask", &["pdwEvents"]),
    ("ICorProfilerInfo::GetILFunctionBody", &["pcbMethodSize"]),
    ("ICorProfilerInfo2::GetStaticFieldInfo", &["pFieldInfo"]),
    ("ICorProfilerInfo3::GetModuleInfo2", &["pdwModuleFlags"]),
    (
        "ICorProfilerInfo5::GetEventMask2",
        &["pdwEventsLow", "pdwEventsHigh"],
    ),
    ("IMetaDataImport::GetFieldProps", &["pcchValue"]),
    ("IMetaDataImport::GetMemberProps", &["pcchValue"]),
    ("IMetaDataImport::GetParamProps", &["pcchValue"]),
    ("IMetaDataImport::GetPropertyProps", &["pcchDefaultValue"]),
    ("IMetaDataImport::IsGlobal", &["pbGlobal"]),
    ("IMetaDataImport2::GetGenericParamProps", &["reserved"]),
    ("IMetaDataTables::GetTableInfo", &["piKey"]),
];

/// The rows of the table, without those of the other files.
pub(crate) fn all() -> &'static [Row] {
    static ROWS: std::sync::OnceLock<Vec<Row>> = std::sync::OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows = Vec::new();
        macro_rules! row {
            // Needs an object of a callback.
            (CorProfilerInfo class_from_object $($rest:tt)*) => {};
            (CorProfilerInfo object_size $($rest:tt)*) => {};
            (CorProfilerInfo2 object_generation $($rest:tt)*) => {};
            (CorProfilerInfo4 object_size2 $($rest:tt)*) => {};
            (CorProfilerInfo10 is_frozen_object $($rest:tt)*) => {};
            // Take interfaces that the caller implements, or need another object.
            (MetadataEmit set_handler $($rest:tt)*) => {};
            (MetadataEmit merge $($rest:tt)*) => {};
            (MetadataEmit apply_edit_and_continue $($rest:tt)*) => {};
            (MetadataEmit define_import_type $($rest:tt)*) => {};
            (MetadataEmit define_import_member $($rest:tt)*) => {};
            (MetadataValidate validator_init $($rest:tt)*) => {};
            (MetadataDispenserEx open_scope_on_type_info $($rest:tt)*) => {};
            // Not for a loaded module.
            (MetadataEmit delete_token $($rest:tt)*) => {};
            // The fake runtime terminates its text with a zero.
            (MetadataImport user_string_utf16 $($rest:tt)*) => {};
            // Called on another object, which a call or a callback returns.
            ($owner:ident $name:ident native $($rest:tt)*) => {};
            (
                $owner:ident $name:ident $source:ident
                [$($argument:ident: $type:ty $(as $convert:ident)?,)*]
                $interface:ident $method:ident
            ) => {
                rows.push({
                    const NATIVE: &str =
                        concat!(stringify!($interface), "::", stringify!($method));
                    Row {
                        native: NATIVE,
                        hides: hidden(NATIVE),
                        run: run!($source, |it| {
                            let given = it.$name($(sample!(NATIVE, $type $(, $convert)?)),*);
                            (&mut Given(Some(given))).shown()
                        }),
                    }
                });
            };
        }
        clr_profiler::for_each_native_call! { row }
        rows
    })
}

fn hidden(native: &str) -> &'static [&'static str] {
    let of = HIDDEN.iter().find(|(of, _)| *of == native);
    of.map_or(&[], |(_, hidden)| hidden)
}

/// The object on which a wrapper is called, by the source of its interface.
macro_rules! run {
    (info, $run:expr) => {
        Run::Info($run)
    };
    (import, $run:expr) => {
        Run::Metadata($run)
    };
    (named, $run:expr) => {
        Run::Metadata($run)
    };
    (query_import, $run:expr) => {
        Run::Metadata($run)
    };
    (filter, $run:expr) => {
        Run::Stored($run)
    };
    (emit, $run:expr) => {
        Run::Writer($run)
    };
    (query_emit, $run:expr) => {
        Run::Writer($run)
    };
    (framework, $run:expr) => {
        Run::Dispenser($run)
    };
}
use run;

/// An argument.
macro_rules! sample {
    ($native:ident, $type:ty, any_token) => {
        method()
    };
    ($native:ident, $type:ty, into_token) => {
        method()
    };
    ($native:ident, $type:ty, wanted) => {
        clr_profiler::metadata::AnySignature
    };
    ($native:ident, $type:ty, checked) => {
        signature($native)
    };
    ($native:ident, $type:ty $(, $convert:ident)?) => {
        <$type as Sample>::sample()
    };
}
use sample;

/// A signature of the kind that a call requires.
fn signature(native: &str) -> &'static [u8] {
    match native {
        "IMetaDataEmit::DefineField" => &[6, 8],
        "IMetaDataEmit::DefineProperty" => &[0x28, 0, 8],
        "IMetaDataEmit::GetTokenFromTypeSpec" => &[0x1D, 8],
        "IMetaDataEmit2::DefineMethodSpec" => &[0x0A, 1, 8],
        _ => &[0, 0, 1],
    }
}

trait Sample {
    fn sample() -> Self;
}

macro_rules! samples {
    ($($type:ty = $sample:expr;)*) => {$(
        impl Sample for $type {
            fn sample() -> Self {
                $sample
            }
        }
    )*};
}

samples! {
    bool = true;
    u32 = 1;
    usize = 0x1234;
    &str = "N.C";
    &Path = Path::new("/nowhere");
    &[u8] = &[1, 0, 0, 0];
    &[u16] = &[0x78];
    EventMask = EventMask::empty();
    EventAttributes = EventAttributes::SPECIAL_NAME;
    FieldAttributes = FieldAttributes::STATIC;
    FileAttributes = FileAttributes::CONTAINS_NO_META_DATA;
    GenericParamAttributes = GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT;
    ManifestResourceAttributes = ManifestResourceAttributes::VISIBILITY_MASK;
    MethodAttributes = MethodAttributes::STATIC;
    MethodImplAttributes = MethodImplAttributes::NO_INLINING;
    PInvokeAttributes = PInvokeAttributes::NO_MANGLE;
    ParamAttributes = ParamAttributes::IN;
    PropertyAttributes = PropertyAttributes::HAS_DEFAULT;
    SecurityAction = SecurityAction::Demand;
    SaveSize = SaveSize::Quick;
    TypeAttributes = TypeAttributes::SEALED;
    ModuleId = MODULE;
    ClassId = CLASS;
    FunctionId = FUNCTION;
    // SAFETY: the fake runtime takes any number.
    ThreadId = unsafe { ThreadId::from_raw(0x91) };
    // SAFETY: as above.
    AppDomainId = unsafe { AppDomainId::from_raw(0xA1) };
    // SAFETY: as above.
    AssemblyId = unsafe { AssemblyId::from_raw(0xB1) };
    // SAFETY: as above.
    ContextId = unsafe { ContextId::from_raw(0xC1) };
    // SAFETY: as above.
    EventPipeSessionId = unsafe { EventPipeSessionId::from_raw(0xD1) };
    // SAFETY: as above.
    EventPipeProviderId<'_> = unsafe { EventPipeProviderId::from_raw(0xE1) };
    // SAFETY: as above.
    FrameInfo<'_> = unsafe { FrameInfo::from_raw(0xF1) };
    &EventPipeProviderConfig = Box::leak(Box::new(EventPipeProviderConfig::all("provider")));
    &[EventPipeProviderConfig] = vec![EventPipeProviderConfig::all("provider")].leak();
    &mut [u8] = vec![0; 100].leak();
    RejitId = RejitId::ORIGINAL;
    RejitFlags = RejitFlags::BLOCK_INLINING;
    &[ClassId] = &[CLASS];
    &[(ModuleId, MethodDef)] = vec![(MODULE, method())].leak();
    &[IlMapEntry] = &[IlMapEntry { old_offset: 0, new_offset: 1, is_accurate: true }];
    MethodDef = method();
    TypeDef = class();
    TypeRef = token(0x0100_0001);
    FieldDef = token(0x0400_0001);
    ParamDef = token(0x0800_0001);
    InterfaceImpl = token(0x0900_0001);
    MemberRef = token(0x0A00_0001);
    CustomAttribute = token(0x0C00_0001);
    Permission = token(0x0E00_0001);
    StandAloneSig = token(0x1100_0001);
    Event = token(0x1400_0001);
    Property = token(0x1700_0001);
    ModuleRef = token(0x1A00_0001);
    TypeSpec = token(0x1B00_0001);
    Assembly = token(0x2000_0001);
    AssemblyRef = token(0x2300_0001);
    File = token(0x2600_0001);
    ExportedType = token(0x2700_0001);
    ManifestResource = token(0x2800_0001);
    GenericParam = token(0x2A00_0001);
    MethodSpec = token(0x2B00_0001);
    GenericParamConstraint = token(0x2C00_0001);
    UserString = token(0x7000_0001);
    Token = method().into();
    TypeToken = class().into();
    &[TypeToken] = &[];
    &[FieldOffset] = &[];
    &ConstantValue = &ConstantValue::Bool(true);
    &AssemblyProps = Box::leak(Box::default());
    &AssemblyRefProps = Box::leak(Box::default());
    &EventMethods<'_> = Box::leak(Box::default());
    &PropertyMethods<'_> = Box::leak(Box::default());
    &AssemblySearch<'_> = &AssemblySearch {
        application_base: Some("/base"),
        private_bin: None,
        global_bin: None,
    };
}

impl<T: Sample> Sample for Option<T> {
    fn sample() -> Self {
        Some(T::sample())
    }
}

/// The result of a wrapper: an enumeration is shown by its items, any other result as it is.
struct Given<T>(Option<T>);

trait ShownByItems {
    fn shown(&mut self) -> Outcome;
}

impl<T: Debug, I: Iterator<Item = Result<T>>> ShownByItems for Given<Result<I>> {
    fn shown(&mut self) -> Outcome {
        let items = self.0.take().expect("it was not shown yet")?;
        show(items.collect::<Result<Vec<_>>>())
    }
}

impl<T: Debug + clr_profiler::metadata::MetadataItem> ShownByItems
    for Given<clr_profiler::metadata::MetadataIter<'_, T>>
{
    fn shown(&mut self) -> Outcome {
        let items = self.0.take().expect("it was not shown yet");
        show(items.collect::<Result<Vec<_>>>())
    }
}

trait Shown {
    fn shown(&mut self) -> Outcome;
}

impl<T: Debug> Shown for &mut Given<Result<T>> {
    fn shown(&mut self) -> Outcome {
        show(self.0.take().expect("it was not shown yet"))
    }
}
