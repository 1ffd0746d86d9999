// Has internals that one program may use, or none: built twice.
using System.Runtime.CompilerServices;

#if FRIEND
[assembly: InternalsVisibleTo("Other"), InternalsVisibleTo("Accesses")]
namespace Friend
#else
namespace Stranger
#endif
{
    public class Open
    {
        internal static int Calls;

        public static void Public() { }
        internal static void Internal() { Calls++; }
        protected static void Protected() { }
        protected internal static void ProtectedInternal() { }
        private static void Private() { }
    }

    internal class Closed
    {
        public static void Public() { }
    }
}
