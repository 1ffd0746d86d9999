#!/bin/sh
# Writes files that are too large to be committed: Large.cs, and Sizes.il, which ShapesIL.il includes.
#
#   generate.sh FOLDER
set -eu
awk -v locals=300 -v lines=5000 'BEGIN {
    print "using System;\n\nnamespace Shapes\n{\n    internal static class Large\n    {"

    # Locals that all live to the end; a sum of squares.
    print "        private static long Locals(int seed)\n        {"
    for (i = 0; i < locals; i++) printf "            long v%d = (long)seed * %d;\n", i, i
    print "            long sum = 0;\n            for (int round = 0; round < 2; round++)\n            {"
    for (i = 0; i < locals; i++) { printf "                sum += v%d;\n                v%d = -v%d + 1;\n", i, i, i }
    print "            }\n            return sum;\n        }"

    # Arguments of all kinds, weighed by their number.
    split("int long double string byte", types, " ")
    printf "        private static long Arguments("
    for (i = 0; i < locals; i++) printf "%s%s a%d", i ? ", " : "", types[i % 5 + 1], i
    print ")\n        {\n            long sum = 0;"
    for (i = 0; i < locals; i++) {
        value = i % 5 == 3 ? "a" i ".Length" : i % 5 == 2 ? "(long)(a" i " * 2)" : "a" i
        printf "            sum += %d * %s;\n", i, value
        if (i % 50 == 0) printf "            a%d = 0;\n", i
    }
    print "            return sum;\n        }"

    # A linear congruential generator, unrolled, with branches over a long way.
    print "        private static int Lines(int start, bool early)\n        {"
    print "            uint state = (uint)start;\n            int passed = 0;\n        again:"
    for (i = 0; i < lines; i++) {
        if (i % 500 == 250) print "            if (early && passed == 0)\n                goto last;"
        if (i % 1000 == 600) printf "            if (state == %du)\n                return -%d;\n", i, i
        if (i % 1000 == 700) print "            try\n            {\n                passed += checked((int)(state & 1)) + 1;\n            }\n            finally\n            {\n                state ^= 1;\n            }"
        print "            state = unchecked(state * 1664525u + 1013904223u);"
    }
    print "        last:\n            if (early && passed == 0)\n            {\n                passed = 1;\n                early = false;\n                goto again;\n            }"
    print "            return unchecked((int)state);\n        }"

    # The same in a loop.
    print "        private static int Looped(int start, int from, int lines, bool flips)\n        {\n            uint state = (uint)start;"
    print "            for (int line = from; line < from + lines; line++)\n            {\n                if (flips && line % 1000 == 700)\n                    state ^= 1;"
    print "                state = unchecked(state * 1664525u + 1013904223u);\n            }\n            return unchecked((int)state);\n        }"

    print "        private static string Cases(int value)\n        {\n            switch (value)\n            {"
    for (i = 0; i < 400; i++) printf "                case %d: return \"%d\";\n", i, i * 7
    print "                default: throw new Odd(value);\n            }\n        }"

    print "        private static int Tries(int value)\n        {\n            int caught = 0;"
    for (i = 0; i < 40; i++) printf "            try\n            {\n                if (value %% %d == 0)\n                    throw new Odd(%d);\n            }\n            catch (Odd odd)\n            {\n                caught += odd.Value;\n            }\n", i + 2, i + 2
    print "            return caught;\n        }"

    print "        private static int Nests(int value)\n        {\n            int left = 0;"
    for (i = 0; i < 30; i++) print "            try\n            {"
    print "            if (value > 0)\n                return value;\n            throw new Odd(value);"
    for (i = 0; i < 30; i++) printf "            }\n            %s\n            {\n                left++;\n%s            }\n", i % 3 == 2 ? "catch (Odd odd) when (odd.Value == left)" : "finally", i % 3 == 2 ? "                return left + 1000;\n" : ""
    print "        }"

    print "        public static void All()\n        {"
    # 2 rounds: v, then 1 - v: together one for each.
    printf "            Check.Same(\"Locals\", %d, Locals(12345));\n", locals
    sum = 0
    printf "            Check.Same(\"Arguments\", "
    for (i = 0; i < locals; i++) sum += i * (i % 5 == 3 ? i % 7 : i % 5 == 2 ? 2 * i + 1 : i % 5 == 4 ? i % 200 : i)
    printf "%d, Arguments(", sum
    for (i = 0; i < locals; i++) {
        if (i % 5 == 3) value = "\"" substr("abcdefg", 1, i % 7) "\""
        else value = i % 5 == 2 ? i ".5" : i % 5 == 4 ? i % 200 : i
        printf "%s%s", i ? ", " : "", value
    }
    print "));"
    printf "            Check.Same(\"Lines\", Looped(7, 0, %d, true), Lines(7, false));\n", lines
    printf "            Check.Same(\"Lines\", Looped(Looped(7, 0, 250, false), 0, %d, true), Lines(7, true));\n", lines
    print "            for (int value = 0; value < 400; value += 57)\n                Check.Same(\"Cases\", (value * 7).ToString(), Cases(value));"
    print "            Check.Throws<Odd>(\"Cases\", () => Cases(-1), \"odd -1\");"
    print "            Check.Same(\"Tries\", 2 + 3 + 5 + 6 + 10 + 15 + 30, Tries(30));\n            Check.Same(\"Tries\", 0, Tries(43));"
    print "            Check.Same(\"Nests\", 5, Nests(5));"
    print "            Check.Throws<Odd>(\"Nests\", () => Nests(-3));"
    print "        }\n    }\n}"
}' > "$1/Large.cs"

