//! How often results are written that are replaced each time.

use std::time::{Duration, Instant};

/// Soon at first, for short programs; then once a second, unless writing takes long.
#[derive(Debug)]
pub struct Pace {
    due: Instant,
    pause: Duration,
}

impl Pace {
    /// How often to check whether they are due.
    pub const LOOK: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(1);
    /// Writing takes at most 1/`SHARE` of the time.
    const SHARE: u32 = 20;

    /// They are due at the first check.
    #[must_use]
    pub fn start() -> Self {
        Self {
            due: Instant::now(),
            pause: Self::LOOK,
        }
    }

    /// Whether it is time to write.
    #[must_use]
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Results were written, beginning at that time.
    pub fn written(&mut self, began: Instant) {
        let now = Instant::now();
        self.due = now + self.pause.max((now - began) * Self::SHARE);
        self.pause = (self.pause * 2).min(Self::LONGEST);
    }
}
