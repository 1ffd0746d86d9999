//! The PDBs of loaded modules, each read once.

use std::collections::HashMap;
use std::env;
use std::fmt;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use clr_metadata::pdb::{FindError, PdbFile, WantedPdb};
use clr_metadata::{Bundle, BundledFileKind, ImageLayout};

use super::memory::Memory;
use crate::ids::ModuleId;
use crate::lifetimes::{InFlight, TargetState};

/// The PDB of a module, and the names of its documents.
#[derive(Debug)]
pub(crate) struct Symbols {
    pub(crate) file: PdbFile,
    documents: Mutex<HashMap<u32, Arc<str>>>,
}

impl Symbols {
    /// The name of a document, which `read` returns on the first call.
    pub(crate) fn document(
        &self,
        row: u32,
        read: impl FnOnce() -> clr_metadata::Result<String>,
    ) -> clr_metadata::Result<Arc<str>> {
        let mut documents = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = documents.get(&row) {
            return Ok(Arc::clone(name));
        }
        let name: Arc<str> = read()?.into();
        documents.insert(row, Arc::clone(&name));
        Ok(name)
    }
}

/// The PDB, or the reason why there is none.
pub(crate) type Found = Result<Arc<Symbols>, Arc<FindError>>;

/// The PDBs of a runtime's modules.
#[derive(Default)]
pub(crate) struct AllSymbols {
    modules: RwLock<HashMap<usize, Arc<OnceLock<Found>>>>,
    /// The PDBs in the bundle of the application: none, as a rule.
    bundled: OnceLock<Vec<String>>,
}

impl fmt::Debug for AllSymbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllSymbols").finish_non_exhaustive()
    }
}

/// Where a module was loaded from.
pub(crate) struct Loaded<'a> {
    /// The address of the image, if there is one.
    pub(crate) base: Option<usize>,
    pub(crate) layout: ImageLayout,
    /// The path, or another name.
    pub(crate) name: &'a str,
}

impl AllSymbols {
    /// The PDB of a module, if it was read before.
    pub(crate) fn known(&self, module: ModuleId) -> Option<Found> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        modules.get(&module.raw())?.get().cloned()
    }

    /// The PDB of a module, which is read on the first call. Other threads wait for that.
    pub(crate) fn of(&self, module: ModuleId, loaded: &Loaded<'_>) -> Found {
        // The module is not unloaded meanwhile.
        let _in_flight = InFlight::begin();
        if module.state() != TargetState::Live {
            return Err(Arc::new(FindError::NotNamed));
        }
        let slot = {
            let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(modules.entry(module.raw()).or_default())
        };
        slot.get_or_init(|| match self.find(loaded) {
            Ok(file) => Ok(Arc::new(Symbols {
                file,
                documents: Mutex::default(),
            })),
            Err(error) => Err(Arc::new(error)),
        })
        .clone()
    }

    /// Removes a module that is being unloaded.
    pub(crate) fn module_goes(&self, module: ModuleId) {
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.remove(&module.raw());
    }

    /// The bytes of all PDBs that are held.
    pub(crate) fn held_bytes(&self) -> usize {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        let found = modules
            .values()
            .filter_map(|slot| slot.get()?.as_ref().ok());
        found.map(|symbols| symbols.file.bytes().len()).sum()
    }

    fn find(&self, loaded: &Loaded<'_>) -> Result<PdbFile, FindError> {
        let path = Path::new(loaded.name);
        let application = env::current_exe().unwrap_or_default();
        // The image in memory is the one that runs: its file may have been replaced.
        let in_memory = loaded
            .base
            .map(|base| WantedPdb::read(&Memory::at(base), loaded.layout));
        let wanted = match in_memory {
            Some(Ok(wanted)) => wanted,
            _ if !path.is_absolute() => return Err(FindError::NotNamed),
            _ => {
                let opened = File::open(path).map_err(|error| FindError::Io {
                    path: path.to_owned(),
                    error,
                })?;
                WantedPdb::read(&opened, ImageLayout::File).map_err(|error| {
                    FindError::Malformed {
                        path: path.to_owned(),
                        error,
                    }
                })?
            }
        };
        // A module of a single-file application, or from memory, has no path: its PDB can be next to the application.
        let path = match (path.is_absolute(), path.file_name()) {
            (true, _) => path.to_owned(),
            (false, name) => application.with_file_name(name.unwrap_or_default()),
        };
        match wanted.clone().find_at(&path) {
            Err(error @ FindError::NotFound { .. }) if !path.exists() => {
                match self.find_in_bundle(&wanted, &application) {
                    Some(found) => found,
                    None => Err(error),
                }
            }
            found => found,
        }
    }

    /// The PDB in a single-file application; `None` if that has none of the name.
    fn find_in_bundle(
        &self,
        wanted: &WantedPdb,
        application: &Path,
    ) -> Option<Result<PdbFile, FindError>> {
        let name = wanted.file_name()?;
        let read = || fs::read(application).unwrap_or_default();
        let mut bytes = None;
        let bundled = self.bundled.get_or_init(|| {
            let bytes = bytes.insert(read());
            let bundle = Bundle::find(bytes);
            let files = bundle.iter().flat_map(|bundle| bundle.files().flatten());
            let symbols = files.filter(|file| file.kind == BundledFileKind::SYMBOLS);
            symbols.map(|file| file.path.to_owned()).collect()
        });
        if !bundled.iter().any(|path| is_named(path, name)) {
            return None;
        }
        let bytes = bytes.unwrap_or_else(read);
        let bundle = Bundle::find(&bytes).ok()?;
        let file = bundle
            .files()
            .flatten()
            .find(|file| file.kind == BundledFileKind::SYMBOLS && is_named(file.path, name))?;
        let path = application.join(file.path);
        Some(match file.contents() {
            Ok(contents) => wanted.accept(contents.into_owned(), path),
            Err(error) => Err(FindError::Malformed { path, error }),
        })
    }
}

