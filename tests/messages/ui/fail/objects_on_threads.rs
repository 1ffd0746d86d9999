use clr_profiler::prelude::*;
use clr_profiler::info::{Object, ObjectValue};
use clr_profiler::events::{ObjectIds, Root, WeakTableElement};
use clr_profiler::hooks::{EnterCall, EnterInfo, LeaveCall, LeaveInfo};
use clr_profiler::info::{ArrayObject, FrameInfo, ObjectEnum, ObjectReference, StackFrame, StructValue};

fn sent<T: Send>() {}
fn shared<T: Sync>() {}

fn main() {
    sent::<ObjectId<'_>>();
    shared::<ObjectId<'_>>();
    sent::<ObjectIds<'_>>();
    sent::<ObjectReference<'_>>();
    sent::<ObjectEnum<'_>>();
    sent::<Object<'_>>();
    sent::<ArrayObject<'_>>();
    sent::<StructValue<'_>>();
    sent::<ObjectValue<'_>>();
    sent::<Root<'_>>();
    sent::<Roots<'_>>();
    sent::<RootIds<'_>>();
    sent::<WeakTableElement<'_>>();
    sent::<WeakTableElements<'_>>();
    sent::<FrameInfo<'_>>();
    sent::<StackFrame<'_>>();
    sent::<EnterInfo<'_>>();
    sent::<LeaveInfo<'_>>();
    sent::<EnterCall<'_, ()>>();
    sent::<LeaveCall<'_, ()>>();
    shared::<Roots<'_>>();
    shared::<ObjectValue<'_>>();
    shared::<GcScope>();
    sent::<GcScope>();
}
