//! A question to the system about the mapping at one address, which Linux answers from 6.11 on.
//!
//! It takes microseconds, where the list of all mappings takes milliseconds.

use std::ffi::c_ulong;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `struct procmap_query` of `linux/fs.h`.
#[repr(C)]
#[derive(Debug, Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    rights: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

/// `PROCMAP_QUERY`: the number 17 of `f`, by which a structure is read and written.
const PROCMAP_QUERY: c_ulong = 3 << 30 | (size_of::<Query>() as c_ulong) << 16 | 0x66 << 8 | 17;

/// `PROCMAP_QUERY_VMA_EXECUTABLE`.
const EXECUTABLE: u64 = 4;

/// The longest name: those of mappings that are no files are short.
const NAME: usize = 128;

/// A mapping, as the system describes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_executable: bool,
    /// Empty for memory without one.
    pub(super) name: String,
}

/// The mapping at an address, if there is one; an error where the system does not answer.
pub(super) fn mapping_at(address: usize) -> io::Result<Option<Answer>> {
    let file = File::open("/proc/self/maps")?;
    let mut name = [0_u8; NAME];
    let mut query = Query {
        size: size_of::<Query>() as u64,
        address: address as u64,
        name_size: NAME as u32,
        name: name.as_mut_ptr().expose_provenance() as u64,
        ..Query::default()
    };
    // SAFETY: the structure has the size that the call is told, and its name the room; older systems refuse the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), PROCMAP_QUERY, &raw mut query) };
    if answer != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ENOENT) => Ok(None),
            _ => Err(error),
        };
    }
    // The size has that of the 0 at its end.
    let name = name.get(..(query.name_size as usize).saturating_sub(1));
    Ok(Some(Answer {
        start: query.start as usize,
        end: query.end as usize,
        is_executable: query.rights & EXECUTABLE != 0,
        name: String::from_utf8_lossy(name.unwrap_or_default()).into_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::maps::Maps;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no ioctl")]
    fn the_answer_is_that_of_the_list() {
        let here = (mapping_at as fn(usize) -> io::Result<Option<Answer>> as *const ())
            .expose_provenance();
        let value = 0_u8;
        let on_stack = (&raw const value).expose_provenance();
        for address in [here, on_stack] {
            let listed = Maps::default().at(address).unwrap().clone();
            match mapping_at(address) {
                // The list has the whole path; a name that is too long is refused.
                Ok(Some(answer)) => {
                    let found = (
                        answer.start,
                        answer.end,
                        answer.is_executable,
                        &*answer.name,
                    );
                    let expected = (
                        listed.start,
                        listed.end,
                        listed.is_executable,
                        &*listed.path,
                    );
                    assert_eq!(found, expected);
                }
                Ok(None) => panic!("{address:x} is in {listed:?}"),
                Err(error) => {
                    let is_old = error.raw_os_error() == Some(libc::ENOTTY);
                    assert!(is_old || listed.path.len() >= NAME, "{error}");
                }
            }
        }
        assert!(mapping_at(16).map_or_else(
            |error| error.raw_os_error() == Some(libc::ENOTTY),
            |it| it.is_none()
        ));
    }
}
