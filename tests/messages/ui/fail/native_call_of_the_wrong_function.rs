use clr_profiler::rewrite::NativeCall;

extern "C" fn takes_text(_text: &str) {}

extern "C" fn of_generic<T>(_value: T) {}

fn calls() {
    let _ = NativeCall::new(takes_text);
    let _ = NativeCall::new(of_generic::<String>);
    let _ = NativeCall::new(|numbers: Vec<i32>| drop(numbers));
}

fn main() {}
