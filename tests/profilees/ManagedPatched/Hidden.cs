// A private patch in an assembly in the folder of the program.
static class Hidden
{
    static void Postfix(ref int __result)
    {
        __result += 1000;
    }
}
