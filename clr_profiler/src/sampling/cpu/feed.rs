//! The samples of the kernel's events, as records like those of the handler.

use std::io;
use std::mem;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::event::{self, Alarm, Event, Refusal};
use super::signal::{HEADER, Header};
use crate::runtime::lock;

/// The memory that the kernel may lock for all threads: further ones get timers.
pub(super) const RINGS: usize = 64 << 20;

/// The words of samples that were taken from the rings and are not delivered yet: 32 MB.
pub(super) const WAITING: usize = 4 << 20;

/// The kinds of records.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;

/// Before the addresses of the program.
const USER: u64 = -512_i64 as u64;

/// The registers of a sample, in the order of the kernel's numbers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: usize = 3;
#[cfg(target_arch = "aarch64")]
const REGISTERS: usize = 4;

/// Whether the kernel can sample more often than timers expire, and this rate asks for it.
pub(super) fn is_wanted(interval: Duration) -> bool {
    interval < event::tick()
}

/// A thread that the kernel samples.
#[derive(Debug)]
pub(super) struct Fed {
    event: Event,
    samples: Samples,
}

/// The samples of a thread that were taken out of its ring.
#[derive(Debug)]
struct Samples {
    /// In nanoseconds, like the processor time up to the last sample.
    interval: u64,
    used: u64,
    /// The bounds of the stack, if they are known.
    bounds: Option<(usize, usize)>,
    /// The most return addresses of a sample.
    addresses: usize,
    records: Vec<u64>,
    lost: u64,
}

impl Fed {
    /// Samples a thread whose stack has these bounds, if they are known.
    ///
    /// # Errors
    ///
    /// The reason of the system.
    pub(super) fn open(
        os_thread: u32,
        interval: Duration,
        bounds: Option<(usize, usize)>,
        alarm: &Alarm,
    ) -> Result<Self, Refusal> {
        let event = Event::open(os_thread, interval)?;
        let refused = |error| Refusal::of_now(format!("the system does not wait for performance events: {error}"));
        alarm.add(&event).map_err(refused)?;
        let samples = Samples::new(interval, bounds, event.addresses());
        Ok(Self { event, samples })
    }

    /// Takes the samples out of the ring, as far as there is room for words; returns how many words.
    pub(super) fn read(&mut self, scratch: &mut Vec<u64>, room: usize) -> usize {
        scratch.clear();
        self.event.read(scratch);
        self.samples.add(scratch, room)
    }

    /// The samples since the last time, and the intervals that were lost.
    pub(super) fn take(&mut self) -> (Vec<u64>, u64) {
        self.samples.take()
    }
}

impl Samples {
    fn new(interval: Duration, bounds: Option<(usize, usize)>, addresses: usize) -> Self {
        Self {
            interval: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1),
            used: 0,
            bounds,
            addresses,
            records: Vec::new(),
            lost: 0,
        }
    }

    /// Adds the samples of the kernel's records, as far as there is room for words; returns how many words.
    fn add(&mut self, mut words: &[u64], room: usize) -> usize {
        let before = self.records.len();
        let mut lost = 0;
        while let Some((kind, record)) = next(&mut words) {
            match (kind, record) {
                (SAMPLE, [used, rest @ ..]) => {
                    // Those that the kernel could not take in time are in the next one, but not those of samples that it lost.
                    let passed = used.saturating_sub(self.used).saturating_add(self.interval / 2);
                    let weight = (passed / self.interval).saturating_sub(lost).max(1);
                    // The remainder of an interval counts for the next one.
                    let counted = weight.saturating_add(lost).saturating_mul(self.interval);
                    (self.used, lost) = (self.used.saturating_add(counted), 0);
                    let room = room.saturating_sub(self.records.len() - before);
                    let is_written = Sample::read(rest)
                        .is_some_and(|sample| sample.write((weight, room), self.bounds, self.addresses, &mut self.records));
                    self.lost += if is_written { 0 } else { weight };
                }
                (LOST, [_, count, ..]) => {
                    lost += count;
                    self.lost += count;
                }
                _ => {}
            }
        }
        self.records.len() - before
    }

    fn take(&mut self) -> (Vec<u64>, u64) {
        (mem::take(&mut self.records), mem::take(&mut self.lost))
    }
}

