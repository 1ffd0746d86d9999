//! Frames of running functions.

use std::marker::PhantomData;

use crate::error::Error;
use crate::ids::Moves;
use crate::native::arguments;

/// A frame of a running function: it tells the exact generic arguments.
///
/// Good for [`function_info2_in_frame`](crate::info::CorProfilerInfo2::function_info2_in_frame) while the
/// hook or the callback runs that got it, as the lifetime says, on its thread, and until that thread
/// makes a call during which objects can move: a frame may tell generic arguments by an object.
#[doc(alias = "COR_PRF_FRAME_INFO")]
#[derive(Clone, Copy)]
pub struct FrameInfo<'callback> {
    raw: usize,
    delivered: Moves,
    callback: PhantomData<(&'callback (), *const ())>,
}

impl FrameInfo<'_> {
    /// The frame that native code knows by this number.
    ///
    /// # Safety
    ///
    /// The number is one that the runtime gave to the hook or callback whose lifetime this has.
    #[must_use]
    pub unsafe fn from_raw(raw: usize) -> Self {
        Self::delivered(raw)
    }

    /// The number by which native code knows it.
    #[must_use]
    pub fn raw(self) -> usize {
        self.raw
    }

    /// The frame that the runtime tells of now, if it does.
    pub(crate) fn optional(raw: usize) -> Option<Self> {
        (raw != 0).then(|| Self::delivered(raw))
    }

    fn delivered(raw: usize) -> Self {
        Self {
            raw,
            delivered: Moves::now(),
            callback: PhantomData,
        }
    }
}

arguments! {
    /// Refused where what the frame refers to may have moved since it was delivered.
    FrameInfo<'_> => usize = |frame, asked| match frame.delivered.is_now() {
        true => Ok(frame.raw),
        false => Err(Error::rule(
            asked.call,
            "since the frame was delivered a call was made during which the collector may have \
             moved what it refers to: ask about frames first",
        )),
    };
}

opaque! { FrameInfo<'_> }
