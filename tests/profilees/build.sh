#!/bin/sh
# Builds the profiled programs of the tests again, with the C# compiler of mono and its assembler
# (Debian's packages mono-mcs and mono-devel).
#
#   profilees/build.sh FOLDER [OUTPUT]
#
# FOLDER is .../shared/Microsoft.NETCore.App/3.1.23 of a .NET Core 3.1, which
# `cargo run -p examples_support --bin fetch_runtime -- 3.1` fetches.
set -eu
[ $# -ge 1 ] && [ -d "$1" ] || {
    echo "usage: $0 path/to/shared/Microsoft.NETCore.App/3.1.23 [output folder]" >&2
    exit 2
}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$(realpath -- "${2:-$here}")
references=$(for file in "$1"/System*.dll; do
    case $file in *.Native.* | *.WindowsRuntime.dll) ;; *) printf ' -r:%s' "$file" ;; esac
done)

# How the host is told what a program needs.
configure() {
    cat > "$output/$1.runtimeconfig.json" <<'END'
{
  "runtimeOptions": {
    "framework": {
      "name": "Microsoft.NETCore.App",
      "version": "3.1.0"
    },
    "rollForward": "Major"
  }
}
END
}

for source in "$here"/*.cs; do
    name=$(basename -- "$source" .cs)
    case $name in StartupHook) target=library ;; *) target=exe ;; esac
    # The references hold no spaces unless the runtime's folder does: then set a cache without.
    # shellcheck disable=SC2086
    mcs -nostdlib -noconfig -optimize+ -unsafe+ -target:$target -out:"$output/$name.dll" $references "$source"
    if [ $target = exe ]; then
        configure "$name"
    fi
done
# The assembly that rewritten code calls, apart from the programs, so that no runtime finds it by
# itself. The key is public only: runtimes compare keys and do not check signatures.
mkdir -p "$output/helper"
# shellcheck disable=SC2086
mcs -nostdlib -noconfig -optimize+ -target:library -delaysign+ -keyfile:"$here/helper/Helper.pub" \
    -out:"$output/helper/Helper.dll" $references "$here/helper/Helper.cs"
mkdir -p "$output/helper/newer"
ilasm /quiet /dll /output:"$output/helper/newer/Helper.dll" "$here/helper/Newer.il"
# Programs that refer to the core library by a facade: as those built for .NET Framework do, and as
# libraries for all of .NET do. The compiler takes no facade for the core library, so the latter are the
# former assembled anew.
framework=/usr/lib/mono/4.7.2-api
generated=$(mktemp -d)
trap 'rm -rf -- "$generated"' EXIT
mkdir -p "$output/mscorlib" "$output/netstandard"
for name in Helped Hot; do
    mcs -nostdlib -noconfig -optimize+ -target:exe -out:"$output/mscorlib/$name.dll" \
        -r:"$framework/mscorlib.dll" -r:"$framework/System.dll" "$here/$name.cs"
    configure "mscorlib/$name"
    monodis "$output/mscorlib/$name.dll" | sed \
        -e '/^\.assembly extern System$/,/^}/d' \
        -e 's/ \(object\|string\)::/ class [mscorlib]System.\u\1::/g' \
        -e 's/\[\(mscorlib\|System\)\]/[netstandard]/g' \
        -e 's/^\.assembly extern mscorlib/.assembly extern netstandard/' \
        -e 's/\.ver 4:0:0:0/.ver 2:0:0:0/' \
        -e 's/B7 7A 5C 56 19 34 E0 89/CC 7B 13 FF CD 2D DD 51/' > "$generated/$name.il"
    ilasm /quiet /exe /output:"$output/netstandard/$name.dll" "$generated/$name.il"
    configure "netstandard/$name"
done
# The program of every shape of method, some of them written in IL, some by a generator.
"$here/Shapes/generate.sh" "$generated"
ilasm /quiet /dll /output:"$output/ShapesIL.dll" "$here/Shapes/ShapesIL.il" \
    "$here/Shapes/Regions.il" "$here/Shapes/Operands.il" "$generated/Sizes.il"
# shellcheck disable=SC2086
mcs -nostdlib -noconfig -optimize+ -unsafe+ -langversion:latest -target:exe -out:"$output/Shapes.dll" \
    $references -r:"$output/ShapesIL.dll" "$here/Shapes"/*.cs "$generated/Large.cs"
configure Shapes
