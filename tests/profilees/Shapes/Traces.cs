using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;

namespace Shapes
{
    // Exceptions that pass through many frames, and their stack traces.
    internal static class Traces
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F01(int v) { return F02(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F02(int v) { return F03(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F03(int v) { return F04(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F04(int v) { return F05(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F05(int v) { return F06(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F06(int v) { return F07(v, "x") + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F07<T>(int v, T more) { return F08(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F08(int v) { return F09(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F09(int v) { return new Frame(v).F10() + 1; }

        private struct Frame
        {
            private readonly int v;

            public Frame(int v)
            {
                this.v = v;
            }

            [MethodImpl(MethodImplOptions.NoInlining)]
            public int F10() { return F11(v) + 1; }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F11(int v)
        {
            try
            {
                return F12(v) + 1;
            }
            finally
            {
                v++;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F12(int v) { return F13(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F13(int v) { return F14(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F14(int v) { return F15(v) + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F15(int v)
        {
            try
            {
                return F16(v) + 1;
            }
            catch (ArgumentException)
            {
                return -1;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F16(int v) { return F17(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F17(int v) { return F18(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F18(int v) { return F19(v) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F19(int v) { return F20(v) + 1; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int F20(int v)
        {
            if (v == 0)
                throw new Odd(20);
            if (v == 1)
                throw new ArgumentException();
            return 0;
        }

        // The names of the methods in a trace, in which source locations may follow.
        private static string Frames(string trace)
        {
            StringBuilder frames = new StringBuilder();
            foreach (string line in trace.Split('\n'))
            {
                string frame = line.Trim();
                int end = frame.IndexOf('(');
                if (!frame.StartsWith("at ") || end < 0)
                {
                    frames.Append('?').Append(frame);
                    continue;
                }
                string name = frame.Substring(3, end - 3);
                frames.Append(name.Substring(name.IndexOf('.') + 1)).Append(' ');
            }
            return frames.ToString().Trim();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Through(int v)
        {
            try
            {
                return F01(v).ToString();
            }
            catch (Odd odd)
            {
                return Frames(odd.StackTrace);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Sink(int depth)
        {
            if (depth == 0)
                throw new Odd(0);
            return Sink(depth - 1) + 1;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Deep(int depth)
        {
            try
            {
                return Sink(depth).ToString();
            }
            catch (Odd odd)
            {
                string frames = Frames(odd.StackTrace);
                return frames.Split(' ').Length + frames.Substring(0, 12);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Again()
        {
            try
            {
                Sink(1);
            }
            catch (Odd)
            {
                throw;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Inner()
        {
            try
            {
                Sink(0);
            }
            catch (Odd odd)
            {
                throw new InvalidOperationException("inner", odd);
            }
        }

        private sealed class Thrower
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public Thrower(int v)
            {
                if (v > 0)
                    Sink(0);
            }

            public int Property
            {
                [MethodImpl(MethodImplOptions.NoInlining)]
                get { return Sink(0); }
            }
        }

        private static string TraceOf(Action code)
        {
            try
            {
                code();
                return "nothing";
            }
            catch (Exception exception)
            {
                string frames = Frames(exception.StackTrace);
                if (exception.InnerException != null)
                    frames += " in " + Frames(exception.InnerException.StackTrace);
                return frames;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Construct()
        {
            new Thrower(1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void GetProperty()
        {
            new Thrower(0).Property.ToString();
        }

        public static void All()
        {
            string expected = "Traces.F20 Traces.F19 Traces.F18 Traces.F17 Traces.F16 Traces.F15 Traces.F14 Traces.F13 Traces.F12"
                + " Traces.F11 Traces.Frame.F10 Traces.F09 Traces.F08 Traces.F07[T] Traces.F06 Traces.F05 Traces.F04 Traces.F03"
                + " Traces.F02 Traces.F01 Traces.Through";
            Check.Same("Through", expected, Through(0));
            Check.Same("Through", "13", Through(1));
            Check.Same("Through", "19", Through(2));
            Check.Same("Deep", "27Traces.Sink ", Deep(25));
            Check.Same("Again", "Traces.Sink Traces.Sink Traces.Again Traces.TraceOf", TraceOf(Again));
            Check.Same("Inner", "Traces.Inner Traces.TraceOf in Traces.Sink Traces.Inner", TraceOf(Inner));
            Check.Same("Construct", "Traces.Sink Traces.Thrower..ctor Traces.Construct Traces.TraceOf", TraceOf(Construct));
            Check.Same("GetProperty", "Traces.Sink Traces.Thrower.get_Property Traces.GetProperty Traces.TraceOf", TraceOf(GetProperty));
        }
    }
}