/// Whether a path in a bundle has this file name.
fn is_named(path: &str, name: &str) -> bool {
    path.rsplit('/').next() == Some(name)
}

#[cfg(test)]
mod tests {
    use std::process;

    use super::*;

    /// The text whose SHA-256 marks bundles, inverted as in a program that must not be one itself.
    const INVERTED_MARK: [u8; 32] = [
        0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c, 0xfd, 0xeb, 0x28, 0x5f,
        0xcd, 0xec, 0x0a, 0x46, 0x19, 0x10, 0x51, 0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c,
        0x95, 0x51,
    ];

    /// A single-file application, of the version of .NET 6 and newer, with these files.
    fn bundle(files: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 8];
        bytes.extend(INVERTED_MARK.map(|byte| !byte));
        let mut rows = Vec::new();
        for (path, kind, contents) in files {
            for number in [bytes.len(), contents.len(), 0] {
                rows.extend((number as u64).to_le_bytes());
            }
            rows.extend([*kind, path.len() as u8]);
            rows.extend(path.as_bytes());
            bytes.extend(*contents);
        }
        let manifest = bytes.len() as u64;
        bytes[..8].copy_from_slice(&manifest.to_le_bytes());
        for number in [6, 0, files.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(*b"\x02id");
        bytes.extend([0; 40]);
        bytes.extend(rows);
        bytes
    }

    #[test]
    fn a_pdb_is_found_in_the_application() {
        let program = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/profilees/pdb/SourcesDebug.dll"
        ));
        let pdb = fs::read(program.with_extension("pdb")).unwrap();
        let wanted = WantedPdb::read(&File::open(program).unwrap(), ImageLayout::File).unwrap();
        let path = env::temp_dir().join(format!("clr_profiler-bundle-{}", process::id()));
        let find = |files: &[(&str, u8, &[u8])]| {
            fs::write(&path, bundle(files)).unwrap();
            let all = AllSymbols::default();
            let found = [(); 2].map(|()| all.find_in_bundle(&wanted, &path));
            // The second time, the names are known.
            let [first, second] = found;
            assert_eq!(first.is_some(), second.is_some());
            second
        };
        let other = (&b"an assembly"[..], &b"another"[..]);
        let found = find(&[("A.dll", 1, other.0), ("lib/SourcesDebug.pdb", 5, &pdb)]);
        assert_eq!(found.unwrap().unwrap().bytes(), pdb);
        // Another kind of file, or another name.
        assert!(find(&[("SourcesDebug.pdb", 1, &pdb)]).is_none());
        assert!(find(&[("NotSourcesDebug.pdb", 5, &pdb)]).is_none());
        let malformed = find(&[("SourcesDebug.pdb", 5, other.1)])
            .unwrap()
            .unwrap_err();
        assert!(
            malformed.to_string().ends_with(
                "SourcesDebug.pdb: there is no metadata: its signature is missing (at offset 0x0)"
            ),
            "{malformed}"
        );
        // No bundle at all.
        fs::write(&path, "a program").unwrap();
        assert!(
            AllSymbols::default()
                .find_in_bundle(&wanted, &path)
                .is_none()
        );
        fs::remove_file(path).unwrap();
    }
}
