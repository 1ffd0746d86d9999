using System;

namespace Language
{
    internal static class Interfaces
    {
        private interface INamed
        {
            string Name => "default " + Nick;

            string Nick { get; }

            string Shout() => Name.ToUpperInvariant();

            static int Count;

            private int Hidden(int n) => n / Count;

            int Share(int n) => Hidden(n);
        }

        private interface IPolite : INamed
        {
            string INamed.Shout() => Name + ", please";
        }

        private interface IRude : INamed
        {
            string INamed.Name => throw new NotSupportedException(Nick + " has no name");
        }

        private sealed class Plain : INamed
        {
            public string Nick => "plain";
        }

        private struct Both : IPolite
        {
            public string Nick => "both";

            public string Name => "own";
        }

        private sealed class Rude : IRude
        {
            public string Nick => "rude";
        }

        internal static void Run()
        {
            INamed.Count = 2;
            foreach (INamed named in new INamed[] { new Plain(), new Both() })
            {
                Console.WriteLine(named.Name + " " + named.Shout() + " " + named.Share(10));
            }
            Console.WriteLine(Constrained(new Both()));
            try
            {
                Constrained(new Rude());
            }
            catch (NotSupportedException e)
            {
                Sections.Show(e);
            }
            INamed.Count = 0;
            try
            {
                ((INamed)new Plain()).Share(1);
            }
            catch (DivideByZeroException e)
            {
                Sections.Show(e);
            }
        }

        private static string Constrained<T>(T value) where T : INamed
        {
            return value.Nick + " " + value.Shout();
        }
    }
}
