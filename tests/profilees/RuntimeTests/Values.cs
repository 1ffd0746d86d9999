// Arguments and results of many shapes, for hooks that read them; and methods to be inlined and rejitted.
using System;
using System.Runtime.CompilerServices;

namespace RuntimeTests
{
    internal struct Mixed
    {
        public int Number;
        public double Real;
    }

    internal struct Large
    {
        public int A0;
        public double B0;
        public int A1;
        public double B1;
        public int A2;
        public double B2;
        public int A3;
        public double B3;
    }

    internal struct Integers
    {
        public int First;
        public int Second;
    }

    internal struct Floats2
    {
        public float X, Y;
    }

    internal struct Floats3
    {
        public float X, Y, Z;
    }

    internal struct Floats4
    {
        public float X, Y, Z, W;
    }

    internal struct Doubles2
    {
        public double X, Y;
    }

    internal struct Doubles3
    {
        public double X, Y, Z;
    }

    internal struct Doubles4
    {
        public double X, Y, Z, W;
    }

    internal static class Values
    {
        internal static void Arguments()
        {
            Simple(-123, -4.3f, "the argument");
            TakeMixed(new Mixed { Number = 1, Real = 1 });
            TakeLarge(new Large { A1 = 1, B1 = 1, A2 = 2, B2 = 2, A3 = 3, B3 = 3 });
        }

        internal static void Results()
        {
            GC.KeepAlive(Text());
            GiveMixed();
            TakeLarge(new Large { A3 = 3 });
            GiveIntegers();
            GiveFloats2();
            GiveFloats3();
            GiveFloats4();
            GiveDoubles2();
            GiveDoubles3();
            GiveDoubles4();
            GiveDouble();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Simple(int number, float real, string text)
        {
            GC.KeepAlive(text);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void TakeMixed(Mixed mixed)
        {
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int TakeLarge(Large large)
        {
            return large.A3;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Text()
        {
            return "the result";
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Mixed GiveMixed()
        {
            return new Mixed { Number = 4, Real = 1 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Integers GiveIntegers()
        {
            return new Integers { First = 21, Second = 256 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Floats2 GiveFloats2()
        {
            return new Floats2 { X = 1, Y = 2 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Floats3 GiveFloats3()
        {
            return new Floats3 { X = 1, Y = 2, Z = 3 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Floats4 GiveFloats4()
        {
            return new Floats4 { X = 1, Y = 2, Z = 3, W = 4 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Doubles2 GiveDoubles2()
        {
            return new Doubles2 { X = 1, Y = 2 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Doubles3 GiveDoubles3()
        {
            return new Doubles3 { X = 1, Y = 2, Z = 3 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static Doubles4 GiveDoubles4()
        {
            return new Doubles4 { X = 1, Y = 2, Z = 3, W = 4 };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static double GiveDouble()
        {
            return 13;
        }
    }

    internal static class Inlined
    {
        // The inliners of `Target` are compiled before it is rejitted, and all of them follow.
        internal static void Rejit()
        {
            Say();
            Profiler.Call(0);
            Say();
            Profiler.Call(1);
            Say();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Say()
        {
            Console.WriteLine(Target() + " " + First() + " " + Second());
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static string Target()
        {
            return "original";
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string First()
        {
            return Target();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Second()
        {
            return Target();
        }

        internal static void Inlining()
        {
            Allows();
            Blocks();
            Silent();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Allows()
        {
            return Inlinee();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Blocks()
        {
            return Inlinee();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Silent()
        {
            return Inlinee();
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static int Inlinee()
        {
            return 7;
        }
    }
}
