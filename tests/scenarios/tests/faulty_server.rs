//! An ASP.NET Core server has faults from a file: its clients count as many as the profiler.

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::Faults;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Gives a server the faults of a file.
pub(crate) struct FaultyServer(Faults);

#[profiler(clsid = clsid("FaultyServer"))]
impl Profiler for FaultyServer {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let faults = Faults::open(std::env::var("FAULTS").map_err(Error::other)?)?;
        setup.attach(Instrumentation::new().faults(&faults))?;
        Ok(Self(faults))
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        for row in self.0.counts() {
            log::line(format_args!("{} of {}: {}", row.faults, row.calls, row.line));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use clr_profiler_tests::{Finished, Folder, Scenario};

    use super::FaultyServer;

    const CALLS: u64 = 400;
    const FAULTS: [&str; 3] = [
        "throw System.TimeoutException \"no answer\" in 5 % of FaultyServer.Shop.Pay",
        "return -1 in 5 % of FaultyServer.Shop.Count",
        "delay 300 ms in 5 % of FaultyServer.Shop.Place",
    ];

    /// The numbers of a line of the client: good, failed, other, slow.
    fn asked(profiled: &Finished, path: &str) -> [u64; 4] {
        let lines = profiled.stdout.lines();
        let line = lines.filter_map(|line| line.strip_prefix(path)).next();
        let line = line.unwrap_or_else(|| panic!("{path} {profiled:?}"));
        let words = line.split(' ').filter_map(|word| word.parse().ok());
        words.collect::<Vec<u64>>().try_into().unwrap()
    }

    /// The faults that the profiler has counted, by line.
    fn reported(profiled: &Finished) -> [u64; 3] {
        FAULTS.map(|line| {
            let end = format!(" of {CALLS}: {line}");
            let counts = profiled.log.lines().filter_map(|line| line.strip_suffix(&*end));
            let counts: Vec<u64> = counts.filter_map(|count| count.parse().ok()).collect();
            assert_eq!(counts.len(), 1, "{line} {}", profiled.log);
            counts[0]
        })
    }

    #[test]
    fn clients_of_a_server_get_the_faults_of_a_file() {
        let folder = Folder::new();
        let by_seed = RefCell::new(Vec::new());
        for (seed, clients) in [(7, "1"), (7, "4"), (8, "4")] {
            let file = folder.path(&format!("faults{seed}"));
            fs::write(&file, format!("seed {seed}\n{}\n", FAULTS.join("\n"))).unwrap();
            let scenario = Scenario::new("FaultyServer")
                .profiled_by::<FaultyServer>()
                .arg(clients)
                .env("FAULTS", file.to_str().unwrap());
            // The one that brings ASP.NET Core.
            scenario.on_each_runtime_where(
                |runtime| runtime.major == 9,
                |_, profiled| {
                    assert!(profiled.stdout.ends_with("stopped\n"), "{profiled:?}");
                    assert_eq!(profiled.stderr, "", "{profiled:?}");
                    assert_eq!(profiled.status.code(), Some(6), "{profiled:?}");
                    let [thrown, returned, delayed] = reported(profiled);
                    let [good, failed, other, _] = asked(profiled, "/pay ");
                    assert_eq!([good, failed, other], [CALLS - thrown, thrown, 0], "{profiled:?}");
                    let [good, failed, other, _] = asked(profiled, "/count ");
                    assert_eq!([good, failed, other], [CALLS - returned, 0, returned], "{profiled:?}");
                    let [good, failed, other, slow] = asked(profiled, "/place ");
                    assert_eq!([good, failed, other], [CALLS, 0, 0], "{profiled:?}");
                    // On a busy machine, other requests are slow, too.
                    assert!(slow >= delayed, "{profiled:?}");
                    for count in [thrown, returned, delayed] {
                        assert!((8..=34).contains(&count), "{count} {profiled:?}");
                    }
                    by_seed.borrow_mut().push((seed, [thrown, returned, delayed]));
                },
            );
        }
        let by_seed = by_seed.into_inner();
        for (seed, counts) in &by_seed {
            for (other, others) in &by_seed {
                assert_eq!(seed == other, counts == others, "{by_seed:?}");
            }
        }
    }
}
