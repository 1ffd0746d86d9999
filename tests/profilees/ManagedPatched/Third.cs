// Patches of an assembly that is loaded next to that of `Plain.cs`, of the program `Waits`.
namespace Third
{
    public static class Million
    {
        public static void Postfix(ref int __result)
        {
            __result += 1000000;
        }
    }
}