/// The kind of the first of these records, and the rest of it.
fn next<'a>(words: &mut &'a [u64]) -> Option<(u32, &'a [u64])> {
    let header = *words.first()?;
    let size = (header >> 48) as usize / size_of::<u64>();
    let (record, rest) = words.split_at_checked(size.max(1))?;
    *words = rest;
    Some((header as u32, record.get(1..)?))
}

/// A sample, as the kernel has written it.
struct Sample<'a> {
    /// The instruction pointer and the return addresses that frame pointers have led to.
    addresses: &'a [u64],
    ip: u64,
    sp: u64,
    fp: u64,
    link: u64,
    stack: &'a [u64],
    /// Whether as much was copied as was asked for.
    is_full: bool,
}

impl<'a> Sample<'a> {
    /// Reads the words after the processor time; nothing if the kernel has no registers of the program.
    fn read(words: &'a [u64]) -> Option<Self> {
        let (count, words) = words.split_first()?;
        let (addresses, words) = words.split_at_checked(usize::try_from(*count).ok()?)?;
        let (kind, words) = words.split_first()?;
        if *kind == 0 {
            return None;
        }
        let (registers, words) = words.split_first_chunk::<REGISTERS>()?;
        #[cfg(target_arch = "x86_64")]
        let ([fp, sp, ip], link) = (*registers, 0);
        #[cfg(target_arch = "aarch64")]
        let [fp, link, sp, ip] = *registers;
        let (size, words) = words.split_first()?;
        let (stack, words) = match *size {
            0 => (&[][..], &[0][..]),
            size => words.split_at_checked(usize::try_from(size).ok()? / size_of::<u64>())?,
        };
        let copied = usize::try_from(*words.first()?).ok()? / size_of::<u64>();
        let from = addresses.iter().position(|address| *address == USER);
        Some(Self {
            addresses: from.and_then(|from| addresses.get(from + 1..)).unwrap_or_default(),
            ip,
            sp,
            fp,
            link,
            stack: stack.get(..copied)?,
            is_full: copied > 0 && copied == stack.len(),
        })
    }

    /// Appends the record of the sample; false if there is no room.
    fn write(
        &self,
        (weight, room): (u64, usize),
        bounds: Option<(usize, usize)>,
        most: usize,
        out: &mut Vec<u64>,
    ) -> bool {
        let sp = self.sp as usize;
        let own = bounds.filter(|(low, high)| (*low..*high).contains(&sp));
        let is_other = bounds.is_some() && own.is_none();
        // The memory above a thread's stack can be that of another one.
        let whole = own.map_or(usize::MAX, |(_, high)| (high - sp) / size_of::<u64>());
        let stack = self.stack.get(..whole).unwrap_or(self.stack);
        let is_full = self.is_full && !is_other && whole > stack.len();
        // Pages that were not there end the copy, too.
        let is_whole = own.is_some() && whole == stack.len();
        let beyond = if is_whole { None } else { self.beyond() };
        let is_all = self.addresses.len() < most;
        let beyond_words = beyond.map_or(0, |(_, rest)| 1 + rest.len() + usize::from(is_all));
        let length = HEADER + beyond_words + 2 + stack.len();
        if length > room {
            return false;
        }
        let mut header = [0; HEADER];
        for (word, value) in [
            (Header::Length, length as u64),
            (Header::Weight, weight),
            (Header::Ip, self.ip),
            (Header::Sp, self.sp),
            (Header::Fp, self.fp),
            (Header::Link, self.link),
            (Header::IsFull, u64::from(is_full)),
            (Header::IsPart, u64::from(!is_whole && !is_full)),
            (Header::Beyond, beyond_words as u64),
        ] {
            header[word as usize] = value;
        }
        out.reserve(length);
        out.extend(header);
        if let Some((fp, rest)) = beyond {
            out.push(fp);
            out.extend(rest);
            out.extend(is_all.then_some(0));
        }
        out.extend([self.sp, stack.len() as u64]);
        out.extend(stack);
        true
    }

