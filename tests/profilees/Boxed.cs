// Boxes values in known numbers: in code that is never optimised, and in other code.
using System;
using System.Runtime.CompilerServices;

namespace Boxed
{
    public struct Number
    {
        public long Value;
    }

    public struct Made
    {
        public long Value;
    }

    public struct Perhaps
    {
        public long Value;
    }

    public struct Quick
    {
        public long Value;
    }

    public enum Colour
    {
        Red,
        Green
    }

    public static class Program
    {
        private const MethodImplOptions Plain = MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization;

        private static readonly object[] Kept = new object[1000];
        private static Number number = new Number { Value = 1 };
        private static Perhaps? perhaps = new Perhaps();
        private static Quick quick = new Quick { Value = 2 };
        private static Colour colour = Colour.Green;

        private static int Main()
        {
            for (int i = 0; i < 300; i++)
            {
                BoxesNumber(i);
                BoxesMade(i);
                BoxesPerhaps(i);
                BoxesColour(i);
                BoxesQuick(i);
                BoxesPerhapsQuickly(i);
            }
            Console.WriteLine("boxed " + Kept.Length);
            return 5;
        }

        [MethodImpl(Plain)]
        private static void BoxesNumber(int i)
        {
            Kept[i] = number;
        }

        [MethodImpl(Plain)]
        private static void BoxesMade(int i)
        {
            Kept[i] = Make();
        }

        [MethodImpl(Plain)]
        private static void BoxesPerhaps(int i)
        {
            Kept[i] = perhaps;
        }

        [MethodImpl(Plain)]
        private static void BoxesColour(int i)
        {
            Kept[i] = colour;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void BoxesQuick(int i)
        {
            Kept[i] = quick;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void BoxesPerhapsQuickly(int i)
        {
            Kept[i] = perhaps;
        }

        [MethodImpl(Plain)]
        private static Made Make()
        {
            return new Made();
        }
    }
}
