//! The registration of the profilers of this library in the Windows registry: the functions for `regsvr32`.
//!
//! A runtime whose variables name no library finds it by the class id.

use std::ffi::OsString;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;
use windows_registry::{CURRENT_USER, HSTRING, Key, LOCAL_MACHINE, Value};

use super::class::Class;
use crate::error::Hresult;
use crate::{profiler, runtime};
use clr_profiler_sys as sys;

/// A class could not be registered or unregistered.
const SELFREG_E_CLASS: i32 = 0x8004_0201_u32 as i32;
/// A key or value that does not exist.
const NOT_FOUND: i32 = 0x8007_0002_u32 as i32;

/// The key of all classes, which exists for the machine and for each user.
const CLASSES: &str = r"Software\Classes";
/// The key of the library of a class.
const SERVER: &str = "InprocServer32";

/// An error of the registry, as its HRESULT.
type Result<T> = std::result::Result<T, i32>;

/// `DllRegisterServer`: registers the classes for all users.
#[must_use]
pub fn register(classes: &[Class]) -> i32 {
    run(|library| Registry::MACHINE.register(classes, library))
}

/// `DllUnregisterServer`: removes the registration for all users.
#[must_use]
pub fn unregister(classes: &[Class]) -> i32 {
    run(|library| Registry::MACHINE.unregister(classes, library))
}

/// `DllInstall`: registers or unregisters the classes for the machine or the user, whom `words` names.
///
/// # Safety
///
/// `words` is null or points to UTF-16 with a zero at its end.
#[must_use]
pub unsafe fn install(classes: &[Class], is_install: i32, words: *const u16) -> i32 {
    // SAFETY: the caller guarantees the pointer.
    let words = unsafe { text(words) };
    let registry = match words.trim().to_ascii_lowercase().as_str() {
        "" | "machine" => Registry::MACHINE,
        "user" => Registry::USER,
        _ => return sys::E_INVALIDARG.0,
    };
    run(|library| match is_install {
        0 => registry.unregister(classes, library),
        _ => registry.register(classes, library),
    })
}

