//! Waits, allocations, exceptions and collections next to a trace, each with the span in which it occurred.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use clr_profiler::contention::{ContentionEvent, ContentionEvents};
use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::heap::AllocationSamples;
use clr_profiler::prelude::*;

use super::pauses::{self, Latest, Pause};
use crate::profilers::cpu::profile::Spanned;
use crate::profilers::named_stacks::{NamedStacks, named};
use crate::profilers::names::{Names, own_stack};
use crate::report::{Moment, Output, Pace, Session, Settings, lock};
use crate::spans::innermost_span;
use crate::stacks::{Export, Form, Frame, Labels, Unit};

/// How many frames of a stack are recorded, from the innermost.
const DEPTH: usize = 256;
/// The limit for pairs of a stack and a span.
const LABELS: usize = 50_000;

/// The limit for pauses whose functions have no names yet: more are not met between two writes.
const UNNAMED: usize = 10_000;

/// The kinds of events that the runtime's tracing reports on their thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Waits,
    Allocations,
    Exceptions,
    Pauses,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [
        Self::Waits,
        Self::Allocations,
        Self::Exceptions,
        Self::Pauses,
    ];

    /// The name of the setting with the file.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Waits => "METHOD_TRACER_LOCKS_PROFILE",
            Self::Allocations => "METHOD_TRACER_ALLOC_PROFILE",
            Self::Exceptions => "METHOD_TRACER_EXCEPTIONS_PROFILE",
            Self::Pauses => "METHOD_TRACER_GC_PROFILE",
        }
    }

    /// The title of the file, the unit of weights, and the names of the values.
    fn facts(self) -> (&'static str, Unit, (&'static str, &'static str)) {
        match self {
            Self::Waits => (
                "Waits for locks",
                Unit::Nanoseconds,
                ("contentions", "delay"),
            ),
            Self::Allocations => (
                "Allocated, estimated from samples",
                Unit::Bytes,
                ("samples", "alloc_space"),
            ),
            Self::Exceptions => ("Exceptions", Unit::Samples, ("exceptions", "exceptions")),
            Self::Pauses => (
                "Pauses by collections, by the code that triggers them",
                Unit::Nanoseconds,
                ("pauses", "time"),
            ),
        }
    }

    /// The words for the line at the end.
    fn words(self) -> &'static str {
        match self {
            Self::Waits => "time of waits for locks",
            Self::Allocations => "estimated bytes",
            Self::Exceptions => "exceptions",
            Self::Pauses => "pauses by collections",
        }
    }

    /// The words for several events.
    fn events(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Allocations => "samples",
            Self::Exceptions => "exceptions",
            Self::Pauses => "pauses",
        }
    }
}

/// The events of a kind, and their file.
pub(super) struct Events {
    kind: Kind,
    settings: Settings,
    output: Output,
    form: Form,
    names: Names,
    spanned: Spanned,
    profile: Mutex<Profile>,
    /// Pauses whose functions have no names yet. While they get them, their modules must not be unloaded.
    unnamed: Mutex<Vec<Pause>>,
    latest: Mutex<Option<Latest>>,
    naming: Mutex<()>,
    pace: Mutex<Pace>,
}

#[derive(Clone)]
struct Profile {
    began: (SystemTime, Instant),
    stacks: NamedStacks,
    labels: Labels,
    /// The weight of all, and of those in spans.
    all: u64,
    in_spans: u64,
}

