//! The plan of a process, and its report: the environment and the journal.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

use crate::at::Kind;

/// The variables by which the driver configures the profiler.
pub const MOMENT: &str = "PROBE_MOMENT";
pub const IDS: &str = "PROBE_IDS";
/// The file with the calls to make, one a line.
pub const CALLS: &str = "PROBE_CALLS";
pub const JOURNAL: &str = "PROBE_JOURNAL";
/// The first line of each journal.
pub const LOADED: &str = "loaded";
/// The file for which the program waits in its middle.
pub const GATE: &str = "PROBE_GATE";

/// Whether the program makes lists of types that are unloaded.
pub const LISTS: &str = "PROBE_LISTS";

/// The class id of the profiler.
pub const CLSID: &str = "0B7E8C1D-5C39-4C55-9F39-5E0D6A1C9A10";

/// Of the profiler that has components.
pub const CLSID_WITH_PARTS: &str = "0B7E8C1D-5C39-4C55-9F39-5E0D6A1C9A11";

/// The ids that calls are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ids {
    /// Those that the callback passes, and if it passes none, kept valid ones.
    Own,
    /// The same, on a thread of the profiler, at once.
    Elsewhere,
    /// Kept valid ones.
    Kept,
    /// Kept stale ones.
    Stale,
    /// Those of another kind of thing that the types let through, and tokens of other modules.
    Foreign,
    /// Those of the callback after its objects may have moved.
    Moved,
}

impl Ids {
    pub const ALL: [Self; 6] = [
        Self::Own,
        Self::Elsewhere,
        Self::Kept,
        Self::Stale,
        Self::Foreign,
        Self::Moved,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Elsewhere => "elsewhere",
            Self::Kept => "kept",
            Self::Stale => "stale",
            Self::Foreign => "foreign",
            Self::Moved => "moved",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ids| ids.name() == name)
    }
}

/// The plan of this process.
pub struct Plan {
    pub moment: String,
    pub ids: Ids,
    pub calls: BTreeSet<String>,
    pub gate: Option<String>,
}

impl Plan {
    pub fn get() -> &'static Self {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| {
            let read = |name| std::env::var(name).ok();
            let calls = read(CALLS).and_then(|file| fs::read_to_string(file).ok());
            Self {
                moment: read(MOMENT).unwrap_or_default(),
                ids: read(IDS)
                    .and_then(|ids| Ids::named(&ids))
                    .unwrap_or(Ids::Own),
                calls: calls
                    .iter()
                    .flat_map(|calls| calls.lines())
                    .map(str::to_owned)
                    .collect(),
                gate: read(GATE),
            }
        })
    }

    /// The name of a call, if it is to be made. With stale ids of only one kind, a call is made
    /// if it is listed as such, or if the call with all kinds is listed and this one is not left out.
    pub fn name(&self, call: &str, only: Option<Kind>) -> Option<String> {
        let name = only.map_or(call.to_owned(), |kind| format!("{call} [{kind:?}]"));
        let is_one_of_all = self.calls.contains(call) && !self.is_left_out(&name);
        (self.calls.contains(&name) || is_one_of_all).then_some(name)
    }

    /// Whether a call ended the program before.
    pub fn is_left_out(&self, call: &str) -> bool {
        self.calls.contains(&format!("-{call}"))
    }

    /// Lets the program continue from its middle.
    pub fn open_gate(&self) {
        if let Some(gate) = &self.gate {
            let _ = File::create(gate);
        }
    }
}

/// Writes a line that is in the file before this returns, even if the process then ends.
pub fn journal(line: &str) {
    static JOURNAL_FILE: OnceLock<Option<File>> = OnceLock::new();
    let file = JOURNAL_FILE.get_or_init(|| {
        let path = std::env::var_os(JOURNAL)?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    });
    if let Some(mut file) = file.as_ref() {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