    /// The first frame pointer outside of the copied words, with the return addresses of its frame and those beyond.
    fn beyond(&self) -> Option<(u64, &'a [u64])> {
        let mut rest = self.addresses.get(1..)?;
        let mut fp = self.fp;
        loop {
            let Some([next, address]) = self.frame(fp) else {
                return (fp.is_multiple_of(8) && !rest.is_empty()).then_some((fp, rest));
            };
            let (first, others) = rest.split_first()?;
            // As the kernel has followed them.
            if first != address || (*next <= fp && self.frame(*next).is_some()) {
                return None;
            }
            (fp, rest) = (*next, others);
        }
    }

    /// The two words of a frame, if they were copied.
    fn frame(&self, fp: u64) -> Option<&'a [u64; 2]> {
        let above = fp.checked_sub(self.sp).filter(|above| above.is_multiple_of(8))?;
        self.stack.get(usize::try_from(above / 8).ok()?..)?.first_chunk()
    }
}

/// The thread that empties the rings before they are full.
#[derive(Debug)]
pub(super) struct Feed(Mutex<Option<(Arc<Alarm>, JoinHandle<()>)>>);

impl Feed {
    /// Calls the closure when a ring fills.
    pub(super) fn start(
        alarm: Arc<Alarm>,
        mut empty: impl FnMut() + Send + 'static,
    ) -> io::Result<Self> {
        let thread = thread::Builder::new().name("cpu events".to_owned()).spawn({
            let alarm = Arc::clone(&alarm);
            move || {
                while alarm.wait() {
                    empty();
                }
            }
        })?;
        Ok(Self(Mutex::new(Some((alarm, thread)))))
    }

