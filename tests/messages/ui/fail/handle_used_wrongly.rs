use clr_profiler::prelude::*;
use clr_profiler::info::{HandleKind, ObjectHandle};

fn object_beyond_the_closure(info: &ProfilerInfo, handle: &ObjectHandle) -> Result<()> {
    let object = info.with_object_of_handle(handle, |object| object)?;
    if let Some(object) = object {
        info.class_from_object(object)?;
    }
    Ok(())
}

fn destroyed(info: &ProfilerInfo, object: ObjectId<'_>) -> Result<()> {
    let handle = info.create_handle(object, HandleKind::Strong)?;
    info.destroy_handle(handle)?;
    info.with_object_of_handle(&handle, |_| ())
}

fn copied(handle: &ObjectHandle) -> (ObjectHandle, ObjectHandle) {
    (handle.clone(), *handle)
}

fn main() {}
