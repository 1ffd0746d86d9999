// mark.exe ASSEMBLY TYPE: sets the implementation flag of methods that the runtime makes
// asynchronous in each method of a type.
using Mono.Cecil;

internal static class Mark
{
    private static void Main(string[] arguments)
    {
        var parameters = new ReaderParameters { InMemory = true };
        using (ModuleDefinition module = ModuleDefinition.ReadModule(arguments[0], parameters))
        {
            foreach (MethodDefinition method in module.GetType(arguments[1]).Methods)
                method.ImplAttributes |= (MethodImplAttributes)0x2000;
            module.Write(arguments[0]);
        }
    }
}
