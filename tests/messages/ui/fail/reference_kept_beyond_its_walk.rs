use std::ops::ControlFlow;

use clr_profiler::prelude::*;

fn kept(info: &ProfilerInfo, object: ObjectId<'_>) -> Result<()> {
    let mut references = Vec::new();
    info.enumerate_object_references(object, |reference| {
        references.push(reference.target);
        ControlFlow::Continue(())
    })?;
    for reference in references {
        info.class_from_object(reference)?;
    }
    Ok(())
}

fn main() {}
