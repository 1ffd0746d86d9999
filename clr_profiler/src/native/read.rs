//! Reading text and arrays of any length by calls that take a buffer.

use crate::error::{Error, Hresult, Result};

/// An upper limit for the bytes of a text or an array of the runtime.
const MOST: usize = 1 << 30;

/// A zeroed buffer of the number of elements that the runtime requires.
///
/// # Errors
///
/// There is no memory for them, which would otherwise end the process.
pub(crate) fn zeroed<T: Clone + Default>(count: usize) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    buffer
        .try_reserve_exact(count)
        .map_err(|_| no_memory(count))?;
    buffer.resize(count, T::default());
    Ok(buffer)
}

/// Resizes and clears a buffer to the number of elements that the runtime requires.
///
/// # Errors
///
/// There is no memory for them, or the number cannot be right.
pub(crate) fn clear_to<T: Clone + Default>(buffer: &mut Vec<T>, count: usize) -> Result<()> {
    if count.saturating_mul(size_of::<T>()) > MOST {
        return Err(no_memory(count));
    }
    buffer.clear();
    buffer
        .try_reserve_exact(count)
        .map_err(|_| no_memory(count))?;
    buffer.resize(count, T::default());
    Ok(())
}

#[cold]
fn no_memory(count: usize) -> Error {
    Error::invalid(
        "a result of the runtime",
        format_args!("there is no memory for the {count} elements that it requires"),
    )
}

/// Reads text by a call that takes a buffer with its capacity, and returns the required length.
///
/// Both count UTF-16 code units with the terminating zero. Some calls truncate the text silently, others
/// fail if the buffer is too small, so the returned length decides.
pub(crate) fn read_text(
    mut call: impl FnMut(u32, &mut u32, *mut u16) -> Result<Hresult>,
) -> Result<String> {
    let mut on_stack = [0u16; 256];
    let mut needed = 0;
    let first = call(on_stack.len() as u32, &mut needed, on_stack.as_mut_ptr());
    if needed as usize <= on_stack.len() {
        first?;
        return Ok(text_until_zero(
            on_stack.get(..needed as usize).unwrap_or_default(),
        ));
    }
    // The length may grow between two calls, but not forever.
    let mut buffer = Vec::new();
    for _ in 0..4 {
        let capacity = needed;
        clear_to(&mut buffer, capacity as usize)?;
        let answer = call(capacity, &mut needed, buffer.as_mut_ptr());
        if needed <= capacity {
            answer?;
            break;
        }
    }
    Ok(text_until_zero(&buffer))
}

/// UTF-16 up to its first zero; lone surrogates become U+FFFD.
fn text_until_zero(text: &[u16]) -> String {
    let end = text
        .iter()
        .position(|unit| *unit == 0)
        .unwrap_or(text.len());
    String::from_utf16_lossy(text.get(..end).unwrap_or_default())
}

/// Reads an array by a call that takes a buffer with its capacity, and returns a count.
///
/// Some calls return the number of existing elements, others the number of elements written: a full buffer
/// may be too small, and a larger one is tried.
pub(crate) fn read_array<T: Clone + Default>(
    mut call: impl FnMut(u32, &mut u32, *mut T) -> Result<Hresult>,
) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    // Enough for most results at once; some calls refuse a capacity of zero.
    let mut capacity: u32 = 8;
    // Starting at 8, four times as many each time, which exceeds any possible number.
    for _ in 0..12 {
        clear_to(&mut buffer, capacity as usize)?;
        let mut count = 0;
        let answer = call(capacity, &mut count, buffer.as_mut_ptr());
        if count < capacity {
            answer?;
            buffer.truncate(count as usize);
            return Ok(buffer);
        }
        if count == capacity {
            answer?;
            capacity = capacity.saturating_mul(4);
        } else {
            // One more than required, to recognise a complete result.
            capacity = count.saturating_add(1);
        }
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// A call that returns `text`, truncated to the capacity, as the runtime does.
    fn runtime(text: &str) -> impl FnMut(u32, &mut u32, *mut u16) -> Result<Hresult> {
        let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
        move |capacity, needed, buffer| {
            *needed = text.len() as u32;
            let fits = text.len().min(capacity as usize);
            // SAFETY: the buffer has `capacity` units.
            unsafe { buffer.copy_from_nonoverlapping(text.as_ptr(), fits) };
            if fits < text.len() {
                return Err(Error::call("X::Y", Hresult::E_FAIL));
            }
            Ok(Hresult::S_OK)
        }
    }

    #[test]
    fn text_of_every_length_is_whole() {
        for length in [0, 1, 254, 255, 256, 257, 5_000] {
            let text = "ä".repeat(length);
            assert_eq!(read_text(runtime(&text)).unwrap(), text);
        }
    }

    #[test]
    fn a_failure_is_a_failure() {
        let answer = read_text(|_, _, _| Err(Error::call("X::Y", Hresult::E_FAIL)));
        assert_eq!(
            answer.unwrap_err().to_string(),
            "X::Y failed with E_FAIL (0x80004005)"
        );
    }

    #[test]
    fn arrays_are_sized_by_the_call() {
        let values = read_array(|capacity, count, buffer: *mut u32| {
            *count = 3;
            for index in 0..capacity.min(3) {
                // SAFETY: the buffer has `capacity` values.
                unsafe { buffer.add(index as usize).write(index * 10) };
            }
            Ok(Hresult::S_OK)
        });
        assert_eq!(values.unwrap(), [0, 10, 20]);
        let none = read_array(|_, count, _: *mut u32| {
            *count = 0;
            Ok(Hresult::S_OK)
        });
        assert_eq!(none.unwrap(), []);
    }

    #[test]
    fn arrays_of_every_length_are_whole_whatever_the_call_tells() {
        for length in [0, 7, 8, 9, 31, 32, 33, 5_000] {
            for tells_all in [true, false] {
                let values = read_array(|capacity, count, buffer: *mut u32| {
                    let given = capacity.min(length);
                    for index in 0..given {
                        // SAFETY: the buffer has `capacity` values.
                        unsafe { buffer.add(index as usize).write(index) };
                    }
                    *count = if tells_all { length } else { given };
                    Ok(Hresult::S_OK)
                });
                assert_eq!(values.unwrap(), (0..length).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_size_that_cannot_be_right_is_an_error() {
        let text = read_text(|_, needed, _| {
            *needed = u32::MAX;
            Ok(Hresult::S_OK)
        });
        let list = read_array(|_, count, _: *mut u64| {
            *count = u32::MAX - 1;
            Ok(Hresult::S_OK)
        });
        let expected = "a result of the runtime: there is no memory for the 4294967295 elements \
                        that it requires";
        assert_eq!(text.unwrap_err().to_string(), expected);
        assert_eq!(list.unwrap_err().to_string(), expected);
        assert!(zeroed::<u8>(usize::MAX).is_err());
        assert_eq!(zeroed::<u8>(3).unwrap(), [0; 3]);
    }

    #[test]
    fn a_failed_call_for_an_array_is_a_failure() {
        let answer = read_array(|_, _, _: *mut u32| Err(Error::call("X::Y", Hresult::E_FAIL)));
        assert_eq!(answer.unwrap_err().hresult(), Hresult::E_FAIL);
    }
}
