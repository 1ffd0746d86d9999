use std::collections::BTreeMap;

use clr_profiler_tests::{Runtime, Sample, Scenario, name_of, profilee, runtimes};

use super::{InspectsShapes, LogsShapes, RejitsShapes, WrapsShapes};

/// The settings of compilation.
#[derive(Clone, Copy, Debug)]
struct Settings {
    tiers: bool,
    precompiled: bool,
    pgo: bool,
    quick_loops: bool,
    inlining: bool,
}

impl Settings {
    /// From the bits of a number, `inlining` being the lowest.
    fn of(bits: u8) -> Self {
        let is_set = |bit: u8| bits >> bit & 1 == 1;
        Self {
            tiers: is_set(4),
            precompiled: is_set(3),
            pgo: is_set(2),
            quick_loops: is_set(1),
            inlining: is_set(0),
        }
    }

    fn apply(self, mut scenario: Scenario) -> Scenario {
        let variables = [
            ("TieredCompilation", self.tiers),
            ("ReadyToRun", self.precompiled),
            ("TieredPGO", self.pgo),
            ("TC_QuickJitForLoops", self.quick_loops),
        ];
        for (name, is_on) in variables {
            let value = if is_on { "1" } else { "0" };
            // .NET Core 3.1 knows only the first name.
            scenario = scenario.env(&format!("COMPlus_{name}"), value);
            scenario = scenario.env(&format!("DOTNET_{name}"), value);
        }
        match self.inlining {
            true => scenario.env("SHAPES_INLINE", "1"),
            false => scenario,
        }
    }
}

/// All settings, or one of two for each of four profilers. Those are chosen so that any two settings, and each with
/// each profiler, are combined in all ways.
fn settings(profiler: usize) -> Vec<Settings> {
    if std::env::var_os("SHAPES_FULL").is_some() {
        return (0..32).map(Settings::of).collect();
    }
    let bits = [0b0000, 0b0011, 0b0101, 0b0110][profiler];
    let complement = !bits & 0b1111;
    let sample = Sample::one_of(2);
    let both = [bits, complement].into_iter().enumerate();
    both.filter(|(number, _)| sample.has(*number))
        .map(|(_, bits)| Settings::of(bits << 1))
        .collect()
}

/// The names of the profilers.
const PROFILERS: [fn() -> &'static str; 4] = [
    name_of::<LogsShapes>,
    name_of::<InspectsShapes>,
    name_of::<WrapsShapes>,
    name_of::<RejitsShapes>,
];

/// The profiler that uses ReJIT.
const REJITS: usize = 3;

/// The log of a profiler: numbers by name, and the other lines.
struct Told {
    numbers: BTreeMap<String, u64>,
    others: Vec<String>,
}

impl Told {
    fn of(log: &str) -> Self {
        let (mut numbers, mut others) = (BTreeMap::new(), Vec::new());
        for line in log.lines() {
            let number = line.split_once(' ').and_then(|(name, number)| {
                let number: u64 = number.parse().ok()?;
                Some((name.to_owned(), number))
            });
            match number {
                Some((name, number)) => drop(numbers.insert(name, number)),
                None => others.push(line.to_owned()),
            }
        }
        others.sort_unstable();
        Self { numbers, others }
    }

    fn number(&self, name: &str) -> u64 {
        let number = self.numbers.get(name).copied();
        number.unwrap_or_else(|| panic!("no {name} in {:?} {:?}", self.numbers, self.others))
    }
}

/// Runs the program under a profiler with each choice of settings on each runtime, and checks that
/// its behaviour is unchanged.
fn unnoticed(profiler: usize, program: &Scenario, assert: impl Fn(&Runtime, Settings, &Told)) {
    let helper = profilee("helper/Helper");
    let profiled = program
        .clone()
        .profiler(PROFILERS[profiler]())
        .env("SHAPES_HELPER", helper.to_str().unwrap());
    for runtime in runtimes() {
        let plain = program.start(runtime).finish();
        assert!(plain.status.success(), "{} {plain:?}", runtime.name);
        for settings in settings(profiler) {
            // If a method is inlined at the moment of its ReJIT request,
            // .NET Core 3.1 deadlocks by lock order inversion, and 8 crashes.
            if profiler == REJITS && runtime.major < 9 && settings.inlining {
                continue;
            }
            let finished = settings.apply(profiled.clone()).start(runtime).finish();
            let what = format!("{} {settings:?}", runtime.name);
            assert_eq!(
                finished.output(),
                plain.output(),
                "{what}\n{}",
                finished.log
            );
            let told = Told::of(&finished.log);
            println!("{what} {:?}", told.numbers);
            // By ReJIT, only some calls are of wrapped methods.
            let least = if profiler == REJITS { 1_000 } else { 50_000 };
            assert!(told.number("begun") > least, "{what}");
            assert_eq!(told.number("wrong"), 0, "{what}");
            assert(runtime, settings, &told);
        }
    }
}

