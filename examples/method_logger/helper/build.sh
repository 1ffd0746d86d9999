#!/bin/sh
# Builds Logger.dll again, with the C# compiler of mono (Debian's package mono-mcs).
#
#   helper/build.sh FOLDER [OUTPUT]
#
# FOLDER is .../shared/Microsoft.NETCore.App/3.1.23 of a .NET Core 3.1, which
# `cargo run -p examples_support --bin fetch_runtime -- 3.1` fetches.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
references=$(for file in "$1"/System*.dll; do
    case $file in *.Native.*) ;; *) printf ' -r:%s' "$file" ;; esac
done)
# The references hold no spaces unless the runtime's folder does: then set a cache without.
# shellcheck disable=SC2086
mcs -nostdlib -noconfig -optimize+ -unsafe+ -target:library -out:"${2:-$here}/Logger.dll" $references "$here/Logger.cs"
