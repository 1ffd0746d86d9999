//! `Waits`, the program that does one piece of work for each line that it reads, until it is told to end.

use clr_profiler_launcher::{Attach, Error};

use crate::{Runtime, Scenario, Started, runtimes};

impl Scenario {
    /// Starts `Waits` on each runtime, up to the point at which it waits for work.
    pub fn waiting_on_each_runtime(&self, test: impl Fn(&Runtime, Started)) {
        for runtime in runtimes() {
            println!("on {}", runtime.name);
            let mut program = self.start(runtime);
            assert_eq!(program.line(), "ready");
            test(runtime, program);
        }
    }
}

impl Started {
    /// Attaches a profiler of the scenarios.
    ///
    /// # Errors
    ///
    /// Those of [`Attach::send`].
    pub fn attach(&self, profiler: &str, client_data: &[u8]) -> Result<(), Error> {
        Attach::new(self.id())
            .profiler(Scenario::new("Waits").profiler_library(profiler))
            .client_data(client_data)
            .send()
    }

    /// Tells `Waits` to end, and checks that it ends as without a profiler; returns the log.
    pub fn ends_well(mut self) -> String {
        assert_eq!(self.ask("end"), "ending");
        let finished = self.finish();
        assert_eq!(finished.status.code(), Some(5), "{}", finished.log);
        assert_eq!(finished.stderr, "", "{}", finished.log);
        finished.log
    }

    /// Has `Waits` do one more piece of work, and [end](Self::ends_well).
    pub fn works_and_ends_well(mut self) -> String {
        assert_eq!(self.ask("work 7"), "worked 777");
        self.ends_well()
    }
}
