use clr_profiler::prelude::*;

fn given<T: Default>() {}
fn converted<T: From<usize>>() {}
fn copied<T: Clone>() {}

fn main() {
    given::<FunctionId>();
    given::<ObjectId<'_>>();
    converted::<ModuleId>();
    // Of a copy the payload could be another one, and ids are read of it.
    copied::<EventPipeEvent<'_>>();
}
