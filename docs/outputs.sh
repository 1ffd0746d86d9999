#!/usr/bin/env bash
# Runs the verbs of `cargo clr` on the sample program, and writes the first lines of their results to docs/src/outputs.md.
# The runtime is that of CLR_PROFILER_DOTNET, DOTNET_ROOT or PATH; CARGO_CLR may name a command that was built before,
# CARGO_CLR_RELEASE an optimised build of it for `verify`, and ROSLYN a folder with the C# compiler, which the tests fetch. The
# screen of `top` is one of tmux, and Go's pprof reads a profile. Nothing is written if a verb fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
command=${CARGO_CLR:-}
if [ -z "$command" ]; then
    cargo build -p cargo-clr
    command=$PWD/target/debug/cargo-clr
fi
# A build that is not optimised takes minutes for a large application.
verifier=${CARGO_CLR_RELEASE:-$command}
roslyn=${ROSLYN:-$(dirname "$(find ~/.cache/clr_profiler/roslyn-* -name Microsoft.CodeAnalysis.CSharp.dll | head -n 1)")}
programs=$PWD/tests/profilees
sample=$PWD/examples/support/samples/Sample.dll
folder=$(mktemp -d)
screen=outputs-$$
trap 'tmux -L "$screen" kill-server 2>/dev/null || :; rm -rf -- "$folder"' EXIT
failed=

# The words of a verb, the file that it writes, and its lines: cut on the right, without those of no meaning here. For `more` there is
# such a part already; `from` is a pattern of the first line that is shown.
shown() {
    printf '\n## %s\n' "${1%% *}"
    more "$@"
}
more() {
    local words=$1 file=$2 program=${program:-$sample} from=${from:-.} arguments=${arguments:-}
    shift 2
    # shellcheck disable=SC2086
    (cd "$folder" && "$command" $words -o "$file" "$@" -- "$program" $arguments >/dev/null 2>err) || [ $? = 7 ]
    printf '\n```text\n$ cargo clr %s -o %s%s -- %s\n' "$words" "$file" "${*:+ $*}" "$(basename "$program")${arguments:+ $arguments}"
    grep -v '^$' "$folder/$file" | sed -n "/$from/,\$p" | head -n 10 | sed 's|"/[^"]*|"/...|' | cut -c 1-110 | sed 's/ *$//; s/thread [0-9]*/thread 4711/'
    printf '```\n\n'
    sed "s|$folder/||; s/^/> /; s/thread [0-9]*/thread 4711/" "$folder/err"
}

# The result of a verb, for the words after its options: a cell of the table.
cell() {
    local verb=$1 status=0 file=$folder/cell size
    shift
    local -a options=()
    case $verb in
    calls | trace) options=(--methods "$methods") ;;
    cover) options=(--methods "$methods") file=$folder/cell.lcov ;;
    patch) options=(--faults "$folder/faults.txt") ;;
    top)
        live "$@"
        return
        ;;
    esac
    "$command" "$verb" "${options[@]}" -o "$file" "$@" >/dev/null 2>"$folder/err" || status=$?
    size=$(sed -n 's/.*wrote .* (\([^)]*\)).*/\1/p' "$folder/err")
    if [ -n "$size" ]; then
        printf ' %s |' "$size"
    elif [ "$status" = 2 ] && grep -q 'cannot be' "$folder/err"; then
        printf ' refused |'
    else
        printf ' failed (%s) |' "$status"
        printf '%s of %s failed (%s):\n' "$verb" "$*" "$status" >&2
        cat "$folder/err" >&2
        failed=1
    fi
}

# The last screen of `top`, which needs a process, within some seconds. It is gone when the program ends.
live() {
    if [ "$1" != -p ]; then
        printf ' |'
        return
    fi
    local _
    : >"$folder/screen"
    tmux -L "$screen" -f /dev/null new-session -d -x 110 -y 16 \
        "TERM=xterm-256color '$command' top $2 --period 0.5 2>'$folder/err'"
    for _ in {1..40}; do
        sleep 0.2
        tmux -L "$screen" capture-pane -p >"$folder/now" 2>/dev/null || break
        if [ "$(grep -c . "$folder/now")" -gt 4 ]; then
            cp "$folder/now" "$folder/screen"
        fi
    done
    tmux -L "$screen" send-keys q 2>/dev/null || :
    while tmux -L "$screen" list-sessions >/dev/null 2>&1; do
        sleep 0.1
    done
    if [ "$(grep -c . "$folder/screen")" -gt 4 ]; then
        printf ' a screen |'
        mv "$folder/screen" "$folder/screen-$of"
    else
        printf ' failed |'
        printf 'top shows nothing:\n' >&2
        cat "$folder/screen" "$folder/err" >&2
        failed=1
    fi
}

