// Methods into which a profiler inserts uses of public members, and of others.
using System;
using System.Runtime.CompilerServices;

namespace Accesses
{
    internal abstract class Shape
    {
        public static int Made;
        private static int secret = Environment.ProcessorCount;

        static Shape()
        {
            Made = secret > 0 ? 0 : 1;
        }

        public Shape()
        {
            Made++;
        }

        internal static void Internal() { }
        protected static void Protected() { }
        protected internal static void Both() { }
        private static void Hidden() { }

        public void Grow() { }

        private class Inner
        {
            public static void Public() { }

            [MethodImpl(MethodImplOptions.NoInlining)]
            public static void InNested() { }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void InOwn() { Inner.InNested(); }
    }

    internal class Circle : Shape
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void InDerived() { }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void InDerivedHidden() { }
    }

    internal class Box<T>
    {
        private static T kept;

        private static void Keep(T value) { kept = value; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T InGeneric() { return kept; }
    }

    // Derives from a class of an assembly that has no access to this one.
    internal class Guest : Stranger.Open
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void InGuest() { }
    }

    internal static class Program
    {
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesInternal() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesProtected() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesBoth() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesHidden() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesField() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesInner() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesInnerType() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesInitializer() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void MakesCircle() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void MakesShape() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void MakesByMethod() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesFriend() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesFriendClosed() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesFriendPrivate() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesStranger() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesStrangerClosed() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesStrangerArray() { }
        [MethodImpl(MethodImplOptions.NoInlining)] private static void UsesCore() { }

        private static int Main()
        {
            Friend.Open.Public();
            Stranger.Open.Public();
            UsesInternal();
            UsesProtected();
            UsesBoth();
            UsesHidden();
            UsesField();
            UsesInner();
            UsesInnerType();
            UsesInitializer();
            MakesCircle();
            MakesShape();
            MakesByMethod();
            UsesFriend();
            UsesFriendClosed();
            UsesFriendPrivate();
            UsesStranger();
            UsesStrangerClosed();
            UsesStrangerArray();
            UsesCore();
            Shape.InOwn();
            Circle.InDerived();
            Circle.InDerivedHidden();
            Console.WriteLine(Box<int>.InGeneric() + (Box<string>.InGeneric() ?? ""));
            Guest.InGuest();
            return 4;
        }
    }
}
