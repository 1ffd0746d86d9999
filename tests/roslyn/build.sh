#!/usr/bin/env bash
# Builds all C# here again: the profiled programs of the tests, the sample of the examples, and the helpers
# that rewritten code of the examples calls.
#
#   tests/roslyn/build.sh [--output FOLDER] [NAME...]
#
# NAMEs are those of programs or libraries, such as `Statics`; without one, all are built. FOLDER gets the
# same folders as in the repository, which is the default. Builds are deterministic.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
output=$root
if [[ ${1-} == --output ]]; then
    output=$(realpath -- "$2")
    shift 2
fi
names=("$@")
compiler=$("$here/setup")

# The working folder of the compiler: its contents are named by relative paths.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
ln -s -- "$root/tests" "$root/examples" "$root/clr_profiler_test" "$root/clr_profiler_tools" "$work/"
mkdir "$work/generated"
cd "$work"

# wanted RESULT: whether it is to be built.
found=
wanted() {
    [[ ${#names[@]} == 0 || " ${names[*]} " == *" $(basename -- "$1" .dll) "* ]] && found=$1
}

# configure RESULT VERSION: how the host is told what a program needs.
configure() {
    wanted "$1" || return 0
    mkdir -p -- "$(dirname -- "$output/$1")"
    cat >"$output/${1%.dll}.runtimeconfig.json" <<END
{
  "runtimeOptions": {
    "framework": {
      "name": "Microsoft.NETCore.App",
      "version": "$2"
    },
    "rollForward": "Major"
  }
}
END
}

# Lines for the compiler; see Compile.cs.
list=()

# compile RESULT OPTION... SOURCE...
compile() {
    wanted "$1" || return 0
    local word sources=()
    for word; do
        case $word in *.cs) sources+=("$word") ;; esac
    done
    if grep -qw unsafe -- "${sources[@]}"; then
        set -- "$@" -unsafe
    fi
    list+=("$*")
}

# assemble RESULT SOURCE...: a library, by mono's ilasm.
assemble() {
    wanted "$1" || return 0
    local result=$output/$1
    shift
    mkdir -p -- "$(dirname -- "$result")"
    ilasm /quiet /dll /output:"$result" "$@"
    fix "$result"
}

# mark RESULT TYPE: has the runtime make the methods of the type asynchronous.
mark() {
    wanted "$1" || return 0
    local cecil
    cecil=$(printf '%s\n' /usr/lib/mono/gac/Mono.Cecil/0.11.*/Mono.Cecil.dll)
    mcs -nologo -out:mark.exe -r:"$cecil" tests/profilees/RuntimeAsync/mark.cs
    MONO_PATH=$(dirname "$cecil") mono mark.exe "$output/$1" "$2"
    fix "$output/$1"
}

# fix FILE: the module's id and the time stamp, which mono's tools draw, become a hash of the rest and zero.
fix() {
    python3 - "$1" <<'END'
import hashlib, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
header = struct.unpack_from("<I", data, 0x3C)[0]
data[header + 8 : header + 12] = bytes(4)
metadata = data.index(b"BSJB")
name = data.index(b"#GUID\0", metadata)
mvid = metadata + struct.unpack_from("<I", data, name - 8)[0]
data[mvid : mvid + 16] = bytes(16)
data[mvid : mvid + 16] = hashlib.sha256(data).digest()[:16]
open(sys.argv[1], "wb").write(data)
END
}

for source in tests/profilees/*.cs; do
    compile "${source%.cs}.dll" core31 -pdb:embedded "$source"
    configure "${source%.cs}.dll" 3.1.0
done
# It runs programs in applications that have a runtime in them.
compile clr_profiler_test/hook/StartupHook.dll core31 -library -pdb:embedded clr_profiler_test/hook/StartupHook.cs
# The compiler as a command.
compile clr_profiler_test/hook/Csc.dll net8 -reference:"$compiler/Microsoft.CodeAnalysis.dll" \
    -reference:"$compiler/Microsoft.CodeAnalysis.CSharp.dll" clr_profiler_test/hook/Csc.cs
configure clr_profiler_test/hook/Csc.dll 8.0.0
# The assembly that rewritten code calls, apart from the programs, so that no runtime finds it by itself.
# The key is public only: runtimes compare keys and do not check signatures.
compile tests/profilees/helper/Helper.dll core31 -library -key:tests/profilees/helper/Helper.pub \
    tests/profilees/helper/Helper.cs
assemble tests/profilees/helper/newer/Helper.dll tests/profilees/helper/Newer.il

# Programs that refer to the core library by a facade, as those built for .NET Framework do and libraries for
# all of .NET.
for name in Helped Hot; do
    compile "tests/profilees/mscorlib/$name.dll" net472 -pdb:embedded "tests/profilees/$name.cs"
    configure "tests/profilees/mscorlib/$name.dll" 3.1.0
    compile "tests/profilees/netstandard/$name.dll" ns20 -pdb:embedded "tests/profilees/$name.cs"
    configure "tests/profilees/netstandard/$name.dll" 3.1.0
done

# A program with two libraries that are alike, of which one shows it its internals.
accesses=tests/profilees/Accesses
compile tests/profilees/Friend.dll core31 -library -pdb:embedded -define:FRIEND "$accesses/Library.cs"
compile tests/profilees/Stranger.dll core31 -library -pdb:embedded "$accesses/Library.cs"
compile "$accesses.dll" core31 -pdb:embedded -reference:tests/profilees/Friend.dll \
    -reference:tests/profilees/Stranger.dll "$accesses/Program.cs"
configure "$accesses.dll" 3.1.0

# A program with libraries that look like those of gRPC.
grpc=tests/profilees/grpc
compile "$grpc/Grpc.Core.Api.dll" core31 -library "$grpc/Grpc.Core.Api.cs"
for name in Grpc.Net.Client Grpc.AspNetCore.Server; do
    compile "$grpc/$name.dll" core31 -library -reference:"$grpc/Grpc.Core.Api.dll" "$grpc/$name.cs"
done
compile "$grpc/Calls.dll" core31 -pdb:embedded -reference:"$grpc/Grpc.Core.Api.dll" \
    -reference:"$grpc/Grpc.Net.Client.dll" -reference:"$grpc/Grpc.AspNetCore.Server.dll" "$grpc/Calls.cs"
configure "$grpc/Calls.dll" 3.1.0

# One with libraries that look like those of logging.
logging=tests/profilees/logging
abstractions=$logging/Microsoft.Extensions.Logging.Abstractions.dll
compile "$abstractions" core31 -library "$logging/Abstractions.cs"
compile "$logging/Microsoft.Extensions.Logging.dll" core31 -library -reference:"$abstractions" "$logging/Logging.cs"
compile "$logging/Logs.dll" core31 -pdb:embedded -reference:"$abstractions" \
    -reference:"$logging/Microsoft.Extensions.Logging.dll" "$logging/Logs.cs"
configure "$logging/Logs.dll" 3.1.0

compile examples/support/samples/Sample.dll core31 -pdb:embedded examples/support/samples/Sample.cs

# A program that patches in C# change, their assemblies, and attributes that are not there when they run.
patched=tests/profilees/ManagedPatched
compile "$patched/reference/0Harmony.dll" core31 -library "$patched/Harmony.cs"
for name in Annotated Core Mistaken Plain Second Targets Third Unbound; do
    compile "$patched/$name.dll" core31 -library -pdb:embedded -reference:"$patched/reference/0Harmony.dll" \
        -reference:"$patched.dll" "$patched/$name.cs"
done

compile tests/profilees/Hidden.dll core31 -library -pdb:embedded "$patched/Hidden.cs"
compile "$patched/Guide.dll" core31 -library -pdb:embedded \
    -reference:examples/support/samples/Sample.dll "$patched/Guide.cs"

# The program of every shape of method, some of them written in IL, some by a generator.
shapes=tests/profilees/Shapes
"$shapes/generate.sh" generated
assemble "$shapes"IL.dll "$shapes/ShapesIL.il" "$shapes/Regions.il" "$shapes/Operands.il" generated/Sizes.il
compile "$shapes.dll" core31 -pdb:embedded -reference:tests/profilees/ShapesIL.dll "$shapes"/*.cs generated/Large.cs
configure "$shapes.dll" 3.1.0

# The program whose methods the runtime makes asynchronous (.NET 10 with DOTNET_RuntimeAsync=1).
async=tests/profilees/RuntimeAsync
assemble "$async"IL.dll "$async/RuntimeAsyncIL.il"
mark "$async"IL.dll Methods
compile "$async.dll" core31 -pdb:embedded -reference:"$async"IL.dll "$async/RuntimeAsync.cs"
configure "$async.dll" 3.1.0

# The program of the runtime's own tests; its methods that the runtime makes asynchronous; and those of its parts that
# .NET Core 3.1 does not have.
own=tests/profilees/RuntimeTests
assemble "$own"Async.dll "$own/Async.il"
mark "$own"Async.dll Work
compile "$own.dll" core31 -pdb:embedded -reference:"$own"Async.dll "$own"/*.cs
configure "$own.dll" 3.1.0
compile "$own"New.dll net8 -pdb:embedded "$own"/New/*.cs
configure "$own"New.dll 8.0.0

# The programs of all features of the language, by framework, optimisation and kind of PDB.
language=tests/profilees/language
sources=$(ls "$language"/*.cs | grep -v -e /Library.cs)
old=$(grep -v -e /Native.cs -e /Pooled.cs -e /Statics.cs <<<"$sources")
new=$(grep -v -e /Missing.cs <<<"$sources")
oldest=$(grep -v -e /Streams.cs -e /Spans.cs -e /Interfaces.cs <<<"$old")
library=$language/Library.dll
compile "$library" ns20 -library -debug -pdb:portable "$language/Library.cs"
compile "$language/CoreDebug.dll" core31 -debug -pdb:portable -reference:"$library" $old
compile "$language/CoreRelease.dll" core31 -pdb:embedded -reference:"$library" $old
compile "$language/NetDebug.dll" net8 -debug -pdb:embedded -define:NET8 -reference:"$library" $new
compile "$language/NetRelease.dll" net8 -pdb:portable -define:NET8 -reference:"$library" $new
compile "$language/NetBare.dll" net8 -define:NET8 -reference:"$library" $new
compile "$language/FrameworkDebug.dll" net472 -debug -pdb:portable -define:FRAMEWORK $oldest
compile "$language/FrameworkRelease.dll" net472 -pdb:embedded -define:FRAMEWORK $oldest
for name in Core Framework; do
    configure "$language/${name}Debug.dll" 3.1.0
    configure "$language/${name}Release.dll" 3.1.0
done
for name in NetDebug NetRelease NetBare; do
    configure "$language/$name.dll" 8.0.0
done

# Sources of all kinds for PDBs.
sources=tests/profilees/pdb
compile "$sources/SourcesDebug.dll" core31 -debug -pdb:portable "$sources/Sources.cs"
compile "$sources/SourcesRelease.dll" core31 -pdb:embedded "$sources/Sources.cs"
configure "$sources/SourcesDebug.dll" 3.1.0
configure "$sources/SourcesRelease.dll" 3.1.0

# The program that edits an assembly of its own while it runs, and the differences that it applies.
edited=tests/profilees/HotReload
compile tests/profilees/Edited.dll net8 -library -debug -pdb:portable "$edited/Edited.cs"
compile tests/profilees/HotReload.dll net8 -pdb:embedded -reference:tests/profilees/Edited.dll "$edited/HotReload.cs"
configure tests/profilees/HotReload.dll 8.0.0

# The examples and the tools load these into programs. They reference only the core library: any other assembly might not
# be loaded in the program, and would cost it two descriptors.
for helper in examples/method_logger/helper/Logger examples/return_inspector/helper/Inspector \
    clr_profiler_tools/src/profilers/trace/helper/MethodTracer; do
    compile "$helper.dll" corelib -library "${helper%/*}"/*.cs
done

if [[ ! $found ]]; then
    echo "nothing here is called ${names[*]}" >&2
    exit 1
fi
[[ ${#list[@]} == 0 ]] || printf '%s\n' "${list[@]}" | "$compiler/compile" "$output"

# differences ASSEMBLY SOURCE RESULT SYMBOL...: those of the assembly when its source is compiled with each symbol.
differences() {
    wanted "$1" || return 0
    local host
    host=$(sed -n "s/^exec '\([^']*\)'.*/\1/p" "$compiler/compile")
    printf '%s\n' "Difference.dll net8 -reference:$compiler/Microsoft.CodeAnalysis.dll \
-reference:$compiler/Microsoft.CodeAnalysis.CSharp.dll tests/roslyn/Difference.cs" |
        "$compiler/compile" "$compiler"
    cp "$compiler/Compile.runtimeconfig.json" "$compiler/Difference.runtimeconfig.json"
    mkdir -p -- "$(dirname -- "$output/$3")"
    "$host" "$compiler/Difference.dll" "$compiler/references/net8" "$output/$1" "$2" "$output/$3" "${@:4}"
}
differences tests/profilees/Edited.dll "$edited/Edited.cs" "$edited/Edited" FIRST SECOND
