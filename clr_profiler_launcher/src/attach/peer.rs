//! The process that listens at the other end of a connection.

use std::io;

/// The id of the process that called `listen`, in the namespace of this process; 0 if it is outside
/// of it. The kernel recorded it: the other side cannot choose it.
#[cfg(target_os = "linux")]
pub(super) fn listener(socket: &std::os::unix::net::UnixStream) -> io::Result<u32> {
    use std::os::fd::AsRawFd;

    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the socket is open, and there is room for the answer, with its length.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u32::try_from(peer.pid).unwrap_or(0))
}

/// The id of the process that created the named pipe.
#[cfg(windows)]
pub(super) fn listener(pipe: &std::fs::File) -> io::Result<u32> {
    use std::os::windows::io::AsRawHandle;
    use windows_sys::Win32::System::Pipes::GetNamedPipeServerProcessId;

    let mut process = 0;
    // SAFETY: the handle is that of an open file, and there is room for the answer.
    let answer = unsafe { GetNamedPipeServerProcessId(pipe.as_raw_handle(), &mut process) };
    if answer == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(process)
}

/// Whether there is no process with this id. One of another user may refuse to be opened, and is there.
#[cfg(windows)]
pub(super) fn is_gone(process: u32) -> bool {
    use windows_sys::Win32::Foundation::{CloseHandle, ERROR_INVALID_PARAMETER, WAIT_OBJECT_0};
    use windows_sys::Win32::System::Threading::{
        OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject,
    };

    // SAFETY: the call takes numbers alone.
    let handle = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, process) };
    if handle.is_null() {
        let error = io::Error::last_os_error().raw_os_error();
        return error == Some(ERROR_INVALID_PARAMETER as i32);
    }
    // A process that has ended is there as long as somebody has a handle of it.
    // SAFETY: the handle is that of the process, which is closed here alone.
    unsafe {
        let has_ended = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
        CloseHandle(handle);
        has_ended
    }
}
