//! How often results are written that are replaced each time.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::report::{Moment, Output};

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

    /// Replaces the file: [meanwhile](Moment::Meanwhile) if it is due and can be written again and again, at any other moment in
    /// any case. `write` gathers the results, too: the time that it takes counts.
    ///
    /// # Errors
    ///
    /// The file, or one in its folder, cannot be written.
    pub fn replace(
        &mut self,
        output: &Output,
        moment: Moment,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_due = self.is_due() && output.is_replaceable();
        if moment == Moment::Meanwhile && !is_due {
            return Ok(());
        }
        let began = Instant::now();
        let written = output.replace(write);
        self.written(began);
        written
    }

    /// Results were written, beginning at that time.
    pub fn written(&mut self, began: Instant) {
        let now = Instant::now();
        self.due = now + self.pause.max((now - began) * Self::SHARE);
        self.pause = (self.pause * 2).min(Self::LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_when_it_is_due_and_at_the_end() {
        let path = std::env::temp_dir().join(format!("pace-{}", std::process::id()));
        let output = Output::whole(path.clone()).unwrap();
        let mut pace = Pace::start();
        let mut write = |moment, text: &str| {
            let written = pace.replace(&output, moment, |file| file.write_all(text.as_bytes()));
            written.unwrap();
            std::fs::read_to_string(&path).unwrap()
        };
        assert_eq!(write(Moment::Meanwhile, "1"), "1");
        assert_eq!(write(Moment::Meanwhile, "2"), "1", "it is too early");
        assert_eq!(write(Moment::Asked, "3"), "3");
        assert_eq!(write(Moment::End, "4"), "4");
        std::fs::remove_file(&path).unwrap();
    }
}