    /// Ends the thread, which waits for nothing but the lock of the threads.
    pub(super) fn stop(&self) {
        if let Some((alarm, thread)) = lock(&self.0).take() {
            alarm.end();
            // Its panic would have lost samples alone.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::timer;
    use super::super::walk::Record;
    use super::*;
    use crate::sampling::clock;

    const SP: u64 = 0x7000_0000;

    /// A record of the kernel: a sample after this processor time, with these addresses, frame pointer and stack.
    fn sample(used: u64, addresses: &[u64], fp: u64, (stack, copied): (&[u64], u64)) -> Vec<u64> {
        let mut words = vec![0, used, addresses.len() as u64 + 2, 0x1234, USER];
        words.extend(addresses);
        words.push(2);
        #[cfg(target_arch = "x86_64")]
        words.extend([fp, SP, 0x1000]);
        #[cfg(target_arch = "aarch64")]
        words.extend([fp, 0x2000, SP, 0x1000]);
        words.push(stack.len() as u64 * 8);
        words.extend(stack);
        words.push(copied * 8);
        words[0] = (words.len() as u64 * 8) << 48 | u64::from(SAMPLE);
        words
    }

    fn lost(count: u64) -> Vec<u64> {
        vec![24 << 48 | u64::from(LOST), 7, count]
    }

    fn samples(high: usize, addresses: usize) -> Samples {
        let bounds = (high > 0).then_some((0x1000, high));
        Samples::new(Duration::from_nanos(100), bounds, addresses)
    }

    #[test]
    fn samples_weigh_the_time_since_the_last_one() {
        let mut samples = samples(0, 127);
        let stack: &[u64] = &[1, 2, 3];
        let mut words = sample(105, &[], 0, (stack, 2));
        words.extend(sample(395, &[], 0, (stack, 2)));
        words.extend(lost(2));
        words.extend(sample(810, &[], 0, (stack, 2)));
        assert!(samples.add(&words, usize::MAX) > 0);
        let (records, lost) = samples.take();
        let mut rest = &*records;
        for weight in [1, 3, 2] {
            let record = Record::take(&mut rest).unwrap();
            assert_eq!(record.header(Header::Weight), weight);
            assert_eq!(record.header(Header::Ip), 0x1000);
            assert_eq!(record.header(Header::IsFull), 0);
            let found = [0, 8, 16].map(|at| record.word(SP as usize + at));
            assert_eq!(found, [Some(1), Some(2), None]);
        }
        assert!(rest.is_empty());
        assert_eq!(lost, 2);
        // Samples without room are counted.
        samples.add(&sample(1210, &[], 0, (stack, 2)), 4);
        assert_eq!(samples.take(), (Vec::new(), 4));
        // Without registers there is no stack.
        let none = [5 << 51 | u64::from(SAMPLE), 1300, 1, USER, 0];
        samples.add(&none, usize::MAX);
        assert_eq!(samples.take(), (Vec::new(), 1));
        // Words that the kernel did not write are no samples.
        for length in 0..words.len() {
            samples.add(&words[..length], usize::MAX);
        }
    }

    #[test]
    fn return_addresses_beyond_the_copy_follow_its_last_frame() {
        let (first, second, beyond) = (SP + 8, SP + 32, SP + 80);
        let stack = [0, second, 0x2001, 0, beyond, 0x2002];
        let addresses = [0x1000, 0x2001, 0x2002, 0x2003, 0x2004];
        let frames = |fp, (copied, high), most| {
            let mut samples = samples(high, most);
            samples.add(&sample(100, &addresses, fp, (&stack, copied)), usize::MAX);
            let (records, _) = samples.take();
            let record = Record::take(&mut &*records).unwrap();
            assert!(record.word(beyond as usize).is_none());
            let is_more = record.continues();
            (is_more, record.beyond(beyond as usize).to_vec())
        };
        let all = vec![0x2003, 0x2004, 0];
        assert_eq!(frames(first, (6, 0), 127), (true, all));
        // There may be more than the system adds.
        assert_eq!(frames(first, (6, 0), 5), (true, vec![0x2003, 0x2004]));
        // The copy is the whole stack; or the addresses are not those of its frames.
        assert_eq!(frames(first, (6, SP as usize + 48), 127), (false, vec![]));
        assert_eq!(frames(second, (6, 0), 127), (true, vec![]));
        assert_eq!(frames(7, (6, 0), 127), (true, vec![]));
        // The words are those of a handler of signals, which has a stack of its own, or pages were not there.
        assert_eq!(frames(first, (6, SP as usize + 56), 127), (true, vec![0x2003, 0x2004, 0]));
        assert_eq!(frames(first, (6, 0x2000), 127), (false, vec![0x2003, 0x2004, 0]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no such events")]
    fn the_kernel_samples_a_thread_that_works() {
        let alarm = Alarm::new().unwrap();
        let (interval, this) = (Duration::from_millis(1), timer::this_thread());
        let bounds = timer::own_stack();
        // Not every system allows it.
        let Ok(mut fed) = Fed::open(this, interval, bounds, &alarm) else {
            return;
        };
        let begun = clock::of_this_thread().unwrap();
        let (mut scratch, mut words, mut weights) = (Vec::new(), 0, 0);
        let (mut records, mut whole) = (0, 0);
        while clock::of_this_thread().unwrap() - begun < Duration::from_millis(200) {
            words += fed.read(&mut scratch, usize::MAX);
        }
        let (taken, lost) = fed.take();
        assert_eq!(taken.len(), words);
        let mut rest = &*taken;
        let (low, high) = bounds.unwrap();
        while let Some(record) = Record::take(&mut rest) {
            let sp = record.header(Header::Sp);
            assert!((low..high).contains(&sp));
            // The kernel copies no page that is not there.
            whole += u64::from(record.word(sp).is_some());
            assert_ne!(record.header(Header::Ip), 0);
            weights += record.header(Header::Weight) as u64;
            records += 1;
        }
        assert!((180..=210).contains(&(weights + lost)), "{weights} {lost}");
        // On a busy machine a sample has the weight of several.
        assert!(whole > 0 && whole * 2 > records, "{whole} of {records}");
        // A ring that fills wakes the reader.
        let waits = thread::spawn(move || alarm.wait());
        let end = clock::of_this_thread().unwrap() + Duration::from_millis(20);
        while clock::of_this_thread().unwrap() < end {}
        assert!(waits.join().unwrap());
    }
}
