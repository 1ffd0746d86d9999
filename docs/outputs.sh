#!/usr/bin/env bash
# Runs the verbs of `cargo clr` on the sample program, and writes the first lines of their results to docs/src/outputs.md.
# The runtime is that of CLR_PROFILER_DOTNET, DOTNET_ROOT or PATH; CARGO_CLR may name a command that was built before, and
# ROSLYN a folder with the C# compiler, which the tests fetch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command=${CARGO_CLR:-}
if [ -z "$command" ]; then
    cargo build -p cargo-clr
    command=$PWD/target/debug/cargo-clr
fi
roslyn=${ROSLYN:-$(dirname "$(find ~/.cache/clr_profiler/roslyn-* -name Microsoft.CodeAnalysis.CSharp.dll | head -n 1)")}
programs=$PWD/tests/profilees
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

# The result of a verb, for the words after its options: a cell of the table.
cell() {
    local verb=$1 status=0 size
    shift
    local -a options=()
    case $verb in
    calls | trace) options=(--methods "$methods") ;;
    patch) options=(--faults "$folder/faults.txt") ;;
    esac
    "$command" "$verb" "${options[@]}" -o "$folder/cell" "$@" >/dev/null 2>"$folder/err" || status=$?
    size=$(sed -n 's/.*wrote .* (\([^)]*\)).*/\1/p' "$folder/err")
    if [ -n "$size" ]; then
        printf ' %s |' "$size"
    elif [ "$status" = 2 ]; then
        printf ' refused |'
    else
        printf ' failed (%s) |' "$status"
        cat "$folder/err" >&2
    fi
}

# Each verb with each program, started and running. Each verb is attached to a process of its own: a tool that changes
# methods stays loaded.
table() {
    local verb
    printf '| verb | sample | C# compiler | busy program | `-p` of the sample | of the compiler | of the busy program |\n'
    printf '|---|---|---|---|---|---|---|\n'
    mkfifo "$folder/input" "$folder/output"
    for verb in cpu gc exceptions log calls alloc heap trace patch; do
        printf '| `%s` |' "$verb"
        cell "$verb" -- "$sample"
        cell "$verb" -- "$programs/Compiler.dll" "$roslyn" "$programs/Small.cs"
        sleep 3 | cell "$verb" -- "$programs/Endures.dll" calls
        attached_to_sample "$verb"
        attached_to_compiler "$verb"
        attached_to_busy "$verb"
        printf '\n'
    done
}

dotnet=${CLR_PROFILER_DOTNET:-dotnet}

# The sample ends within a second: it is held at its first line of output, by a pipe that is full, until the tool is there.
attached_to_sample() {
    local program reader
    exec 6<>"$folder/output"
    head -c 65536 /dev/zero >&6
    "$dotnet" exec "$sample" >"$folder/output" 5>&- 6>&- &
    program=$!
    sleep 1
    {
        sleep 1.5
        exec cat <&6 >/dev/null
    } &
    reader=$!
    cell "$1" -p "$program" --duration 3
    wait "$program" || :
    kill "$reader"
    wait "$reader" 2>/dev/null || :
    exec 6>&-
}

# The compiler with its small source over and over.
attached_to_compiler() {
    local program sources
    mapfile -t sources < <(yes "$programs/Small.cs" | head -n 2000)
    "$dotnet" exec "$programs/Compiler.dll" "$roslyn" "${sources[@]}" >/dev/null &
    program=$!
    sleep 3
    cell "$1" -p "$program" --duration 3
    kill "$program"
    wait "$program" 2>/dev/null || :
}

attached_to_busy() {
    local program
    "$dotnet" exec "$programs/Endures.dll" calls <"$folder/input" >/dev/null &
    program=$!
    exec 5>"$folder/input"
    sleep 1
    cell "$1" -p "$program" --duration 3
    exec 5>&-
    wait "$program" || :
}

# Of the compiler the methods that it calls once for each file or so: a trace of all is longer than the run.
methods='Shop.**; Compiler.**; Microsoft.CodeAnalysis.CSharp.CSharpCompilation.*; **.Changed'
printf 'seed 42\ndelay 1 ms in 5 %% of Shop.Store.*; Compiler.**; Microsoft.CodeAnalysis.CSharp.CSharpCompilation.*; **.Changed\n' >"$folder/faults.txt"

{
    cat <<'TEXT'
# The output of each verb

The first ten lines of the results of [`cargo clr`](command.md) for the sample program, a shop, on .NET 8.0.4;
below them the line that the command prints. `docs/outputs.sh` has run the verbs and written this page.

The sizes of the results of each verb, for programs that the command starts and, with `-p`, for programs that run, 3
seconds of each: the sample, the C# compiler (Roslyn) with a small source, over and over for `-p`, and a program that
calls a method without pause. `calls`, `trace` and `patch` have patterns. "Refused" is a sentence with the reason, before
anything happens. The results are opened in their viewers by [docs/viewers.sh](../viewers.sh).
TEXT
    echo
    table
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
    shown "patch" patch.txt --faults faults.txt
    printf '\n## doctor\n\n```text\n$ CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger cargo clr doctor\n'
    CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger "$command" doctor || :
    printf '```\n'
} >"$folder/page"
mv "$folder/page" docs/src/outputs.md

# The README has the same, folded up.
folded=$(awk '
    /^## / { if (is_open) print "</details>\n"; is_open = 1
             printf "<details><summary><code>cargo clr %s</code></summary>\n\n", $2; getline; next }
    is_open { print }
    END { print "\n</details>" }' docs/src/outputs.md)
{
    sed '/^<!-- outputs -->$/q' README.md
    printf '%s\n' "$folded"
    sed -n '/^<!-- end of outputs -->$/,$p' README.md
} >"$folder/readme"
mv "$folder/readme" README.md

# The picture of the README, where librsvg can draw it.
if command -v rsvg-convert >/dev/null; then
    "$command" cpu --wall -o "$folder/cpu.svg" -- "$sample" >/dev/null
    rsvg-convert -w 1200 "$folder/cpu.svg" -o docs/pictures/cpu.png
fi
