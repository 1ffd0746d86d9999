//! Processes of Windows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{io, mem, ptr};

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, FILETIME, LocalFree, WAIT_OBJECT_0};
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::ProcessStatus::{
    K32EnumProcessModulesEx, K32EnumProcesses, K32GetModuleFileNameExW, LIST_MODULES_ALL,
};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_BASIC_INFORMATION, PROCESS_NAME_WIN32,
    PROCESS_QUERY_INFORMATION, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE,
    PROCESS_VM_READ, QueryFullProcessImageNameW, WaitForSingleObject,
};
use windows_sys::Win32::UI::Shell::CommandLineToArgvW;

/// The number of a user is that of Unix.
pub(crate) fn user(_process: u32) -> Option<u32> {
    None
}

/// Whether the process runs; in doubt it does.
pub(crate) fn is_alive(process: u32) -> bool {
    match open(process, PROCESS_SYNCHRONIZE) {
        // One that has ended is there as long as somebody has a handle of it.
        // SAFETY: the handle is open.
        Ok(handle) => unsafe { WaitForSingleObject(handle.as_raw_handle(), 0) != WAIT_OBJECT_0 },
        Err(error) => error.raw_os_error() != Some(ERROR_INVALID_PARAMETER as i32),
    }
}

/// When the process was started.
pub(crate) fn started(process: u32) -> Option<SystemTime> {
    /// From the first moment that Windows can express, in 1601, to 1970.
    const TO_1970: u64 = 11_644_473_600;
    let handle = open(process, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the handle is open, and there is room for each time.
    let answer = unsafe { GetProcessTimes(handle.as_raw_handle(), created, exited, kernel, user) };
    if answer == 0 {
        return None;
    }
    let parts = (u64::from(created.dwHighDateTime) << 32) | u64::from(created.dwLowDateTime);
    // The parts are tenths of a microsecond.
    let since = Duration::from_micros(parts / 10).checked_sub(Duration::from_secs(TO_1970))?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// The executable of a process.
pub(crate) fn executable(process: u32) -> Option<PathBuf> {
    let handle = open(process, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
    let mut path = [0; 4096];
    let mut length = path.len() as u32;
    // SAFETY: the handle is open, and there is room for this many characters.
    let answer = unsafe {
        QueryFullProcessImageNameW(
            handle.as_raw_handle(),
            PROCESS_NAME_WIN32,
            path.as_mut_ptr(),
            &mut length,
        )
    };
    let path = path.get(..length as usize).filter(|_| answer != 0)?;
    Some(PathBuf::from(OsString::from_wide(path)))
}

/// The executable as a file that this process can read.
pub(crate) fn image(process: u32) -> Option<PathBuf> {
    executable(process)
}

/// The current folder of a process.
pub(crate) fn folder(process: u32) -> Option<PathBuf> {
    let memory = Memory::open(process)?;
    let folder = memory.string(memory.parameters()? + FOLDER)?;
    (!folder.is_empty()).then(|| folder.into())
}

/// The environment of a process; `None` if this user may not read it.
pub(crate) fn environment(process: u32) -> Option<BTreeMap<String, String>> {
    let memory = Memory::open(process)?;
    let parameters = memory.parameters()?;
    let size = memory.word(parameters + ENVIRONMENT_SIZE)?;
    let text = memory.text(memory.word(parameters + ENVIRONMENT)?, size)?;
    let variables = text.split('\0').filter_map(|variable| {
        // The folders of drives are variables such as `=C:`.
        let (name, value) = variable
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    });
    Some(variables.collect())
}

/// The libraries in a process, each once; `None` if this user may not read them.
pub(crate) fn mappings(process: u32) -> Option<Vec<PathBuf>> {
    let handle = open(process, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ).ok()?;
    let mut modules = vec![ptr::null_mut(); 256];
    loop {
        let (room, mut size) = (mem::size_of_val(&*modules) as u32, 0);
        // SAFETY: the handle is open, and there is room for this many bytes.
        let answer = unsafe {
            K32EnumProcessModulesEx(
                handle.as_raw_handle(),
                modules.as_mut_ptr(),
                room,
                &mut size,
                LIST_MODULES_ALL,
            )
        };
        if answer == 0 {
            return None;
        }
        let count = size as usize / size_of::<usize>();
        let is_whole = count <= modules.len();
        modules.resize(count, ptr::null_mut());
        if is_whole {
            break;
        }
    }
    let paths = modules.into_iter().filter_map(|module| {
        let mut path = [0; 4096];
        // SAFETY: the handle is open, and there is room for this many characters.
        let length = unsafe {
            K32GetModuleFileNameExW(
                handle.as_raw_handle(),
                module,
                path.as_mut_ptr(),
                path.len() as u32,
            )
        };
        // It may have been unloaded.
        let path = path
            .get(..length as usize)
            .filter(|path| !path.is_empty())?;
        Some(PathBuf::from(OsString::from_wide(path)))
    });
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// The words with which a process was started.
pub(crate) fn command_line(process: u32) -> Vec<String> {
    let line = || {
        let memory = Memory::open(process)?;
        memory.string(memory.parameters()? + COMMAND_LINE)
    };
    line().map_or_else(Vec::new, |line: String| words(&line))
}

/// All processes that this user sees.
pub(crate) fn all() -> Vec<u32> {
    let mut processes = vec![0; 1024];
    loop {
        let (room, mut size) = (mem::size_of_val(&*processes) as u32, 0);
        // SAFETY: there is room for this many bytes.
        let answer = unsafe { K32EnumProcesses(processes.as_mut_ptr(), room, &mut size) };
        if answer == 0 {
            return Vec::new();
        }
        if size < room {
            processes.truncate(size as usize / size_of::<u32>());
            processes.sort_unstable();
            return processes;
        }
        processes.resize(processes.len() * 2, 0);
    }
}

fn open(process: u32, rights: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the call takes numbers alone.
    let handle = unsafe { OpenProcess(rights, 0, process) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was opened for this function alone.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// The words of a command line, as programs read it.
fn words(line: &str) -> Vec<String> {
    // For an empty one the system has the path of this program.
    if line.is_empty() {
        return Vec::new();
    }
    let line = wide(line);
    let mut count = 0;
    // SAFETY: the line ends with a null character.
    let words = unsafe { CommandLineToArgvW(line.as_ptr(), &mut count) };
    if words.is_null() {
        return Vec::new();
    }
    let word = |index| {
        // SAFETY: there are this many addresses of words, each of which ends with a null character.
        unsafe {
            let word = *words.add(index);
            let length = (0..).take_while(|at| *word.add(*at) != 0).count();
            String::from_utf16_lossy(std::slice::from_raw_parts(word, length))
        }
    };
    let found = (0..usize::try_from(count).unwrap_or(0)).map(word).collect();
    // SAFETY: the system has allocated it for this call, and nothing refers to it anymore.
    unsafe { LocalFree(words.cast()) };
    found
}

// Offsets on 64 bits: of the parameters in the block of a process, and of fields in the parameters.
const PARAMETERS: usize = 0x20;
const FOLDER: usize = 0x38;
const COMMAND_LINE: usize = 0x70;
const ENVIRONMENT: usize = 0x80;
const ENVIRONMENT_SIZE: usize = 0x3F0;

/// More than a command line or an environment can have.
const LARGE: usize = 1 << 24;

/// The memory of another process.
struct Memory(OwnedHandle);

impl Memory {
    fn open(process: u32) -> Option<Self> {
        open(process, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ)
            .ok()
            .map(Self)
    }

    /// The address of the parameters with which the process was started.
    fn parameters(&self) -> Option<usize> {
        let mut about = PROCESS_BASIC_INFORMATION::default();
        // SAFETY: the handle is open, and there is room for the answer of this kind.
        let status = unsafe {
            NtQueryInformationProcess(
                self.0.as_raw_handle(),
                ProcessBasicInformation,
                (&raw mut about).cast(),
                size_of_val(&about) as u32,
                ptr::null_mut(),
            )
        };
        let block = about.PebBaseAddress as usize;
        (status >= 0 && block != 0).then(|| self.word(block + PARAMETERS))?
    }

    fn word(&self, address: usize) -> Option<usize> {
        let mut bytes = [0; size_of::<usize>()];
        self.read(address, &mut bytes)?;
        Some(usize::from_ne_bytes(bytes))
    }

    /// The text whose length in bytes and whose address are here.
    fn string(&self, at: usize) -> Option<String> {
        let length = self.word(at)? & 0xFFFF;
        self.text(self.word(at + size_of::<usize>())?, length)
    }

    /// A text of this many bytes.
    fn text(&self, address: usize, size: usize) -> Option<String> {
        let mut bytes = vec![0; size.min(LARGE)];
        self.read(address, &mut bytes)?;
        let (units, _) = bytes.as_chunks();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_ne_bytes(*unit)).collect();
        Some(String::from_utf16_lossy(&units))
    }

    fn read(&self, address: usize, bytes: &mut [u8]) -> Option<()> {
        let mut count = 0;
        // SAFETY: the handle is open, and there is room for this many bytes. The other process is not changed.
        let answer = unsafe {
            ReadProcessMemory(
                self.0.as_raw_handle(),
                ptr::with_exposed_provenance(address),
                bytes.as_mut_ptr().cast(),
                bytes.len(),
                &mut count,
            )
        };
        (answer != 0 && count == bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let own = std::process::id();
        assert!(is_alive(own) && all().contains(&own));
        let age = SystemTime::now().duration_since(started(own).unwrap());
        assert!(age.unwrap() < Duration::from_secs(3600));
        let program = std::env::current_exe().unwrap();
        let name = program.file_name();
        let mappings = mappings(own).unwrap();
        assert!(
            mappings.iter().any(|path| path.file_name() == name),
            "{mappings:?}"
        );
        let image = image(own).unwrap();
        assert_eq!(image.file_name(), name);
        let own_folder = std::env::current_dir().unwrap();
        let text = |path: PathBuf| path.to_string_lossy().trim_end_matches('\\').to_lowercase();
        assert_eq!(folder(own).map(text), Some(text(own_folder)));
        let given: Vec<String> = std::env::args().collect();
        assert_eq!(command_line(own), given);
        let environment = environment(own).unwrap();
        assert_eq!(environment.get("PATH"), std::env::var("PATH").ok().as_ref());
    }

    #[test]
    fn a_process_that_has_ended() {
        let mut child = std::process::Command::new("cmd");
        let mut child = child.args(["/c", "exit"]).spawn().unwrap();
        let process = child.id();
        child.wait().unwrap();
        assert!(!is_alive(process) && !is_alive(u32::MAX));
        assert_eq!(mappings(u32::MAX), None);
        assert!(started(u32::MAX).is_none() && image(u32::MAX).is_none());
        assert!(command_line(u32::MAX).is_empty());
    }

    #[test]
    fn words_are_those_of_a_program() {
        let line = r#""C:\a b\dotnet.exe" exec "ä \"c\".dll" d"#;
        assert_eq!(
            words(line),
            [r"C:\a b\dotnet.exe", "exec", "ä \"c\".dll", "d"]
        );
        assert!(words("").is_empty());
    }
}
