//! An interpreter with the features that these tests need, to compare a wrapped method with the
//! original.

use std::collections::HashMap;
use std::ops::Range;

use clr_profiler_il::body::{HandlerKind, MethodBody, Region};
use clr_profiler_il::instruction::{Instruction, InstructionId, Operand, Position};
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::symbol::Reference;

use crate::tokens::Tokens;

/// A number; also the exception of that type. 0 is null.
pub(crate) type Value = i64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Returned(Option<Value>),
    Threw(Value),
    /// The run exceeded its limit.
    Endless,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) trace: Vec<Value>,
    pub(crate) outcome: Outcome,
    pub(crate) args: Vec<Value>,
}

/// Runs a body, which returns a value or not, for at most this many steps.
pub(crate) fn run(
    body: &MethodBody,
    tokens: &Tokens,
    args: &[Value],
    returns: bool,
    fuel: u32,
) -> Run {
    let mut machine = Machine::new(body, tokens, args, returns, fuel);
    let outcome = machine.run(0, 0..machine.code.len());
    let outcome = match outcome {
        End::Returned(value) => Outcome::Returned(value),
        End::Threw(exception) => Outcome::Threw(exception),
        End::Endless => Outcome::Endless,
        End::HandlerEnded => panic!("endfinally outside of a handler\n{body}"),
    };
    Run {
        trace: machine.trace,
        outcome,
        args: machine.args,
    }
}

enum End {
    Returned(Option<Value>),
    Threw(Value),
    HandlerEnded,
    Endless,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Catches this exception; 0 catches all.
    Catch(Value),
    /// The start of the filter.
    Filter(usize),
    Finally,
    Fault,
}

struct Clause {
    kind: Kind,
    protected: Range<usize>,
    handler: Range<usize>,
    caught: Value,
}

struct Machine<'a> {
    body: &'a MethodBody,
    tokens: &'a Tokens,
    code: Vec<Instruction<'a>>,
    rank: HashMap<InstructionId, usize>,
    clauses: Vec<Clause>,
    args: Vec<Value>,
    /// `None` for a local that was not written yet.
    locals: HashMap<u16, Value>,
    stack: Vec<Value>,
    trace: Vec<Value>,
    returns: bool,
    fuel: u32,
}

impl<'a> Machine<'a> {
    fn new(
        body: &'a MethodBody,
        tokens: &'a Tokens,
        args: &[Value],
        returns: bool,
        fuel: u32,
    ) -> Self {
        let code: Vec<_> = body.instructions().collect();
        let rank = code
            .iter()
            .enumerate()
            .map(|(rank, one)| (one.id(), rank))
            .collect();
        let mut machine = Self {
            body,
            tokens,
            code,
            rank,
            clauses: Vec::new(),
            args: args.to_vec(),
            locals: HashMap::new(),
            stack: Vec::new(),
            trace: Vec::new(),
            returns,
            fuel,
        };
        let range = |region: Region| machine.at(region.start)..machine.at(region.end);
        machine.clauses = body
            .clauses()
            .map(|clause| Clause {
                kind: match clause.kind {
                    HandlerKind::Catch(name) => Kind::Catch(machine.caught_type(name)),
                    HandlerKind::Filter { start } => Kind::Filter(machine.at(start)),
                    HandlerKind::Finally => Kind::Finally,
                    HandlerKind::Fault => Kind::Fault,
                },
                protected: range(clause.try_region),
                handler: range(clause.handler),
                caught: 0,
            })
            .collect();
        machine
    }

    fn at(&self, position: Position) -> usize {
        match position {
            Position::Before(id) => self.rank[&id],
            Position::End => self.code.len(),
        }
    }

    /// `E7` catches 7, `E` everything.
    fn caught_type(&self, name: Reference<'_>) -> Value {
        let name = self.tokens.text(name);
        match name.strip_prefix('E') {
            Some("") => 0,
            Some(number) => number.parse().unwrap(),
            None => panic!("{name}"),
        }
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().expect("a value on the stack")
    }

    fn targets(&self, one: &Instruction<'_>) -> Vec<usize> {
        one.targets()
            .map(|label| self.at(self.body.position(label).unwrap()))
            .collect()
    }

