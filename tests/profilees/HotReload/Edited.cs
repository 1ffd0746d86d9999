// The assembly that the program edits, as it is at first, and after one and two edits.
using System.Runtime.CompilerServices;

public static class Edited
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string Answer()
    {
#if SECOND
        return Added("three") + new Extra().Name;
#elif FIRST
        return Added("two");
#else
        return "one";
#endif
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string Same()
    {
        return "same";
    }

#if FIRST || SECOND
    private static string Added(string text)
    {
        return text + "!";
    }
#endif

#if SECOND
    private sealed class Extra
    {
        internal readonly string Name = "?";
    }
#endif
}