# Bodies around the limits of headers, branches and tables. Each adds up as many ones as it can.
awk 'BEGIN {
    print ".class public abstract sealed beforefieldinit ShapesIL.Sizes extends [System.Runtime]System.Object\n{"
    for (size = 60; size <= 68; size++) {
        # ldc.i4.0, pairs of ldc.i4.1 and add, nops to fill up, ret.
        printf "  .method public static int32 Of%d() cil managed\n  {\n    .maxstack 8\n    ldc.i4.0\n", size
        left = size - 2
        for (; left >= 2; left -= 2) print "    ldc.i4.1\n    add"
        if (left) print "    nop"
        print "    ret\n  }"
    }
    # Forward and backward branches of given distances: nops in between.
    for (distance = 120; distance <= 134; distance++) {
        printf "  .method public static int32 Forward%d(int32 which) cil managed\n  {\n    .maxstack 2\n    ldarg.0\n    brtrue L\n", distance
        for (i = 0; i < distance - 2; i++) print "    nop"
        print "    ldc.i4.2\n    ret\n  L: ldc.i4.1\n    ret\n  }"
        printf "  .method public static int32 Backward%d(int32 count) cil managed\n  {\n    .maxstack 2\n  L: ldarg.0\n    ldc.i4.1\n    sub\n    starg.s 0\n", distance
        for (i = 0; i < distance - 12; i++) print "    nop"
        print "    ldarg.0\n    ldc.i4.0\n    bgt L\n    ldarg.0\n    ret\n  }"
    }
    for (clauses = 19; clauses <= 22; clauses++) {
        printf "  .method public static int32 Clauses%d(int32 which) cil managed\n  {\n    .maxstack 2\n    .locals init (int32 caught)\n", clauses
        for (i = 0; i < clauses; i++)
            printf "    .try\n    {\n      ldarg.0\n      ldc.i4 %d\n      bne.un.s E%d\n      newobj instance void [System.Runtime]System.Exception::.ctor()\n      throw\n    E%d: leave.s A%d\n    }\n    catch [System.Runtime]System.Exception\n    {\n      pop\n      ldc.i4 %d\n      stloc.0\n      leave.s A%d\n    }\n  A%d: nop\n", i, i, i, i, i + 100, i, i
        print "    ldloc.0\n    ret\n  }"
    }
    # A protected region of 255 bytes fits into a small clause, one of 256 does not.
    for (size = 254; size <= 257; size++) {
        printf "  .method public static int32 Region%d(int32 a) cil managed\n  {\n    .maxstack 2\n    .locals init (int32 r)\n    .try\n    {\n      ldc.i4.s 100\n      ldarg.0\n      div\n      stloc.0\n", size
        for (i = 0; i < size - 7; i++) print "      nop"
        print "      leave.s L\n    }\n    catch [System.Runtime]System.DivideByZeroException\n    {\n      pop\n      ldc.i4.m1\n      stloc.0\n      leave.s L\n    }\n  L: ldloc.0\n    ret\n  }"
    }
    # Values on the stack: 8 fit into a tiny header.
    for (depth = 7; depth <= 300; depth = depth == 9 ? 300 : depth + 1) {
        printf "  .method public static int32 Deep%d() cil managed\n  {\n    .maxstack %d\n", depth, depth
        for (i = 0; i < depth; i++) print "    ldc.i4.1"
        for (i = 1; i < depth; i++) print "    add"
        print "    ret\n  }"
    }
    print "}"
}' > "$1/Sizes.il"
