//! Converts the runtime's pointers to slices, strings and values.

use uuid::Uuid;

use clr_profiler_sys::GUID;

/// The array that a callback passes as pointer and length; empty for a null pointer.
///
/// # Safety
///
/// Unless it is null, `start` points to `length` values of `T` that remain valid and unchanged for `'a`.
pub(crate) unsafe fn slice<'a, T>(start: *const T, length: u32) -> &'a [T] {
    if start.is_null() {
        &[]
    } else {
        // SAFETY: the caller guarantees `length` values that are valid for `'a`; the runtime aligns its
        // arrays.
        unsafe { std::slice::from_raw_parts(start, length as usize) }
    }
}

/// The string that a callback passes as a pointer to zero-terminated UTF-16; empty for a null pointer.
///
/// Lone surrogates become U+FFFD.
///
/// # Safety
///
/// Unless it is null, `start` points to UTF-16 that ends with a zero and stays there unchanged during the call.
pub(crate) unsafe fn utf16_string(start: *const u16) -> String {
    if start.is_null() {
        return String::new();
    }
    let mut length = 0;
    // SAFETY: no unit before the zero was skipped, so that this one is within the text, which the caller promises.
    while unsafe { *start.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: these units were just read, and the caller promises that they stay during the call.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(start, length) })
}

/// The GUID that a callback passes by pointer, which may be null.
///
/// # Safety
///
/// Unless it is null, `guid` points to a GUID.
pub(crate) unsafe fn uuid(guid: *const GUID) -> Option<Uuid> {
    // SAFETY: the caller guarantees null or a GUID.
    unsafe { guid.as_ref() }.map(uuid_of)
}

/// Converts a GUID to the type of the public API.
pub(crate) fn uuid_of(guid: &GUID) -> Uuid {
    Uuid::from_fields(guid.data1, guid.data2, guid.data3, &guid.data4)
}

/// Converts a GUID to the native type.
pub(crate) fn guid_of(uuid: &Uuid) -> GUID {
    let (data1, data2, data3, data4) = uuid.as_fields();
    GUID::from_values(data1, data2, data3, *data4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_empty() {
        // SAFETY: null is allowed.
        unsafe {
            assert!(slice::<u64>(std::ptr::null(), 5).is_empty());
            assert_eq!(utf16_string(std::ptr::null()), "");
            assert_eq!(uuid(std::ptr::null()), None);
        }
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        // SAFETY: the array ends with a zero.
        let text = unsafe { utf16_string([0x41, 0xD800, 0x42, 0].as_ptr()) };
        assert_eq!(text, "A\u{FFFD}B");
    }

    #[test]
    fn guids_keep_their_order_of_bytes() {
        const VALUE: u128 = 0xDF63A541_5A33_4611_8829_F4E495985EE3;
        assert_eq!(uuid_of(&GUID::from_u128(VALUE)), Uuid::from_u128(VALUE));
        assert_eq!(guid_of(&Uuid::from_u128(VALUE)), GUID::from_u128(VALUE));
    }
}
