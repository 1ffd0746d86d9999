//! The numbers of sent and lost spans.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::report::{failures, lock};

/// The numbers of sent and lost spans.
#[derive(Debug, Default)]
pub struct Sent {
    pub(super) given: AtomicU64,
    pub(super) sent: AtomicU64,
    /// Those of traces that are not sampled.
    pub(super) unsampled: AtomicU64,
    lost: AtomicU64,
    /// How many of those that are missing are counted as failures.
    told: AtomicU64,
    /// The reason of the first loss.
    loss: Mutex<Option<String>>,
    /// The reason for which the last request was not taken.
    failure: Mutex<Option<String>>,
}

impl Sent {
    pub(super) fn lose(&self, count: u64, reason: impl FnOnce() -> String) {
        self.lost.fetch_add(count, Ordering::Relaxed);
        lock(&self.loss).get_or_insert_with(reason);
    }

    /// A request was not taken, and may be later.
    pub(super) fn fail(&self, reason: &str) {
        *lock(&self.failure) = Some(reason.to_owned());
    }

    /// Counts the spans that the collector does not have as [`failures`], each once.
    pub(super) fn tell(&self) {
        let sent = self.sent.load(Ordering::Relaxed);
        let missing = self.given.load(Ordering::Relaxed).saturating_sub(sent);
        let told = self.told.fetch_max(missing, Ordering::Relaxed);
        let reason = self.reason();
        failures::add_many(
            "spans not sent",
            missing.saturating_sub(told),
            reason.unwrap_or_else(|| "the collector does not answer".to_owned()),
        );
    }

    fn reason(&self) -> Option<String> {
        let loss = lock(&self.loss).clone();
        loss.or_else(|| lock(&self.failure).clone())
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [&self.given, &self.sent, &self.lost, &self.unsampled];
        let [given, sent, lost, unsampled] = all.map(|count| count.load(Ordering::Relaxed));
        let waiting = given.saturating_sub(sent + lost);
        write!(
            f,
            "{sent} spans were sent to the collector, {lost} lost, {waiting} not sent yet"
        )?;
        if unsampled > 0 {
            write!(f, ", {unsampled} not sampled")?;
        }
        match self.reason() {
            Some(reason) if lost + waiting > 0 => write!(f, ": {reason}"),
            _ => Ok(()),
        }
    }
}