impl Events {
    /// Records events from now on.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the runtime has no such events.
    pub(super) fn start(
        info: &ProfilerInfo,
        setup: &mut Setup,
        settings: &Settings,
        (kind, output): (Kind, PathBuf),
        spanned: Spanned,
    ) -> Result<Arc<Self>> {
        if info.version() < crate::profilers::TRACING {
            return Err(Error::other(format!(
                "there is no profile of {} next to the trace: the runtime's own tracing tells of them, which profilers get from \
                 .NET 5 on, and this runtime is older",
                kind.words()
            )));
        }
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let output = Output::whole(output)?;
        let events = Arc::new(Self {
            kind,
            settings: settings.clone(),
            form: Form::of(output.path()),
            output,
            names: Names::default(),
            spanned,
            profile: Mutex::new(Profile {
                began: (SystemTime::now(), Instant::now()),
                stacks: NamedStacks::new(),
                labels: Labels::with_limit(LABELS),
                all: 0,
                in_spans: 0,
            }),
            unnamed: Mutex::default(),
            latest: Mutex::default(),
            naming: Mutex::default(),
            pace: Mutex::new(Pace::start()),
        });
        let to = Arc::clone(&events);
        match kind {
            Kind::Waits => {
                setup.attach(ContentionEvents::new(move |info, event| {
                    if let ContentionEvent::Ends { waited } = event {
                        let time = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
                        to.add(info, time, None);
                    }
                    Ok(())
                }))?;
            }
            Kind::Allocations => {
                setup.attach(AllocationSamples::new(move |info, sample| {
                    let class = to.names.class(info, sample.class);
                    to.add(info, sample.bytes.round() as u64, Some(class.into()));
                    Ok(())
                }))?;
            }
            Kind::Exceptions => {
                setup.attach(ExceptionEvents::new(move |info, event| {
                    if let ExceptionEvent::Thrown(thrown) = event {
                        to.add(info, 1, Some(named(&thrown.type_name)));
                    }
                    Ok(())
                }))?;
            }
            Kind::Pauses => {
                let latest = pauses::watch(setup, DEPTH, move |pause| {
                    let mut unnamed = lock(&to.unnamed);
                    if unnamed.len() < UNNAMED {
                        unnamed.push(pause);
                    }
                })?;
                *lock(&events.latest) = Some(latest);
            }
        }
        Ok(events)
    }

    /// Adds an event of this thread, below its stack the type that it is about.
    fn add(&self, info: &ProfilerInfo, weight: u64, about: Option<Frame>) {
        let span = innermost_span();
        let places = own_stack(info, DEPTH).unwrap_or_default().into_iter();
        let frames = places.map(|place| self.names.frame(info, place, false));
        let frames: Vec<Frame> = about.into_iter().chain(frames).collect();
        self.add_to(span, &frames, weight);
    }

    /// Names the functions of pauses. Not while the runtime is suspended.
    fn name(&self, info: &ProfilerInfo) {
        let _naming = lock(&self.naming);
        let unnamed = std::mem::take(&mut *lock(&self.unnamed));
        for pause in unnamed {
            let places = pause.trigger.stack.iter().map(|function| (*function, 0));
            let mut frames: Vec<Frame> = places
                .map(|place| self.names.frame(info, place, false))
                .collect();
            if frames.is_empty() {
                frames.push(named("[native]"));
            }
            self.add_to(pause.trigger.span, &frames, pause.nanoseconds);
        }
    }

    fn add_to(&self, span: [u64; 2], frames: &[Frame], weight: u64) {
        let mut profile = lock(&self.profile);
        let Profile {
            stacks,
            labels,
            all,
            in_spans,
            ..
        } = &mut *profile;
        let node = stacks.node(frames.iter());
        stacks.stacks.add_to(node, weight);
        *all = all.saturating_add(weight);
        if span != [0, 0] {
            labels.add(node, (self.spanned)(span), weight);
            *in_spans = in_spans.saturating_add(weight);
        }
    }

    /// A module is unloaded: ids can be reused.
    pub(super) fn forget(&self, info: &ProfilerInfo) {
        // First, so that no pause that ends meanwhile brings its functions.
        if let Some(latest) = &*lock(&self.latest) {
            latest.forget_stack();
        }
        self.name(info);
        self.names.forget();
    }

    /// Writes the file, if it is time to.
    pub(super) fn write(&self, info: &ProfilerInfo, moment: Moment) -> io::Result<()> {
        self.name(info);
        let (title, unit, values) = self.kind.facts();
        let written = lock(&self.pace).replace(&self.output, moment, |file| {
            // A copy: the program does not wait for a disk.
            let profile = lock(&self.profile).clone();
            let export = Export {
                stacks: &profile.stacks.stacks,
                title,
                unit,
                values,
                began: profile.began.0,
                duration: profile.began.1.elapsed(),
                timeline: None,
            };
            let frame = |number| profile.stacks.frame(number);
            export.write_labelled(self.form, Some(&profile.labels), frame, file)
        });
        if moment == Moment::End {
            let profile = lock(&self.profile);
            let share = match profile.all {
                0 => 0.0,
                all => profile.in_spans as f64 / all as f64 * 100.0,
            };
            let (left_out, words) = (profile.labels.left_out(), self.kind.words());
            drop(profile);
            let mut line = format!("{share:.1} % of the {words} are in spans");
            if left_out > 0 {
                let events = self.kind.events();
                line += &format!(
                    "; {left_out} {events} have no label, because there were too many spans"
                );
            }
            Session::say(&self.settings, line);
        }
        written
    }
}