/// Every method but these was rewritten, and nothing else was logged.
fn all_but(runtime: &Runtime, settings: Settings, told: &Told, refused: &[&str]) {
    let (missing, others): (Vec<_>, Vec<_>) = told
        .others
        .iter()
        .partition(|line| line.starts_with("missing "));
    assert_eq!(others, refused);
    // A method that is inlined everywhere may never be compiled; .NET 9 and 10 do not compile methods that the
    // program does not call but only prepares.
    if !settings.inlining && runtime.major < 9 {
        assert_eq!(missing, [""; 0]);
    }
    assert!(settings.inlining || missing.len() < 30, "{missing:?}");
    let rest = (refused.len() + missing.len()) as u64;
    assert_eq!(told.number("rewritten"), told.number("methods") - rest);
    assert!(told.number("methods") > 600);
}

const CONDITIONAL: &str = "refused ConditionalConstructorCall ShapesIL.Made..ctor(bool, int)";
const JUMP: &str = "refused Jmp ShapesIL.Ways.Jumps(int, int)";
const TAIL_CALLS: [&str; 3] = [
    "refused TailCall ShapesIL.Ways.TailIndirect(int)",
    "refused TailCall ShapesIL.Ways.TailSum(int, int)",
    "refused TailCall ShapesIL.Ways.TailVirtual(object)",
];
/// The runtime cannot compile them either, but calls back.
const VARIABLE_ARGUMENTS: [&str; 2] = [
    "refused VarArg Shapes.Pointers.Arguments(int)",
    "refused VarArg ShapesIL.Ways.VarArgs(int)",
];

#[test]
fn logged() {
    unnoticed(0, &Scenario::new("Shapes"), |runtime, settings, told| {
        let [a, b, c] = TAIL_CALLS;
        all_but(runtime, settings, told, &[JUMP, a, b, c]);
    });
}

#[test]
fn inspected() {
    unnoticed(1, &Scenario::new("Shapes"), |runtime, settings, told| {
        let [a, b] = VARIABLE_ARGUMENTS;
        all_but(runtime, settings, told, &[CONDITIONAL, JUMP, a, b]);
        // Nothing else was passed to the helper, and all kinds were.
        let looked = ["null", "values", "references"].map(|kind| told.number(kind));
        assert_eq!(looked.iter().sum::<u64>(), told.number("returned"));
        assert!(looked.iter().all(|number| *number > 1000), "{looked:?}");
    });
}

#[test]
fn wrapped() {
    unnoticed(2, &Scenario::new("Shapes"), |runtime, settings, told| {
        let ([a, b], [c, d, e]) = (VARIABLE_ARGUMENTS, TAIL_CALLS);
        all_but(runtime, settings, told, &[CONDITIONAL, JUMP, c, d, e, a, b]);
        assert_balanced(told);
    });
}

/// Each call that began returned or threw, and ended.
fn assert_balanced(told: &Told) {
    let [begun, returned, threw, ended] =
        ["begun", "returned", "threw", "ended"].map(|event| told.number(event));
    assert_eq!((begun, begun), (returned + threw, ended));
    assert!(threw > 100);
}

#[test]
fn wrapped_and_unwrapped_while_it_runs() {
    let program = Scenario::new("Shapes").arg("6");
    unnoticed(REJITS, &program, |_, _, told| {
        let ([a, b], [c, d, e]) = (VARIABLE_ARGUMENTS, TAIL_CALLS);
        let refused = [CONDITIONAL, JUMP, c, d, e, a, b];
        for line in &told.others {
            let is_known = line.starts_with("missing ") || refused.contains(&line.as_str());
            assert!(is_known, "{line}");
        }
        assert!(told.number("switched") > 5);
        assert!(told.number("rewritten") > 100);
        assert!(told.number("compiled") > 200);
        assert_balanced(told);
    });
}
