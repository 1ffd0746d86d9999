//! The cost of verifying a body to which a prologue and an epilogue were added: the whole body, and the inserted code
//! alone, as `Method::rewrite` does where that is enough.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench verify            # 5 rounds
//! cargo bench -p clr_profiler_tests --bench verify -- 15
//! ```
//!
//! The bodies are those of .NET 8's framework. The tokens have their meanings in the assemblies; these are cached
//! from the first verification on. The time of a body is the least of all rounds, in which the two ways alternate, so that
//! other activity of the machine is not in it. Both ways must find the same violations.

#[path = "../tests/corpus/files.rs"]
mod files;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use assembly_reader::{Assembly, Framework, Method, Tokens};
use clr_profiler_il::body::{EncodeBuffers, MethodBody};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_il::verify::{MethodContext, VerifyBuffers};
use examples_support::Pinned;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.find_map(|argument| argument.parse().ok());
    match run(rounds.unwrap_or(5)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("verify: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rounds: usize) -> Result<()> {
    let files = files::assemblies(&Pinned::NET_8).ok_or("the runtime is missing")?;
    let assemblies = files.iter().map(|(_, bytes)| Assembly::open(bytes));
    let framework = Framework::new(assemblies.collect::<std::result::Result<_, _>>()?);
    let mut sums = Sums::default();
    let mut memory = Memory::new();
    for index in 0..framework.len() {
        let (Some(assembly), Some(tokens)) = (framework.get(index), framework.tokens(index)) else {
            continue;
        };
        for method in assembly.all_methods() {
            memory.method(&method?, &tokens, rounds, &mut sums)?;
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / sums.bodies as f64;
    println!("{}: {} bodies", Pinned::NET_8.name, sums.bodies);
    println!("whole body      {:>8.0} ns", each(sums.whole));
    println!("inserted code   {:>8.0} ns", each(sums.inserted));
    Ok(())
}

#[derive(Default)]
struct Sums {
    bodies: usize,
    whole: Duration,
    inserted: Duration,
}

/// The memory that is reused from body to body.
struct Memory {
    code: Fragment,
    body: MethodBody,
    checked: MethodBody,
    buffers: EncodeBuffers,
    verifying: VerifyBuffers,
    out: Vec<u8>,
}

impl Memory {
    fn new() -> Self {
        let mut code = Fragment::new();
        code.ldc_i4(7).pop();
        Self {
            code,
            body: MethodBody::new(),
            checked: MethodBody::new(),
            buffers: EncodeBuffers::new(),
            verifying: VerifyBuffers::new(),
            out: Vec::new(),
        }
    }

    fn method(
        &mut self,
        method: &Method<'_>,
        tokens: &Tokens<'_, '_>,
        rounds: usize,
        sums: &mut Sums,
    ) -> Result<()> {
        let Some(original) = method.body else {
            return Ok(());
        };
        let signature = MethodSig::parse(method.signature)?;
        let references = tokens.references(method.token);
        let owner = tokens.owner(method.token);
        let context = MethodContext {
            signature: &signature,
            this_is_pointer: owner.as_ref().is_some_and(is_value_type),
            references: &references,
        };
        let Self {
            code,
            body,
            checked,
            buffers,
            verifying,
            out,
        } = self;
        body.decode_lazily_into(original)?;
        body.prologue(code)?;
        body.before_ret(code)?;
        out.clear();
        body.encode_with(buffers, &mut NoTokens, out)?;

        let mut least = [Duration::MAX; 2];
        for _ in 0..rounds {
            let began = Instant::now();
            checked.decode_into(out)?;
            let whole = checked.verify_changes_with(verifying, original, &context, tokens);
            let middle = Instant::now();
            let memory = (&mut *checked, &mut *verifying);
            let inserted = body.verify_encoded_with(out, original, memory, || context, tokens)?;
            let ended = Instant::now();
            if whole != inserted {
                return Err(format!("{}: {whole:?}, {inserted:?}", method.token).into());
            }
            let times = [middle - began, ended - middle];
            least = [0, 1].map(|way| least[way].min(times[way]));
        }
        sums.bodies += 1;
        sums.whole += least[0];
        sums.inserted += least[1];
        Ok(())
    }
}

/// Whether a type's methods take a pointer as `this`.
fn is_value_type(owner: &TypeSig) -> bool {
    !matches!(
        owner,
        TypeSig::Class(_)
            | TypeSig::Object
            | TypeSig::String
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            }
    )
}
