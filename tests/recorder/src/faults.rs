//! Injected failures of the profiler's calls.
//!
//! `CLR_PROFILER_FAULTS` is a list of `Interface::Method=FAULT@PERIOD` with semicolons between: every
//! `PERIOD`th call of the method, counted over the whole process, is broken. `FAULT` is
//!
//! - an `HRESULT` in hexadecimal digits, which is returned without calling the runtime;
//! - `null`: the returned pointer is null, without calling the runtime;
//! - `short`: the runtime is called, and every signature that it returns ends after half its length.

use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use stand_in::{Call, NativeMethod};

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// This is returned.
    Returns(usize),
    /// Signatures are truncated.
    Short,
}

struct Plan {
    method: String,
    fault: Fault,
    period: u64,
    calls: AtomicU64,
}

/// The fault for this call, if it gets one.
pub(crate) fn strike(method: &NativeMethod) -> Option<Fault> {
    static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| parse(&env::var("CLR_PROFILER_FAULTS").unwrap_or_default()));
    if plans.is_empty() {
        return None;
    }
    let name = method.name();
    let plan = plans.iter().find(|plan| plan.method == name)?;
    let call = plan.calls.fetch_add(1, Ordering::Relaxed) + 1;
    call.is_multiple_of(plan.period).then_some(plan.fault)
}

/// Truncates the signatures that a call has returned.
pub(crate) fn cut_signatures(call: &Call<'_>) {
    for (index, parameter) in call.method.facts.parameters.iter().enumerate() {
        let is_length = parameter.name.starts_with("pcb") && parameter.pointee == 4;
        let length: *mut u32 = call.pointer(index);
        if is_length && !length.is_null() {
            // SAFETY: the method has succeeded, and has put a number there.
            unsafe { *length /= 2 };
        }
    }
}

/// # Panics
///
/// If the list is invalid: the test must notice.
fn parse(list: &str) -> Vec<Plan> {
    let plans = list.split(';').filter(|plan| !plan.is_empty());
    plans
        .map(|plan| {
            let parts = plan.split_once('=').and_then(|(method, rest)| {
                let (fault, period) = rest.split_once('@')?;
                let fault = match fault {
                    "null" => Fault::Returns(0),
                    "short" => Fault::Short,
                    code => Fault::Returns(u32::from_str_radix(code, 16).ok()? as usize),
                };
                let period = period.parse().ok().filter(|period| *period > 0)?;
                Some((method.to_owned(), fault, period))
            });
            let (method, fault, period) = parts.unwrap_or_else(|| panic!("a fault: {plan}"));
            Plan {
                method,
                fault,
                period,
                calls: AtomicU64::new(0),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let plans = parse("IMethodMalloc::Alloc=null@2;IMetaDataImport::GetSigFromToken=short@1");
        assert_eq!(plans.len(), 2);
        assert_eq!(plans[0].method, "IMethodMalloc::Alloc");
        assert_eq!((plans[0].fault, plans[0].period), (Fault::Returns(0), 2));
        assert_eq!((plans[1].fault, plans[1].period), (Fault::Short, 1));
        let failed = parse("ICorProfilerInfo::GetILFunctionBody=80004005@1");
        assert_eq!(failed[0].fault, Fault::Returns(0x8000_4005));
        assert!(parse("").is_empty());
    }
}