    /// Runs from one instruction on; in a handler of finally, fault or filter, within its bounds.
    fn run(&mut self, start: usize, within: Range<usize>) -> End {
        let mut pc = start;
        loop {
            if self.fuel == 0 {
                return End::Endless;
            }
            self.fuel -= 1;
            assert!(pc < self.code.len(), "ran off the end\n{}", self.body);
            let one = self.code[pc];
            let mut next = pc + 1;
            let mut thrown = None;
            match one.opcode() {
                Opcode::Nop => {}
                Opcode::Pop => drop(self.pop()),
                Opcode::Dup => {
                    let value = self.pop();
                    self.stack.extend([value, value]);
                }
                Opcode::Ldnull => self.stack.push(0),
                Opcode::Add => {
                    let (right, left) = (self.pop(), self.pop());
                    self.stack.push(left + right);
                }
                Opcode::Br => next = self.targets(&one)[0],
                Opcode::Brtrue | Opcode::Brfalse => {
                    if (self.pop() != 0) == (one.opcode() == Opcode::Brtrue) {
                        next = self.targets(&one)[0];
                    }
                }
                Opcode::Switch => {
                    let chosen = usize::try_from(self.pop()).unwrap();
                    next = self.targets(&one).get(chosen).copied().unwrap_or(next);
                }
                Opcode::Leave => match self.leave(pc, self.targets(&one)[0]) {
                    Ok(target) => next = target,
                    Err((exception, from)) => thrown = Some((exception, from)),
                },
                Opcode::Throw => thrown = Some((self.pop(), (pc, 0))),
                Opcode::Rethrow => {
                    let clause = self.clauses.iter().find(|clause| {
                        matches!(clause.kind, Kind::Catch(_) | Kind::Filter(_))
                            && clause.handler.contains(&pc)
                    });
                    thrown = Some((clause.expect("a handler").caught, (pc, 0)));
                }
                Opcode::Endfinally | Opcode::Endfilter => return End::HandlerEnded,
                Opcode::Ret => {
                    let value = self.returns.then(|| self.pop());
                    assert!(self.stack.is_empty(), "values left\n{}", self.body);
                    return End::Returned(value);
                }
                Opcode::Call => self.call(&one),
                _ => self.variable(&one),
            }
            if let Some((exception, from)) = thrown {
                match self.handler_of(exception, from, &within) {
                    Ok(handler) => next = handler,
                    Err(end) => return end,
                }
            }
            pc = next;
        }
    }

    fn variable(&mut self, one: &Instruction<'_>) {
        let name = one.opcode().mnemonic().split('.').next().unwrap();
        let argument = one.argument().map(usize::from);
        match (name, one.int32()) {
            ("ldc", Some(number)) => self.stack.push(number.into()),
            ("ldarg", _) => self.stack.push(self.args[argument.unwrap()]),
            ("starg", _) => {
                let value = self.pop();
                self.args[argument.unwrap()] = value;
            }
            ("stloc", _) => {
                let value = self.pop();
                self.locals.insert(one.local().unwrap(), value);
            }
            ("ldloc", _) => {
                let local = one.local().unwrap();
                let value = self.locals.get(&local).copied();
                let value = value.or(self.body.init_locals().then_some(0));
                let Some(value) = value else {
                    panic!(
                        "the local {local} is read before it is written\n{}",
                        self.body
                    );
                };
                self.stack.push(value);
            }
            _ => panic!("{one:?}"),
        }
    }

    /// `Trace` records its argument; a constructor takes `this` and records 1000.
    fn call(&mut self, one: &Instruction<'_>) {
        let Operand::Reference(name) = one.operand() else {
            panic!("{one:?}");
        };
        let text = self.tokens.text(name);
        let noted = if text.contains("::Trace(") {
            self.pop()
        } else if text.contains("::.ctor(") {
            assert_eq!(self.pop(), self.args[0]);
            1000
        } else {
            panic!("{text}")
        };
        self.trace.push(noted);
    }

    /// Runs the finally handlers between an instruction and the target of its `leave`. An exception
    /// is returned with the position from which to search for handlers, and the first clause to
    /// check.
    fn leave(&mut self, pc: usize, target: usize) -> Result<usize, (Value, (usize, usize))> {
        self.stack.clear();
        for index in 0..self.clauses.len() {
            let clause = &self.clauses[index];
            let left = clause.protected.contains(&pc) && !clause.protected.contains(&target);
            if left && clause.kind == Kind::Finally {
                let handler = clause.handler.clone();
                if let End::Threw(exception) = self.run(handler.start, handler.clone()) {
                    return Err((exception, (handler.start, index + 1)));
                }
                self.stack.clear();
            }
        }
        Ok(target)
    }

    /// The handler that catches an exception, after running the handlers in between.
    fn handler_of(
        &mut self,
        mut exception: Value,
        (mut pc, first): (usize, usize),
        within: &Range<usize>,
    ) -> Result<usize, End> {
        for index in first..self.clauses.len() {
            let Clause {
                kind,
                ref protected,
                ref handler,
                ..
            } = self.clauses[index];
            let here = protected.start >= within.start && protected.end <= within.end;
            if !here || !protected.contains(&pc) {
                continue;
            }
            let handler = handler.clone();
            self.stack.clear();
            let caught = match kind {
                Kind::Catch(caught) => caught == 0 || caught == exception,
                Kind::Filter(start) => {
                    self.stack.push(exception);
                    // An exception in a filter is swallowed.
                    match self.run(start, start..handler.start) {
                        End::HandlerEnded => self.pop() != 0,
                        End::Endless => return Err(End::Endless),
                        _ => false,
                    }
                }
                Kind::Finally | Kind::Fault => {
                    match self.run(handler.start, handler.clone()) {
                        End::Threw(other) => (exception, pc) = (other, handler.start),
                        End::Endless => return Err(End::Endless),
                        _ => {}
                    }
                    false
                }
            };
            if caught {
                self.clauses[index].caught = exception;
                self.stack = vec![exception];
                return Ok(handler.start);
            }
        }
        Err(End::Threw(exception))
    }
}
