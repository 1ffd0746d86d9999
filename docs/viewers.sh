#!/usr/bin/env bash
# Opens results of `cargo clr` in their viewers, and writes pictures of them to docs/pictures: a flame graph in the
# browser, a file for speedscope in speedscope. CARGO_CLR may name a command that was built before,
# ROSLYN a folder with the C# compiler, which the tests fetch, and BROWSER a Chromium. It needs npm; the
# viewers come from their packages, by version and hash.
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
trap 'rm -rf -- "$folder"' EXIT
cd "$folder"

# A package, if its bytes are these.
checked() {
    echo "$1  $2" | sha256sum --check --quiet
}
npm pack --silent speedscope@1.25.0 playwright-core@1.65.1 >/dev/null
checked 2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03 speedscope-1.25.0.tgz
checked 6f5a60be62a4fddfbe7d10c448d8fbd54547da3358f2f8a04211440471ee863e playwright-core-1.65.1.tgz
mkdir speedscope playwright-core
tar -xzf speedscope-1.25.0.tgz -C speedscope --strip-components 1
tar -xzf playwright-core-1.65.1.tgz -C playwright-core --strip-components 1

for file in cpu.svg cpu.json; do
    "$command" cpu -o "$file" -- "$programs/Compiler.dll" "$roslyn" "$programs/Small.cs" >/dev/null
done

node "$script" "$browser" "$folder" "$pictures"
