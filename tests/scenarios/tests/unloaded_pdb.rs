//! The PDB of a module is dropped when the module is unloaded.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Reads the PDB of each copy of the program, and logs the bytes that the library holds.
pub(crate) struct UnloadedPdb;

#[profiler(clsid = clsid("UnloadedPdb"))]
impl Profiler for UnloadedPdb {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failed: {failure}")));
        Ok(Self)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if !info.module_info(module)?.name.ends_with("Unloads.dll") {
            return Ok(());
        }
        let before = info.overhead().held_bytes;
        let pdb = info.module_pdb(module)?;
        let held = info.overhead().held_bytes;
        log::line(format_args!("loaded {before} {held} {}", open_files()));
        drop(pdb);
        Ok(())
    }

    fn module_unload_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let held = info.overhead().held_bytes;
        let is_refused = info.module_pdb(module).is_err();
        log::line(format_args!("unloaded {held} {is_refused}"));
        Ok(())
    }
}

/// The number of files of PDBs that the process has open or mapped.
fn open_files() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let open = open.filter(|path| path.extension().is_some_and(|it| it == "pdb"));
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    open.count() + maps.lines().filter(|line| line.ends_with(".pdb")).count()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use clr_metadata::ImageLayout;
    use clr_metadata::pdb::WantedPdb;
    use clr_profiler_tests::{Folder, Scenario, profilee};

    use super::UnloadedPdb;

    fn is_dropped(program: &Path) {
        let scenario = Scenario::at(program.to_owned()).profiled_by::<UnloadedPdb>();
        scenario.compare(|plain, profiled| {
            let log = &profiled.log;
            assert_eq!(profiled.output(), plain.output(), "{log}");
            assert!(!log.contains("failed: "), "{log}");
            let (mut first, mut loads, mut unloads) = (None, 0, 0);
            // Some bytes stay for each module, so that its id is refused.
            let is_held = |held: usize, before: usize, alive: usize, size: usize| {
                let pdbs = before + alive * size;
                (pdbs..pdbs + size / 2).contains(&held)
            };
            for line in log.lines() {
                let words: Vec<_> = line.split(' ').collect();
                let number = |at: usize| words[at].parse::<usize>().unwrap();
                match words[0] {
                    "loaded" => {
                        // The program itself is the first one.
                        let (before, size) =
                            *first.get_or_insert((number(1), number(2) - number(1)));
                        assert!(size > 2000, "{line}: {log}");
                        assert!(
                            is_held(number(1), before, loads - unloads, size),
                            "{line}: {log}"
                        );
                        loads += 1;
                        assert!(
                            is_held(number(2), before, loads - unloads, size),
                            "{line}: {log}"
                        );
                        assert_eq!(number(3), 0, "{line}: {log}");
                    }
                    "unloaded" => {
                        unloads += 1;
                        let (before, size) = first.unwrap();
                        assert!(
                            is_held(number(1), before, loads - unloads, size),
                            "{line}: {log}"
                        );
                        assert_eq!(words[2], "true", "{line}: {log}");
                    }
                    _ => {}
                }
            }
            assert_eq!((loads, unloads), (9, 8), "{log}");
        });
    }

    #[test]
    fn that_is_embedded() {
        is_dropped(&profilee("Unloads"));
    }

    /// A copy of the program without its embedded PDB, and the PDB as a file.
    #[test]
    fn that_is_next_to_the_assembly() {
        let (folder, from) = (Folder::new(), profilee("Unloads"));
        let [program, pdb, config] =
            ["dll", "pdb", "runtimeconfig.json"].map(|it| folder.path(&format!("Unloads.{it}")));
        let wanted = WantedPdb::read(&File::open(&from).unwrap(), ImageLayout::File).unwrap();
        let found = wanted.find_at(&from).unwrap();
        fs::write(pdb, found.bytes()).unwrap();
        let mut image = fs::read(&from).unwrap();
        let embedded = image.windows(4).position(|it| it == b"MPDB").unwrap() as u32;
        // The entry of the debug directory: its type, then size, address and offset of the data.
        let entry = image
            .windows(16)
            .position(|it| it[..4] == 17_u32.to_le_bytes() && it[12..] == embedded.to_le_bytes());
        image[entry.unwrap()] = 0;
        fs::write(&program, image).unwrap();
        fs::copy(from.with_extension("runtimeconfig.json"), config).unwrap();
        is_dropped(&program);
    }
}
