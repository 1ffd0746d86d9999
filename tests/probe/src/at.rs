//! Where calls are made, and with which arguments.

use std::cell::{Cell, RefCell};
use std::path::Path;

use clr_profiler::ContextId;
use clr_profiler::events::{EventPipeProviderConfig, EventPipeSessionId};
use clr_profiler::il::attributes::*;
use clr_profiler::il::token::*;
use clr_profiler::info::{FrameInfo, IlMapEntry, RejitFlags, SuspendedRuntime};
use clr_profiler::metadata::SaveSize;
use clr_profiler::metadata::{
    AssemblyProps, AssemblyRefProps, AssemblySearch, ConstantValue, EventMethods, FieldOffset,
    MetadataWriter, PropertyMethods,
};
use clr_profiler::prelude::*;

use crate::plan::{Ids, Plan, journal};
use crate::pool::{Known, pool};

/// The arguments of a callback.
#[derive(Clone, Copy, Default)]
pub struct Own<'a> {
    pub app_domain: Option<AppDomainId>,
    pub assembly: Option<AssemblyId>,
    pub module: Option<ModuleId>,
    pub class: Option<ClassId>,
    pub function: Option<FunctionId>,
    pub thread: Option<ThreadId>,
    pub rejit: Option<RejitId>,
    pub provider: Option<EventPipeProviderId<'a>>,
    pub method: Option<MethodDef>,
}

/// The kinds of ids, each of which alone can be stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Module,
    Class,
    Function,
    Assembly,
    Thread,
    Code,
    Opened,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Module,
        Self::Class,
        Self::Function,
        Self::Assembly,
        Self::Thread,
        Self::Code,
        Self::Opened,
    ];

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A place where calls are made.
pub struct At<'a> {
    pub info: &'a ProfilerInfo,
    pub gc: Option<&'a GcScope>,
    pub suspended: Option<&'a SuspendedRuntime<'a>>,
    pub object: Option<ObjectId<'a>>,
    pub frame: Option<FrameInfo<'a>>,
    pub control: Option<&'a FunctionControl<'a>>,
    pub references: Option<&'a AssemblyReferenceProvider<'a>>,
    pub setup: RefCell<Option<&'a mut Setup>>,
    pub own: Own<'a>,
    pub ids: Ids,
    /// How often the moment has occurred: other ids have their turn.
    pub turn: usize,
    /// For `Ids::Stale`: the only kind whose ids are stale.
    pub only: Cell<Option<Kind>>,
    /// The current call.
    pub current: RefCell<String>,
    /// The kinds of which stale ids were picked.
    pub(crate) picked: Cell<u32>,
    pub(crate) live: Known,
    pub(crate) dead: Known,
    pub(crate) odd: Known,
}

impl<'a> At<'a> {
    pub fn new(info: &'a ProfilerInfo, ids: Ids, own: Own<'a>, turn: usize) -> Self {
        let pool = pool();
        Self {
            info,
            gc: None,
            suspended: None,
            object: None,
            frame: None,
            control: None,
            references: None,
            setup: RefCell::new(None),
            own,
            ids,
            turn,
            only: Cell::new(None),
            current: RefCell::default(),
            picked: Cell::new(0),
            live: pool.live.clone(),
            dead: pool.dead.clone(),
            odd: pool.odd.clone(),
        }
    }

    /// Whether there are any ids of this kind.
    pub fn is_worthwhile(&self) -> bool {
        match self.ids {
            Ids::Stale => !self.dead.modules.is_empty(),
            Ids::Moved => self.object.is_some(),
            _ => true,
        }
    }

    /// The kinds of which stale ids were picked since the last call.
    pub fn take_picked(&self) -> Vec<Kind> {
        let picked = self.picked.take();
        Kind::ALL
            .into_iter()
            .filter(|kind| picked & kind.bit() != 0)
            .collect()
    }

    /// Whether a stale id was picked. Addresses are never stale, and handles hold their targets.
    pub fn has_picked(&self) -> bool {
        self.picked.get() & !(Kind::Code.bit() | Kind::Opened.bit()) != 0
    }

    pub fn pick_stale(&self, kind: Kind) -> bool {
        let is_stale = self.ids == Ids::Stale && self.only.get().is_none_or(|only| only == kind);
        if is_stale {
            self.note(kind);
        }
        is_stale
    }

    fn note(&self, kind: Kind) {
        if self.picked.get() & kind.bit() != 0 {
            return;
        }
        self.picked.set(self.picked.get() | kind.bit());
        // Before the call, which may not return.
        if self.ids == Ids::Stale && self.only.get().is_none() {
            journal(&format!("? {kind:?}"));
        }
    }