/// The text at a pointer, and an empty one for null.
///
/// # Safety
///
/// `words` is null or points to UTF-16 with a zero at its end.
unsafe fn text(words: *const u16) -> String {
    if words.is_null() {
        return String::new();
    }
    let units = (0..).map_while(|at| {
        // SAFETY: none of the units before is the zero at the end, so this one belongs to the text.
        let unit = unsafe { *words.add(at) };
        (unit != 0).then_some(unit)
    });
    char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Runs the work with the path of this library, and returns its HRESULT.
fn run(work: impl FnOnce(&Path) -> Result<()>) -> i32 {
    runtime::silence();
    let done = runtime::catch(|| match runtime::loaded_path() {
        Some(library) => work(&library),
        None => Err(SELFREG_E_CLASS),
    });
    match done {
        Ok(Ok(())) => sys::S_OK.0,
        Ok(Err(code)) => code,
        Err(_) => SELFREG_E_CLASS,
    }
}

/// A place for registrations.
#[derive(Clone, Copy)]
struct Registry {
    root: &'static Key,
    /// The key of all classes.
    classes: &'static str,
}

impl Registry {
    const MACHINE: Self = Self {
        root: LOCAL_MACHINE,
        classes: CLASSES,
    };
    const USER: Self = Self {
        root: CURRENT_USER,
        classes: CLASSES,
    };

    /// Registers all of these classes or, if one of them fails, none.
    fn register(self, classes: &[Class], library: &Path) -> Result<()> {
        let mut changes = Changes {
            registry: self,
            done: Vec::new(),
        };
        for class in classes {
            if let Err(code) = changes.register(class, library) {
                profiler::write(&format_args!(
                    "{} cannot be registered: {}",
                    braced(&class.clsid),
                    Hresult(code)
                ));
                changes.undo();
                return Err(code);
            }
        }
        Ok(())
    }

    /// Removes the registrations that name this library. After an error the others are removed all the same.
    fn unregister(self, classes: &[Class], library: &Path) -> Result<()> {
        let mut outcome = Ok(());
        for class in classes {
            if let Err(code) = self.unregister_class(&class.clsid, library) {
                profiler::write(&format_args!(
                    "{} cannot be unregistered: {}",
                    braced(&class.clsid),
                    Hresult(code)
                ));
                outcome = outcome.and(Err(code));
            }
        }
        outcome
    }

    fn unregister_class(self, clsid: &Uuid, library: &Path) -> Result<()> {
        let path = self.class(clsid);
        let Some(server) = self.open(&format!(r"{path}\{SERVER}"))? else {
            return Ok(());
        };
        let named = server.get_hstring("").map(|named| path_of(&named));
        match named {
            Ok(named) if !is_same(&named, library) => {
                profiler::write(&format_args!(
                    "{} is registered for another library, and stays so: {}",
                    braced(clsid),
                    named.display()
                ));
                return Ok(());
            }
            Ok(_) => {}
            Err(error) if error.code().0 == NOT_FOUND => return Ok(()),
            Err(error) => return Err(error.code().0),
        }
        drop(server);
        let class = self.create(&path)?;
        class.remove_tree(SERVER).map_err(|error| error.code().0)?;
        // Others may have added keys and values.
        let is_alone = is_empty(&class, |value| value.is_empty())?;
        drop(class);
        if is_alone { self.remove(&path) } else { Ok(()) }
    }

    /// The key of a class.
    fn class(self, clsid: &Uuid) -> String {
        format!(r"{}\CLSID\{}", self.classes, braced(clsid))
    }

    fn open(self, path: &str) -> Result<Option<Key>> {
        found(self.root.open(path))
    }

    /// Opens a key for changes, and creates it if it does not exist.
    fn create(self, path: &str) -> Result<Key> {
        self.root.create(path).map_err(|error| error.code().0)
    }

    fn remove(self, path: &str) -> Result<()> {
        self.root.remove_tree(path).map_err(|error| error.code().0)
    }
}

/// The changes of a registration, to be undone if it fails.
struct Changes {
    registry: Registry,
    done: Vec<Change>,
}

enum Change {
    /// A key that did not exist.
    Key(String),
    /// The earlier value with this name of a key.
    Value(String, &'static str, Option<Value>),
}

impl Changes {
    fn register(&mut self, class: &Class, library: &Path) -> Result<()> {
        let units: Vec<u16> = library.as_os_str().encode_wide().collect();
        let path = self.registry.class(&class.clsid);
        let server = format!(r"{path}\{SERVER}");
        for key in [&format!(r"{}\CLSID", self.registry.classes), &path, &server] {
            self.key(key)?;
        }
        self.set(&path, "", &HSTRING::from(class.display_name()))?;
        self.set(&server, "", &HSTRING::from_wide(&units))?;
        self.set(&server, "ThreadingModel", &HSTRING::from("Both"))
    }

    /// Creates a key if it does not exist.
    fn key(&mut self, path: &str) -> Result<()> {
        if self.registry.open(path)?.is_none() {
            self.registry.create(path)?;
            self.done.push(Change::Key(path.to_owned()));
        }
        Ok(())
    }

    /// Sets a value of a key.
    fn set(&mut self, path: &str, name: &'static str, value: &HSTRING) -> Result<()> {
        let key = self.registry.create(path)?;
        let earlier = found(key.get_value(name))?;
        key.set_hstring(name, value)
            .map_err(|error| error.code().0)?;
        self.done
            .push(Change::Value(path.to_owned(), name, earlier));
        Ok(())
    }

    /// Restores the earlier state, as far as the registry allows it.
    fn undo(self) {
        for change in self.done.into_iter().rev() {
            // The caller gets the error that was first.
            let _ = match change {
                Change::Key(path) => self.registry.remove(&path),
                Change::Value(path, name, earlier) => self.registry.create(&path).and_then(|key| {
                    match earlier {
                        Some(value) => key.set_value(name, &value),
                        None => key.remove_value(name),
                    }
                    .map_err(|error| error.code().0)
                }),
            };
        }
    }
}

/// `None` for a key or value that does not exist.
fn found<T>(answer: windows_registry::Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code().0 == NOT_FOUND => Ok(None),
        Err(error) => Err(error.code().0),
    }
}

/// Whether a key has no keys, and no values but those.
fn is_empty(key: &Key, but: impl Fn(&str) -> bool) -> Result<bool> {
    let mut keys = key.keys().map_err(|error| error.code().0)?;
    let mut values = key.values().map_err(|error| error.code().0)?;
    Ok(keys.next().is_none() && values.all(|(name, _)| but(&name)))
}

fn braced(clsid: &Uuid) -> String {
    format!("{:X}", clsid.braced())
}

fn path_of(value: &HSTRING) -> PathBuf {
    OsString::from_wide(value).into()
}

/// Whether two paths are of the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    one.as_os_str().eq_ignore_ascii_case(other)
        || match (one.canonicalize(), other.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
}
