//! Frames of running functions.

use std::marker::PhantomData;

use crate::error::Error;
use crate::ids::GcTriggerCount;
use crate::native::arguments;

/// A frame of a running function, which identifies its exact generic arguments.
///
/// Valid for [`function_info2_in_frame`](crate::info::CorProfilerInfo2::function_info2_in_frame) on its
/// thread, during the hook or callback that received it, as the lifetime says, and only until that thread
/// makes a call that may trigger a GC: a frame may identify generic arguments by an object.
#[doc(alias = "COR_PRF_FRAME_INFO")]
#[derive(Clone, Copy)]
pub struct FrameInfo<'callback> {
    raw: usize,
    delivered: GcTriggerCount,
    callback: PhantomData<(&'callback (), *const ())>,
}

impl FrameInfo<'_> {
    /// Creates a frame from its native number.
    ///
    /// # Safety
    ///
    /// The runtime passed the number to the hook or callback whose lifetime this has.
    #[must_use]
    pub unsafe fn from_raw(raw: usize) -> Self {
        Self::delivered(raw)
    }

    /// The native number of the frame.
    #[must_use]
    pub fn raw(self) -> usize {
        self.raw
    }

    /// The frame that the runtime passes now, if any.
    pub(crate) fn optional(raw: usize) -> Option<Self> {
        (raw != 0).then(|| Self::delivered(raw))
    }

    fn delivered(raw: usize) -> Self {
        Self {
            raw,
            delivered: GcTriggerCount::now(),
            callback: PhantomData,
        }
    }
}

arguments! {
    /// Refused if the objects that the frame refers to may have moved since it was delivered.
    FrameInfo<'_> => usize = |frame, context| match frame.delivered.is_now() {
        true => Ok(frame.raw),
        false => Err(Error::rule(
            context.call,
            "a call that may trigger a GC was made since the frame was delivered, and may have moved its \
             objects: use frames before other calls",
        )),
    };
}

opaque! { FrameInfo<'_> }
