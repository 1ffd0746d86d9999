//! What a process does, and what it tells of that: the environment and the journal.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

use crate::at::Kind;

/// The variables by which the driver tells the profiler what to do.
pub const MOMENT: &str = "PROBE_MOMENT";
pub const IDS: &str = "PROBE_IDS";
/// The file of the calls that are made, one a line.
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

/// Which ids calls are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ids {
    /// Those that the callback hands in, and where it hands in none, kept ones of what is there.
    Own,
    /// The same, on a thread of the profiler's own, at once.
    Elsewhere,
    /// Kept ones of what is there.
    Kept,
    /// Kept ones of what is gone.
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

/// What this process is to do.
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

    /// The name of a call that is to be made. With one kind of ids alone that are of what is gone, a call is made
    /// where it is asked for, or where that with all kinds is and this one is not left out.
    pub fn name(&self, call: &str, only: Option<Kind>) -> Option<String> {
        let name = only.map_or(call.to_owned(), |kind| format!("{call} [{kind:?}]"));
        let is_one_of_all = self.calls.contains(call) && !self.is_left_out(&name);
        (self.calls.contains(&name) || is_one_of_all).then_some(name)
    }

    /// Whether a call ended the program before.
    pub fn is_left_out(&self, call: &str) -> bool {
        self.calls.contains(&format!("-{call}"))
    }

    /// Lets the program go on from its middle.
    pub fn open_gate(&self) {
        if let Some(gate) = &self.gate {
            let _ = File::create(gate);
        }
    }
}

/// Writes a line that is in the file before this returns, whatever becomes of the process.
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
