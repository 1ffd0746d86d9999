//! The least that coverage can cost: a profiler that sets bodies with the same probes, which were made before the program started.

use std::fs;
use std::path::Path;
use std::process::Command;

use clr_metadata::Assembly;
use clr_profiler::il::body::MethodBody;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::il::symbol::NoTokens;
use clr_profiler_tests::{Folder, Scenario, clsid};
use clr_profiler_tools::coverage::{CoveredModule, ModuleFiles};

const PROFILER: &str = "CoverFloor";

/// The address of the first probe: one that nothing else uses in programs on Linux.
const ADDRESS: i32 = 0x2000_0000;

/// The file in which the profiler counts.
const COUNTS: &str = "set";

/// The bodies of a program, in the files that the profiler reads.
pub(super) struct Floor {
    folder: Folder,
    probes: i32,
}

impl Floor {
    /// Makes the bodies of the covered methods in a folder of assemblies.
    pub(super) fn new(methods: &str, assemblies: &Path) -> Self {
        let mut floor = Self {
            folder: Folder::new(),
            probes: 0,
        };
        let patterns: MethodPatterns = methods.parse().unwrap();
        for entry in fs::read_dir(assemblies).unwrap() {
            let path = entry.unwrap().path();
            let is_library = path.extension().is_some_and(|ending| ending == "dll");
            // Libraries in machine code are there, too.
            let Some(files) = is_library.then(|| ModuleFiles::read(&path).ok()).flatten() else {
                continue;
            };
            let module = files.module().unwrap();
            if module
                .name()
                .is_ok_and(|name| patterns.names_assembly(name))
            {
                let bytes = fs::read(&path).unwrap();
                let bodies = floor.bodies(&module, &Assembly::parse(&bytes).unwrap());
                let name = path.file_name().unwrap().to_str().unwrap();
                fs::write(floor.folder.path(name), bodies).unwrap();
            }
        }
        floor
    }

    /// The file of a module.
    fn bodies(&mut self, module: &CoveredModule<'_>, assembly: &Assembly<'_>) -> Vec<u8> {
        let methods: Vec<_> = module.methods().collect();
        let mut offset = u32::try_from((methods.len() + 2) * 4).unwrap();
        let mut numbers = vec![u32::try_from(methods.len()).unwrap(), offset];
        let mut bodies = Vec::new();
        for method in methods {
            if let Some(map) = module.map(method).unwrap() {
                let mut body = MethodBody::new();
                let original = assembly.body(method).unwrap().unwrap();
                body.decode_lazily_into(original).unwrap();
                let first = ADDRESS + self.probes;
                let inserted = map.insert(&mut body, |probe, code| {
                    let address = first + i32::try_from(probe).unwrap();
                    code.ldc_i4(address).conv_u().ldc_i4(1).stind_i1();
                });
                inserted.unwrap();
                let mut bytes = Vec::new();
                body.encode(&mut NoTokens, &mut bytes).unwrap();
                self.probes += i32::try_from(map.probes.len()).unwrap();
                offset += u32::try_from(bytes.len()).unwrap();
                bodies.append(&mut bytes);
            }
            numbers.push(offset);
        }
        let mut file: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        file.append(&mut bodies);
        file
    }

    /// Has the program of a command load the profiler.
    pub(super) fn attach(&self, command: &mut Command) {
        let library = Scenario::new("Compiler").library_path();
        command.env("CORECLR_ENABLE_PROFILING", "1");
        command.env("CORECLR_PROFILER", clsid(PROFILER).to_string());
        command.env("CORECLR_PROFILER_PATH", library);
        command.env("COVER_FLOOR", self.folder.path(""));
        let probes = format!("{ADDRESS} {}", self.probes);
        command.env("COVER_FLOOR_PROBES", probes);
    }

    /// The number of bodies that were set in the last run, and of probes that were hit.
    pub(super) fn counts(&self) -> (u32, u32) {
        let path = self.folder.path(COUNTS);
        let text = fs::read_to_string(&path).expect("a program with the profiler");
        fs::remove_file(path).unwrap();
        let mut sums = [0, 0];
        for line in text.lines() {
            for (sum, number) in sums.iter_mut().zip(line.split(' ')) {
                *sum += number.parse::<u32>().unwrap();
            }
        }
        let [bodies, hits] = sums;
        (bodies, hits)
    }
}
