using System;
using ShapesIL;

namespace Shapes
{
    // Calls of ShapesIL.Operands, ShapesIL.Pair and ShapesIL.Made.
    internal static unsafe class ILOperands
    {
        public static void All()
        {
            Check.Same("Constrained", "7", Operands.Constrained(7));
            Check.Same("Constrained", "<a>", Operands.Constrained(new Cell<string>("a")));
            Check.True("ConstrainedInterface", Operands.ConstrainedInterface(3, 5) < 0);
            Check.Same("ConstrainedInterface", 0, Operands.ConstrainedInterface("a", "a"));
            Check.Same("Readonly", "b", Operands.Readonly(new[] { "a", "b" }, 1));
            // An array of another type than it is used as.
            Check.Same("Readonly", "a", (string)Operands.Readonly<object>(new[] { "a" }, 0));
            long[] longs = { 1, 2 };
            Operands.RefGeneric(longs, 1) += 40;
            Check.Same("RefGeneric", 42, longs[1]);
            Check.Throws<ArrayTypeMismatchException>("RefGeneric", () => Operands.RefGeneric<object>(new[] { "a" }, 0).ToString());
            Check.Same("SpanOf", 3, Operands.SpanOf(new[] { "a", "b", "c" }).Length);
            Check.Same("Volatile", 6, Operands.Volatile(6));
            Check.Same("Unaligned", 0x0807060504030201, Operands.Unaligned(new byte[] { 0, 1, 2, 3, 4, 5, 6, 7, 8 }));
            Check.Same("LocAlloc", 7, Operands.LocAlloc(100));
            Check.Same("LocAllocInTry", 17, Operands.LocAllocInTry(16));
            Check.Same("CopyBlock", 3, Operands.CopyBlock(new byte[] { 1, 2, 3 }, new byte[3]));
            double to = 0, source = 2.5;
            Check.Same("CopyObject", 8, Operands.CopyObject(ref to, ref source));
            Check.Same("CopyObject", 2.5, to + source);
            string text = null, gone = "gone";
            Operands.CopyObject(ref text, ref gone);
            Check.Same("CopyObject", "gone", text + gone);
            Check.Same("TokenOfType", "System.Int32[]", Operands.TokenOfType<int[]>());
            Check.Same("TokenOfMethod", "Sum", Operands.TokenOfMethod());
            Check.Same("TypedReference", 10, Operands.TypedReference(5));
            Check.Same("RefAnyType", "String", Operands.RefAnyType(""));
            Check.Same("VirtualFunction", 77, Operands.VirtualFunction(77));
            Check.Same("CallsFunction", 12, Operands.CallsFunction(4));
            Check.Same("Overflows", -128, Operands.Overflows(-64, 2));
            Check.Throws<OverflowException>("Overflows", () => Operands.Overflows(64, 2));
            Check.Throws<OverflowException>("Overflows", () => Operands.Overflows(1 << 30, 4));
            Check.Same("OverflowsUnsigned", 255, Operands.OverflowsUnsigned(256));
            Check.Throws<OverflowException>("OverflowsUnsigned", () => Operands.OverflowsUnsigned(0));
            Check.Same("Finite", 0.5, Operands.Finite(1, 2));
            Check.Throws<OverflowException>("Finite", () => Operands.Finite(1, 0));
            Check.Same("Arithmetic", -(~(29 % 7 ^ 29 >> 3)) | 7, Operands.Arithmetic(29, 7));
            Check.Same("Unboxes", 6, (int)Operands.Unboxes(5));
            Check.Throws<InvalidCastException>("Unboxes", () => Operands.Unboxes(5L));
            Check.Throws<NullReferenceException>("Unboxes", () => Operands.Unboxes(null));
            Check.Same("UnboxAny", "a", Operands.UnboxAny<string>("a"));
            Check.True("UnboxAny", Operands.UnboxAny<int?>(null) == null && Operands.UnboxAny<int>(4) == 4);
            Check.Same("NativeInt", 42, Operands.NativeInt(new IntPtr(2)).ToInt64());
            void* place = null;
            Check.True("Pointers", Operands.Pointers(&place) == &place);
            Check.Same("Array", 3, Operands.Array(3)[1, 0]);
            Check.Same("LongString", 41, Operands.LongString().Length);
            Check.Same("ThroughAddress", 9, Operands.ThroughAddress(1));
            Check.Same("DupPop", 8, Operands.DupPop(4));

            Pair<int, string> pair = new Pair<int, string>(5, "p");
            Pair<string, int> swapped = pair.Swap();
            Check.Same("Swap", "p5", swapped.First + swapped.Second);

            Check.Same("Made", 9, new Made(9).Value);
            Check.Same("Made", 1, new Made(0).Value);
            Check.Throws<ArgumentException>("Made", () => new Made(-1));
            Check.Same("Made", 0, new Made(false, 8).Value);
            Check.Same("Made", 8, new Made(true, 8).Value);
            Check.Same("Initialised", 33, Made.Initialised());
            Check.Same("References", "5 7 1 3", IlReferences());
        }

        // References that C# cannot express are called by IL.
        private static string IlReferences()
        {
            return ReferencesIn(new[] { 5, 6 }) + " " + Caller.Modified(7) + " " + Caller.Pair() + " " + Caller.RefReadonly(3);
        }

        private static int ReferencesIn(int[] values)
        {
            return Caller.RefReadonly(values[0]);
        }
    }
}
