//! The names of all callbacks, and the nearest one to a misspelled name.
//!
//! A procedural macro cannot see the table of callbacks in `clr_profiler`; a test of the workspace
//! compares the two.

/// The callbacks that start and end a profiler.
pub(crate) const LIFECYCLE: &[&str] = &[
    "initialize",
    "initialize_for_attach",
    "load_as_notification_only",
    "shutdown",
];

/// The methods of the trait `Profiler`.
pub(crate) const CALLBACKS: &[&str] = &[
    "initialize",
    "initialize_for_attach",
    "load_as_notification_only",
    "shutdown",
    "app_domain_creation_started",
    "app_domain_creation_finished",
    "app_domain_shutdown_started",
    "app_domain_shutdown_finished",
    "assembly_load_started",
    "assembly_load_finished",
    "assembly_unload_started",
    "assembly_unload_finished",
    "module_load_started",
    "module_load_finished",
    "module_unload_started",
    "module_unload_finished",
    "module_attached_to_assembly",
    "class_load_started",
    "class_load_finished",
    "class_unload_started",
    "class_unload_finished",
    "function_unload_started",
    "jit_compilation_started",
    "jit_compilation_finished",
    "jit_cached_function_search_started",
    "jit_cached_function_search_finished",
    "jit_function_pitched",
    "jit_inlining",
    "thread_created",
    "thread_destroyed",
    "thread_assigned_to_os_thread",
    "remoting_client_invocation_started",
    "remoting_client_sending_message",
    "remoting_client_receiving_reply",
    "remoting_client_invocation_finished",
    "remoting_server_receiving_message",
    "remoting_server_invocation_started",
    "remoting_server_invocation_returned",
    "remoting_server_sending_reply",
    "unmanaged_to_managed_transition",
    "managed_to_unmanaged_transition",
    "runtime_suspend_started",
    "runtime_suspend_finished",
    "runtime_suspend_aborted",
    "runtime_resume_started",
    "runtime_resume_finished",
    "runtime_thread_suspended",
    "runtime_thread_resumed",
    "moved_references",
    "object_allocated",
    "objects_allocated_by_class",
    "object_references",
    "root_references",
    "exception_thrown",
    "exception_search_function_enter",
    "exception_search_function_leave",
    "exception_search_filter_enter",
    "exception_search_filter_leave",
    "exception_search_catcher_found",
    "exception_os_handler_enter",
    "exception_os_handler_leave",
    "exception_unwind_function_enter",
    "exception_unwind_function_leave",
    "exception_unwind_finally_enter",
    "exception_unwind_finally_leave",
    "exception_catcher_enter",
    "exception_catcher_leave",
    "com_classic_vtable_created",
    "com_classic_vtable_destroyed",
    "exception_clr_catcher_found",
    "exception_clr_catcher_execute",
    "thread_name_changed",
    "garbage_collection_started",
    "surviving_references",
    "garbage_collection_finished",
    "finalizeable_object_queued",
    "root_references2",
    "handle_created",
    "handle_destroyed",
    "profiler_attach_complete",
    "profiler_detach_succeeded",
    "rejit_compilation_started",
    "get_rejit_parameters",
    "rejit_compilation_finished",
    "rejit_error",
    "moved_references2",
    "surviving_references2",
    "conditional_weak_table_element_references",
    "get_assembly_references",
    "module_in_memory_symbols_updated",
    "dynamic_method_jit_compilation_started",
    "dynamic_method_jit_compilation_finished",
    "dynamic_method_unloaded",
    "event_pipe_event_delivered",
    "event_pipe_provider_created",
];

/// The closest of these names to a mistyped one, if one is close.
pub(crate) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase().replace("_", "");
    let distances = names
        .iter()
        .map(|callback| (distance(&name, &callback.replace('_', "")), *callback));
    let (distance, callback) = distances.min_by_key(|(distance, _)| *distance)?;
    // Up to half of the name may be wrong: beyond that it is another word.
    (distance * 2 <= name.len()).then_some(callback)
}

/// The number of characters to insert, remove, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before_previous = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let replaced = previous[j] + usize::from(a != b);
            let mut best = replaced.min(previous[j + 1] + 1).min(row[j] + 1);
            let is_swap = i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b;
            if is_swap {
                best = best.min(before_previous[j - 1] + 1);
            }
            row.push(best);
        }
        before_previous = std::mem::replace(&mut previous, row);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        assert_eq!(
            nearest("jit_compilation_startd", CALLBACKS),
            Some("jit_compilation_started")
        );
        assert_eq!(
            nearest("JITCompilationStarted", CALLBACKS),
            Some("jit_compilation_started")
        );
        assert_eq!(
            nearest("module_loaded", CALLBACKS),
            Some("module_load_started")
        );
        assert_eq!(nearest("initialise", CALLBACKS), Some("initialize"));
        assert_eq!(nearest("render", CALLBACKS), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
