#!/usr/bin/env python3
"""Breaks lines of the declarations one at a time, in a copy, and tells which the tests let pass.

    tests/break_lines.py [--seed 1] [--breaks 30] [--kind KIND]

Exits with 1 if a broken line passed. The same seed breaks the same lines the same ways.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CRATE = pathlib.Path(__file__).resolve().parent.parent
INTERFACES = ["callback", "class_factory", "control", "enumerators", "info/*", "metadata/assembly",
              "metadata/dispenser", "metadata/emit", "metadata/import", "metadata/services",
              "metadata/tables"]
ENUMERATIONS = ["enums", "metadata/attributes", "metadata/image", "metadata/options",
                "metadata/signatures", "metadata/tokens"]
STRUCTURES = ["structs", "metadata/structs"]
ALIASES = ["types", "metadata/types"]

FUNCTION = re.compile(r"^ +fn \w+\((?P<parameters>.*?)\)(?: -> (?P<result>[^;]+))?;\n", re.M | re.S)
PARAMETER = re.compile(r"(?P<whole>(?:r#)?\w+: (?P<type>[^,()]+))(?:,\s*)?")
FIELD = re.compile(r"^ {8}(?:r#)?\w+: (?P<type>.+),\n", re.M)
ENUMERATION = re.compile(r"^ {4}\w+: (?P<type>[ui]32) \{\n(?P<members>.*?)^ {4}\}", re.M | re.S)
MEMBER = re.compile(r"^ +\w+ = (?P<value>[^,]+),\n", re.M)
ALIAS = re.compile(r"^ +\w+ = (?P<type>[^;]+);\n", re.M)


def sites(folder, files, pattern, group=0):
    """Every place in the files that the group of the pattern matches: (path, start, end)."""
    found = []
    for name in files:
        for path in sorted((folder / "src").glob(name + ".rs")):
            for match in re.finditer(pattern, path.read_text()):
                if match.group(group) is not None:
                    found.append((path, *match.span(group)))
    return found


def inner(outer, pattern, group=0):
    """The places that a pattern matches inside of other places."""
    found = []
    for path, start, end in outer:
        for match in pattern.finditer(path.read_text(), start, end):
            found.append((path, *match.span(group)))
    return found


def digit(text, rng):
    """The text with one hexadecimal digit replaced by another."""
    prefix = 2 if text.startswith("0x") else 0
    base = 16 if prefix or re.search("[A-F-]", text) else 10
    places = [i for i in range(prefix, len(text)) if re.match("[0-9A-Fa-f]", text[i])]
    place = rng.choice(places)
    value = (int(text[place], 16) + rng.randrange(1, base)) % base
    return text[:place] + f"{value:X}" + text[place + 1:]


def other_type(text, rng, same_width):
    """A type of another width, or another type of the same width."""
    pointer = re.match(r"(\*(?:mut|const) )+", text)
    if pointer and not same_width:
        rest = text[pointer.end():]
        return pointer.group() + ("u64" if rest in ("BYTE", "UINT8", "u8", "c_void") else "u8")
    if pointer:
        return "usize"
    wide = re.fullmatch(r"\w*(ID|_PTR|SIZE_T|64|ULONGLONG|usize|HCORENUM|PVOID|HANDLE|LP\w+)", text)
    if not same_width:
        return "u8" if text not in ("BYTE", "UINT8", "u8", "UCHAR") else "u64"
    if wide:
        return rng.choice(["u64", "usize"]) if text not in ("usize", "u64") else \
            {"usize": "u64", "u64": "usize"}[text]
    return "i32" if text != "i32" else "u32"


def replace(places, change):
    """Breaks that replace one of the places by what `change` makes of it."""
    return lambda rng: edit(rng.choice(places), lambda text: change(text, rng))


def edit(place, change):
    path, start, end = place
    text = path.read_text()
    new = change(text[start:end])
    return (path, start, text[start:end], new) if new != text[start:end] else None


def swap(places):
    """Breaks that exchange two neighbours of one declaration."""
    pairs = []
    for (path, start, end), (other, start2, end2) in zip(places, places[1:]):
        between = path.read_text()[end:start2] if path == other else "}"
        if not re.search("[)}]", between):
            pairs.append((path, start, end, start2, end2))

    def do(rng):
        path, start, end, start2, end2 = rng.choice(pairs)
        return edit((path, start, end2), lambda text: text[start2 - start:]
                    + text[end - start:start2 - start] + text[:end - start])
    return do


def kinds(folder):
    """The ways to break a line, by name; each takes a source of chance and gives an edit."""
    methods = sites(folder, INTERFACES, FUNCTION)
    functions = sites(folder, ["functions"], FUNCTION)
    lists = sites(folder, INTERFACES + ["functions"], FUNCTION, "parameters")
    parameters = inner(lists, PARAMETER)
    parameter_types = inner(lists, PARAMETER, "type")
    enumerations = sites(folder, ENUMERATIONS, ENUMERATION, "members")
    values = inner(enumerations, MEMBER, "value")
    numbers = [place for place in values
               if re.fullmatch("-?(0x)?[0-9a-fA-F]+", place[0].read_text()[place[1]:place[2]])]
    fields = sites(folder, STRUCTURES, FIELD)
    field_types = sites(folder, STRUCTURES, FIELD, "type")
    alias_types = sites(folder, ALIASES, ALIAS, "type")
    iids = sites(folder, INTERFACES, r'(?m)^ {4}"([0-9A-F-]{36})"$', 1)
    guids = sites(folder, ["guids"], r'= "([0-9A-F-]{36})";', 1)
    hresults = sites(folder, ["hresult"], r"= (0x[0-9A-F]{8});", 1)
    texts = sites(folder, ["constants"], r'"([\w.]{2,})"', 1)
    signatures = sites(folder, ["constants"], r"\b(ELEMENT_TYPE_(?:I2|I4|STRING))\b(?= as)", 1)
    nil_tokens = sites(folder, ["constants"], r"= (mdt\w+);", 1)
    constants = sites(folder, ["constants"], r"u32 = (\d+);", 1)
    names = sites(folder, ENUMERATIONS, r"(?m)^ {8}(\w+) = ", 1) \
        + sites(folder, ["hresult", "guids", "constants"], r"(?m)^ {4}(\w+)(?:: [^=]+)? = ", 1) \
        + sites(folder, INTERFACES + ["functions"], r"\bfn (\w+)\(", 1)
    lines = sites(folder, ENUMERATIONS, MEMBER) + fields \
        + sites(folder, ["hresult", "guids"], r"(?m)^ {4}\w+ = .*;\n")
    parents = sites(folder, INTERFACES, r"(?m)^ {4}I\w+, I\w+_Vtbl: (ICorProfiler\w+|IMeta\w+) \{", 1)
    results = sites(folder, INTERFACES + ["functions"], FUNCTION, "result")
    layouts = sites(folder, ["layout32"], r"(?m)^ {8}\S+: (\d+),$", 1) \
        + sites(folder, ["layout32"], r": (\d+), \d \{", 1)
    return {
        "identifier of an interface": replace(iids, digit),
        "parent of an interface": replace(parents, lambda *_: "IUnknown"),
        "order of methods": swap(methods),
        "a method dropped": replace(methods, lambda *_: ""),
        "a parameter dropped": replace(parameters, lambda *_: ""),
        "order of parameters": swap(inner(lists, PARAMETER, "whole")),
        "width of a parameter": replace(parameter_types, lambda t, rng: other_type(t, rng, False)),
        "type of a parameter": replace(parameter_types, lambda t, rng: other_type(t, rng, True)),
        "a result added": replace(methods, lambda t, _: t if "->" in t
                                  else t.replace(");\n", ") -> BOOL;\n")),
        "type of a result": replace(results, lambda *_: "i32"),
        "function type": replace(functions, lambda t, _: t.replace("(", "(more: u32, ", 1)),
        "value of an enumeration": replace(numbers, digit),
        "value by name of an enumeration": replace(values, lambda t, _: f"{t} + 1"),
        "type of an enumeration": replace(sites(folder, ENUMERATIONS, ENUMERATION, "type"),
                                          lambda t, rng: rng.choice(["u64", "i32", "u8"])),
        "order of fields": swap(fields),
        "width of a field": replace(field_types, lambda t, rng: other_type(t, rng, False)),
        "type of a field": replace(field_types, lambda t, rng: other_type(t, rng, True)),
        "kind of a structure": replace(
            # Packing changes nothing where all fields are bytes.
            sites(folder, STRUCTURES, r"(?m)^ {4}(struct|union|packed) (?!\w*(?:SECT_SMALL|TINY) )", 1),
            lambda t, _: {"struct": "packed", "packed": "struct", "union": "struct"}[t]),
        "width of an alias": replace(alias_types, lambda t, rng: other_type(t, rng, False)),
        "type of an alias": replace(alias_types, lambda t, rng: other_type(t, rng, True)),
        "value of an HRESULT": replace(hresults, digit),
        "value of a GUID": replace(guids, digit),
        "value of a constant": replace(constants, digit),
        "text of a constant": replace(texts, lambda t, _: t[:-2] + t[-1] + t[-2] + "_"),
        "signature of a constant": replace(signatures, lambda t, _: "ELEMENT_TYPE_BOOLEAN"),
        "token of a constant": replace(nil_tokens, lambda t, _: "mdtFile" if t != "mdtFile"
                                       else "mdtEvent"),
        "a name": replace(names, lambda t, _: t[:-1] + ("X" if t[-1] != "X" else "Y")),
        "a line dropped": replace(lines, lambda *_: ""),
        "layout for 32 bits": replace(layouts, digit),
    }


def copy(folder):
    """The crate as the only member of a workspace."""
    shutil.copytree(CRATE, folder / CRATE.name, ignore=shutil.ignore_patterns("target"))
    manifest = (CRATE.parent / "Cargo.toml").read_text()
    manifest = re.sub(r"members = \[.*?\]", f'members = ["{CRATE.name}"]', manifest, flags=re.S)
    manifest = re.sub(r"\[profile\..*?(?=\n\[|\Z)", "", manifest, flags=re.S)
    (folder / "Cargo.toml").write_text(manifest)
    shutil.copy(CRATE.parent / "Cargo.lock", folder)
    return folder / CRATE.name


def test(folder):
    """What catches the state of the copy: None, or a text."""
    run = subprocess.run(["cargo", "test", "--offline", "--tests", "--no-fail-fast"], cwd=folder,
                         env={**os.environ, "CARGO_TARGET_DIR": str(folder.parent / "target")},
                         capture_output=True, text=True)
    if run.returncode == 0:
        return None
    failed = re.findall(r"^test (\S+) \.\.\. FAILED", run.stdout, re.M)
    if failed:
        return " ".join(failed)
    error = re.search(r"^error.*", run.stderr, re.M)
    return "compiler: " + (error.group() if error else "no message")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--breaks", type=int, default=30)
    parser.add_argument("--kind", help="break lines in this way only")
    options = parser.parse_args()
    rng = random.Random(options.seed)

    with tempfile.TemporaryDirectory() as temporary:
        folder = copy(pathlib.Path(temporary))
        found = test(folder)
        if found:
            sys.exit(f"the tests fail before anything is broken: {found}")
        ways = kinds(folder)
        if options.kind and options.kind not in ways:
            sys.exit("the kinds are: " + ", ".join(ways))
        survivors = compiler = done = 0
        order = []
        while done < options.breaks:
            # Each way once before one is taken again.
            order = order or rng.sample(sorted(ways), len(ways))
            kind = options.kind or order.pop()
            change = ways[kind](rng)
            if change is None:
                continue
            path, start, old, new = change
            text = path.read_text()
            path.write_text(text[:start] + new + text[start + len(old):])
            found = test(folder)
            path.write_text(text)
            done += 1
            survivors += found is None
            compiler += (found or "").startswith("compiler")
            line = text.count("\n", 0, start) + 1
            print(f"{'SURVIVED' if found is None else 'caught':8} {kind}: "
                  f"{path.relative_to(folder)}:{line}: {' '.join(old.split())!r} -> "
                  f"{' '.join(new.split())!r}: {found or 'nothing noticed'}", flush=True)
        print(f"{done} lines broken with seed {options.seed}: {done - survivors - compiler} caught by "
              f"tests, {compiler} by the compiler, {survivors} survived")
        sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
