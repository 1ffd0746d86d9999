#!/usr/bin/env bash
# Runs the verbs of `cargo clr` on the sample program, and writes the first lines of their results to docs/src/outputs.md.
# The runtime is that of CLR_PROFILER_DOTNET, DOTNET_ROOT or PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build -p cargo-clr
command=$PWD/target/debug/cargo-clr
sample=$PWD/examples/support/samples/Sample.dll
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

# The words of a verb, the file that it writes, and its lines: cut on the right, without those of no meaning here.
shown() {
    local words=$1 file=$2
    shift 2
    # shellcheck disable=SC2086
    (cd "$folder" && "$command" $words -o "$file" "$@" -- "$sample" >/dev/null 2>err)
    printf '\n## %s\n\n```text\n$ cargo clr %s -o %s%s -- Sample.dll\n' "${words%% *}" "$words" "$file" "${*:+ $*}"
    grep -v '^$' "$folder/$file" | head -n 10 | cut -c 1-110 | sed 's/ *$//; s/thread [0-9]*/thread 4711/'
    printf '```\n\n'
    sed "s|$folder/||; s/^/> /" "$folder/err"
}

{
    cat <<'TEXT'
# The output of each verb

The first ten lines of the results of [`cargo clr`](command.md) for the sample program, a shop, on .NET 8.0.4;
below them the line that the command prints. `docs/outputs.sh` has run the verbs and written this page.
TEXT
    shown "cpu --wall" cpu.txt
    shown gc gc.txt
    shown exceptions exceptions.txt
    shown log log.txt --methods 'Shop.**'
    shown calls calls.txt --methods 'Shop.**'
    shown alloc allocations.txt
    shown heap heap.txt
    (cd "$folder" && "$command" trace --methods 'Shop.**' --summary summary.txt -o trace.json -- "$sample" >/dev/null 2>err)
    printf '\n## trace\n\n```text\n$ cargo clr trace --methods "Shop.**" --summary summary.txt -o trace.json -- Sample.dll\n'
    head -n 10 "$folder/summary.txt" | cut -c 1-110 | sed 's/ *$//'
    printf '```\n\n'
    sed "s|$folder/||; s/^/> /" "$folder/err"
    printf '\n## doctor\n\n```text\n$ CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger cargo clr doctor\n'
    CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger "$command" doctor || :
    printf '```\n'
} >"$folder/page"
mv "$folder/page" docs/src/outputs.md
