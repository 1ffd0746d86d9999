//! [`MetadataIter`]: an enumeration of metadata tokens.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::error::{Hresult, Result};
use crate::native::typed;
use clr_profiler_il::token::Token;
use clr_profiler_sys as sys;

/// Asks for the next tokens: enumeration, buffer, capacity, number of tokens given.
type Next<'m> = dyn FnMut(&sys::IMetaDataImport2, &mut *mut c_void, *mut u32, u32, &mut u32) -> Result<Hresult>
    + 'm;

/// How many tokens are asked for at once.
const BATCH: usize = 16;

/// The tokens of an enumeration, in the order of the metadata.
///
/// Dropping it early is fine. After an error it ends.
pub struct MetadataIter<'m, T> {
    import: &'m sys::IMetaDataImport2,
    next: Box<Next<'m>>,
    call: &'static str,
    native: *mut c_void,
    batch: [u32; BATCH],
    given: usize,
    taken: usize,
    ended: bool,
    tokens: PhantomData<T>,
}

impl<'m, T> MetadataIter<'m, T> {
    pub(super) fn new(
        import: &'m sys::IMetaDataImport2,
        call: &'static str,
        next: impl FnMut(
            &sys::IMetaDataImport2,
            &mut *mut c_void,
            *mut u32,
            u32,
            &mut u32,
        ) -> Result<Hresult>
        + 'm,
    ) -> Self {
        Self {
            import,
            next: Box::new(next),
            call,
            native: std::ptr::null_mut(),
            batch: [0; BATCH],
            given: 0,
            taken: 0,
            ended: false,
            tokens: PhantomData,
        }
    }

    fn refill(&mut self) -> Result<()> {
        let mut given = 0;
        (self.taken, self.given) = (0, 0);
        let answer = (self.next)(
            self.import,
            &mut self.native,
            self.batch.as_mut_ptr(),
            BATCH as u32,
            &mut given,
        );
        self.given = BATCH.min(given as usize);
        self.ended = self.given == 0 || answer.is_err();
        answer.map(drop)
    }
}

impl<T> Iterator for MetadataIter<'_, T>
where
    T: TryFrom<Token>,
    T::Error: fmt::Display,
{
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken == self.given
            && !self.ended
            && let Err(error) = self.refill()
        {
            self.given = 0;
            return Some(Err(error));
        }
        let token = *self.batch.get(..self.given)?.get(self.taken)?;
        self.taken += 1;
        Some(typed(self.call, token))
    }
}

impl<T> Drop for MetadataIter<'_, T> {
    fn drop(&mut self) {
        if !self.native.is_null() {
            // SAFETY: the enumeration was opened by this interface and is closed once.
            unsafe { self.import.deref().CloseEnum(self.native) };
        }
    }
}

impl<T> fmt::Debug for MetadataIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetadataIter")
    }
}