# Each verb with each program, started and running. Each verb is attached to a process of its own: a tool that changes
# methods stays loaded.
table() {
    local verb
    printf '| verb | sample | C# compiler | busy program | `-p` of the sample | of the compiler | of the busy program |\n'
    printf '|---|---|---|---|---|---|---|\n'
    mkfifo "$folder/input" "$folder/output"
    for verb in cpu gc exceptions log calls alloc locks heap trace patch cover top; do
        printf '| `%s` |' "$verb"
        cell "$verb" -- "$sample"
        cell "$verb" -- "$programs/Compiler.dll" "$roslyn" "$programs/Small.cs"
        sleep 3 | cell "$verb" -- "$programs/Endures.dll" calls
        of=sample attached_to_sample "$verb"
        of=compiler attached_to_compiler "$verb"
        of=busy attached_to_busy "$verb"
        printf '\n'
    done
}

dotnet=${CLR_PROFILER_DOTNET:-dotnet}

# The sample ends within a second: it is held at its first line of output, by a pipe that is full, until the tool is there or
# was refused.
attached_to_sample() {
    local program reader
    exec 6<>"$folder/output"
    head -c 65536 /dev/zero >&6
    "$dotnet" exec "$sample" >"$folder/output" 5>&- 6>&- &
    program=$!
    sleep 1
    rm -f "$folder/refused"
    {
        until [ -e "$folder/refused" ] || grep -q libclr_tools- "/proc/$program/maps" 2>/dev/null; do
            sleep 0.1
        done
        # Until methods have their new IL, where a tool changes them.
        sleep 2
        exec cat <&6 >/dev/null
    } &
    reader=$!
    cell "$1" -p "$program" --duration 3
    touch "$folder/refused"
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

# A new profiler, run, and attached to a program, which `ps` then shows.
own_profiler() {
    local program
    cd "$folder"
    printf '\n## new\n\n```text\n$ cargo clr new shop_watcher\n'
    "$command" new shop_watcher --checkout "$root" 2>&1
    cp "$root/Cargo.lock" shop_watcher/
    cd shop_watcher
    printf '```\n\n## run\n\n```text\n$ cd shop_watcher\n$ cargo clr run -- tests/Sample.dll >/dev/null\n'
    CARGO_TARGET_DIR=$root/target/outputs "$command" run -- tests/Sample.dll 2>"$folder/err" >/dev/null
    grep '^shop_watcher:' "$folder/err" | sed 's|/[^ ]*/||' | awk 'NR <= 5; { last = $0 } END { print "...\n" last }'
    "$dotnet" exec "$programs/Endures.dll" calls <"$folder/input" >/dev/null 2>"$folder/err" &
    program=$!
    exec 5>"$folder/input"
    sleep 1
    printf '```\n\n## attach\n\n```text\n$ cargo clr attach 4711\n'
    CARGO_TARGET_DIR=$root/target/outputs "$command" attach "$program" 2>&1 | grep '^attach' | sed "s|$root/target/outputs|target|; s/$program/4711/"
    printf '```\n\n## ps\n\n```text\n$ cargo clr ps\n'
    # Without those of others.
    "$command" ps | awk -v program="$program" 'NR == 1 || $1 == program' | sed "s|$root/target/outputs|target|; s/^\( *\)$program /    4711 /" | cut -c 1-110
    printf '```\n'
    exec 5>&-
    wait "$program" || :
    cd "$root"
}

# Of the compiler the methods that it calls once for each file or so: a trace of all is longer than the run.
compilation='Microsoft.CodeAnalysis.CSharp!Microsoft.CodeAnalysis.CSharp.CSharpCompilation.*'
methods="Shop.**; Compiler.**; $compilation; **.Changed"
printf 'seed 42\ndelay 1 ms in 5 %% of Shop.Store.*; Compiler.**; %s; **.Changed\n' "$compilation" >"$folder/faults.txt"

{
    cat <<'TEXT'
# The output of each verb

The first ten lines of the results of [`cargo clr`](command.md) for the sample program, a shop, on .NET 8.0.4 (for `locks`, `gc --triggers` and `alloc --sampled`
programs that wait, collect and allocate);
below them the lines that the command prints. `docs/outputs.sh` has run the verbs and written this page.

The sizes of the results of each verb, for programs that the command starts and, with `-p`, for programs that run, 3
seconds of each: the sample, the C# compiler (Roslyn) with a small source, over and over for `-p`, and a program that
calls a method without pause. `calls`, `trace`, `patch` and `cover` have patterns. "Refused" is a sentence with the reason, before
anything happens; `top` is for programs that run. The results are opened in their viewers by [docs/viewers.sh](../viewers.sh).
TEXT
    echo
    table
    shown "cpu --wall" cpu.txt
    shown gc gc.txt
    program=$programs/Triggers.dll more "gc --triggers" triggers.txt
    shown exceptions exceptions.txt
    shown log log.txt --methods 'Shop.**'
    shown calls calls.txt --methods 'Shop.**'
    shown alloc allocations.txt
    program=$programs/Estimates.dll arguments=2000 more "alloc --sampled" sampled.txt
    program=$programs/Contends.dll shown locks locks.txt
    shown heap heap.txt
    from='  text$' more "heap --strings" strings.txt
    (cd "$folder" && "$command" trace --methods 'Shop.**' --summary summary.txt -o trace.json -- "$sample" >/dev/null 2>err)
    printf '\n## trace\n\n```text\n$ cargo clr trace --methods "Shop.**" --summary summary.txt -o trace.json -- Sample.dll\n'
    head -n 10 "$folder/summary.txt" | cut -c 1-110 | sed 's/ *$//'
    printf '```\n\n'
    sed "s|$folder/||; s/^/> /" "$folder/err"
    (cd "$folder" && "$command" trace --methods 'Shop.**' --cpu-profile cpu.pb.gz -o trace.json -- "$sample" >/dev/null 2>err)
    # shellcheck disable=SC2016
    printf '\n```text\n$ cargo clr trace --methods "Shop.**" --cpu-profile cpu.pb.gz -o trace.json -- Sample.dll\n$ go tool pprof -tags cpu.pb.gz\n'
    (cd "$folder" && go tool pprof -tags cpu.pb.gz 2>/dev/null) | grep -v '^ *$' | head -n 10 | sed 's/ *$//'
    printf '```\n\n'
    sed "s|$folder/||; s/^/> /" "$folder/err"
    shown "patch" patch.txt --faults faults.txt
    # From the folder of the clone, in which the source is.
    printf '\n## cover\n\n```text\n$ cargo clr cover -o cover.lcov --html cover -- Sample.dll\n'
    "$command" cover -o "$folder/cover.lcov" --html "$folder/cover" -- examples/support/samples/Sample.dll >/dev/null 2>"$folder/err"
    grep -v '^cover:' "$folder/err"
    printf '```\n\n'
    sed -n "s|$folder/||; s/^cover:/> &/p" "$folder/err"
    printf '\n## top\n\n```text\n$ cargo clr top 4711 --period 0.5\n'
    sed '1s/^[0-9]*/4711/; s/ *$//' "$folder/screen-compiler"
    printf '```\n'
    printf '\n## verify\n\n```text\n$ cargo clr verify roslyn\n'
    "$verifier" verify "$roslyn" | cut -c 1-110 || [ "${PIPESTATUS[0]}" = 3 ]
    printf '```\n'
    own_profiler
    printf '\n## doctor\n\n```text\n$ CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger cargo clr doctor\n'
    CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=JitLogger "$command" doctor || :
    printf '```\n'
} >"$folder/page"
if [ -n "$failed" ]; then
    cp "$folder/page" target/outputs-failed.md
    echo "some verbs have failed; the page is in target/outputs-failed.md" >&2
    exit 1
fi
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