    /// An id of a kind.
    fn id<T: Copy + PartialEq>(
        &self,
        kind: Kind,
        own: Option<T>,
        list: impl Fn(&Known) -> &Vec<T>,
    ) -> Option<T> {
        let turn = |ids: &Vec<T>| (!ids.is_empty()).then(|| ids[self.turn % ids.len()]);
        let live = turn(list(&self.live));
        let id = match self.ids {
            Ids::Own | Ids::Elsewhere | Ids::Moved => own.or(live),
            Ids::Kept => live,
            Ids::Foreign => turn(list(&self.odd)).or(live),
            Ids::Stale => {
                let dead = if self.pick_stale(kind) {
                    turn(list(&self.dead))
                } else {
                    None
                };
                dead.or(live).or(own)
            }
        }?;
        if list(&self.dead).contains(&id) {
            self.note(kind);
        }
        Some(id)
    }

    fn token<T: TryFrom<Token>>(&self, table: u32) -> Option<T> {
        let row = match self.ids {
            // Of a larger module, or of none.
            Ids::Foreign => [0x1234, 0xFF_FFFE, 0x40][self.turn % 3],
            _ => 1 + self.turn as u32 % 9,
        };
        T::try_from(Token::new(table << 24 | row)).ok()
    }

    /// Metadata for a call on it.
    pub fn with_metadata(
        &self,
        with: impl FnOnce(&Metadata<'_>) -> Option<Result<()>>,
    ) -> Option<Result<()>> {
        if self.pick_stale(Kind::Opened) {
            return crate::pool::with_opened(|opened| with(opened.metadata.as_ref()?))?;
        }
        let open = |module| self.info.module_metadata(module);
        match self.open("CorProfilerInfo::module_metadata", open)? {
            Ok(metadata) => with(&metadata),
            Err(error) => Some(Err(error)),
        }
    }

    /// The same for writing.
    pub fn with_writer(
        &self,
        with: impl FnOnce(&MetadataWriter<'_>) -> Option<Result<()>>,
    ) -> Option<Result<()>> {
        if self.pick_stale(Kind::Opened) {
            return crate::pool::with_opened(|opened| with(opened.writer.as_ref()?))?;
        }
        let open = |module| self.info.module_metadata_for_writing(module);
        match self.open("CorProfilerInfo::module_metadata_for_writing", open)? {
            Ok(writer) => with(&writer),
            Err(error) => Some(Err(error)),
        }
    }

    /// Opens the metadata of a module, as a call of its own: if it ends the program, the call that needs it
    /// did not begin.
    fn open<T>(&self, call: &str, open: impl FnOnce(ModuleId) -> Result<T>) -> Option<Result<T>> {
        let module = ModuleId::pick(self)?;
        if Plan::get().is_left_out(call) {
            return None;
        }
        journal(&format!("> {call}"));
        let opened = open(module);
        journal(&format!("> {}", self.current.borrow()));
        Some(opened)
    }
}

/// A value for an argument of this type, if there is one.
pub trait Pick<'a>: Sized {
    fn pick(at: &At<'a>) -> Option<Self>;
}

macro_rules! picks {
    ($($type:ty = |$at:ident| $pick:expr;)*) => {$(
        impl<'a> Pick<'a> for $type {
            fn pick($at: &At<'a>) -> Option<Self> {
                $pick
            }
        }
    )*};
}

/// Tokens, by their tables.
macro_rules! tokens {
    ($($type:ty = $table:literal;)*) => {
        picks! { $($type = |at| at.token($table);)* }
    };
}

/// Attributes, by their bits.
macro_rules! attributes {
    ($($type:ty)*) => {
        picks! { $($type = |at| Some(Self::from_bits_retain(at.turn as u32 % 3));)* }
    };
}

attributes! {
    EventAttributes FieldAttributes FileAttributes GenericParamAttributes
    ManifestResourceAttributes MethodAttributes MethodImplAttributes PInvokeAttributes
    ParamAttributes PropertyAttributes TypeAttributes
}

fn leak<'a, T>(value: T) -> &'a mut T {
    Box::leak(Box::new(value))
}

picks! {
    ModuleId = |at| at.id(Kind::Module, at.own.module, |known| &known.modules);
    ClassId = |at| at.id(Kind::Class, at.own.class, |known| &known.classes);
    FunctionId = |at| at.id(Kind::Function, at.own.function, |known| &known.functions);
    AssemblyId = |at| at.id(Kind::Assembly, at.own.assembly, |known| &known.assemblies);
    ThreadId = |at| at.id(Kind::Thread, at.own.thread, |known| &known.threads);
    AppDomainId = |at| at.own.app_domain.or(at.live.app_domains.first().copied());
    ContextId = |at| at.live.contexts.first().copied();
    EventPipeProviderId<'a> = |at| at.own.provider.or(at.live.providers.first().copied());
    // Sessions are started by calls of their own.
    EventPipeSessionId = |_at| None;
    RejitId = |at| at.own.rejit.or(at.live.rejits.first().copied()).or(Some(RejitId::ORIGINAL));
    FrameInfo<'a> = |at| at.frame;
    // An address of code.
    usize = |at| match at.ids {
        Ids::Foreign => Some([0, 1, 0x1234, usize::MAX][at.turn % 4]),
        _ => at.id(Kind::Code, None, |known| &known.code),
    };
    bool = |_at| Some(true);
    u32 = |at| Some(at.turn as u32 % 3);
    &'a str = |at| Some(["Probe.Program", "Hot", ".ctor"][at.turn % 3]);
    &'a Path = |_at| Some(Path::new("/nowhere/at/all"));
    &'a [u8] = |_at| Some(&[1, 0, 0, 0]);
    &'a [u16] = |_at| Some(&[0x78]);
    &'a mut [u8] = |_at| Some(leak([0; 100]));
    &'a [ClassId] = |at| match at.turn % 2 {
        0 => Some(leak([ClassId::pick(at)?])),
        _ => Some(&[]),
    };
    &'a [(ModuleId, MethodDef)] = |at| Some(leak([(ModuleId::pick(at)?, MethodDef::pick(at)?)]));
    &'a [IlMapEntry] = |_at| {
        Some(&[IlMapEntry { old_offset: 0, new_offset: 0, is_accurate: true }])
    };
    &'a [TypeToken] = |_at| Some(&[]);
    &'a [FieldOffset] = |_at| Some(&[]);
    &'a ConstantValue = |_at| Some(&ConstantValue::Bool(true));
    &'a AssemblyProps = |_at| Some(leak(AssemblyProps::default()));
    &'a AssemblyRefProps = |_at| Some(leak(AssemblyRefProps::default()));
    &'a EventMethods<'a> = |_at| Some(leak(EventMethods::default()));
    &'a PropertyMethods<'a> = |_at| Some(leak(PropertyMethods::default()));
    &'a AssemblySearch<'a> = |_at| Some(leak(AssemblySearch {
        application_base: Some("/nowhere"),
        private_bin: None,
        global_bin: None,
    }));
    &'a EventPipeProviderConfig = |_at| Some(leak(provider()));
    &'a [EventPipeProviderConfig] = |_at| Some(vec![provider()].leak());
    EventMask = |_at| Some(EventMask::MONITOR_MODULE_LOADS);
    SaveSize = |at| Some(match at.turn % 2 {
        0 => Self::Accurate,
        _ => Self::Quick,
    });
    SecurityAction = |at| Some(SecurityAction::from_number(at.turn as u32 % 3));
    RejitFlags = |_at| Some(RejitFlags::BLOCK_INLINING);
    MethodDef = |at| at.own.method.or_else(|| at.token(0x06));
    UserString = |at| at.token(0x70);
    Token = |at| MethodDef::pick(at).map(Into::into);
    TypeToken = |at| TypeDef::pick(at).map(Into::into);
}

tokens! {
    TypeRef = 0x01;
    TypeDef = 0x02;
    FieldDef = 0x04;
    ParamDef = 0x08;
    InterfaceImpl = 0x09;
    MemberRef = 0x0A;
    CustomAttribute = 0x0C;
    Permission = 0x0E;
    StandAloneSig = 0x11;
    Event = 0x14;
    Property = 0x17;
    ModuleRef = 0x1A;
    TypeSpec = 0x1B;
    Assembly = 0x20;
    AssemblyRef = 0x23;
    File = 0x26;
    ExportedType = 0x27;
    ManifestResource = 0x28;
    GenericParam = 0x2A;
    MethodSpec = 0x2B;
    GenericParamConstraint = 0x2C;
}

impl<'a, T: Pick<'a>> Pick<'a> for Option<T> {
    fn pick(at: &At<'a>) -> Option<Self> {
        T::pick(at).map(Some)
    }
}

pub fn provider() -> EventPipeProviderConfig {
    EventPipeProviderConfig::all("Microsoft-Windows-DotNETRuntime")
}
