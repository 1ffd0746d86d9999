// The C# compiler as a command, for a Roslyn that comes without one: the options of csc.
//
// CLR_PROFILER_ROSLYN is the folder with Microsoft.CodeAnalysis.dll and Microsoft.CodeAnalysis.CSharp.dll.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.CodeAnalysis.Text;

internal static class Csc
{
    private static int Main(string[] arguments)
    {
        string roslyn = Environment.GetEnvironmentVariable("CLR_PROFILER_ROSLYN");
        AssemblyLoadContext.Default.Resolving += (context, name) =>
        {
            string candidate = Path.Combine(roslyn, name.Name + ".dll");
            return File.Exists(candidate) ? context.LoadFromAssemblyPath(candidate) : null;
        };
        return Compile(arguments);
    }

    // Apart, because it is compiled before it runs.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Compile(string[] arguments)
    {
        CSharpCommandLineArguments given = CSharpCommandLineParser.Default.Parse(
            arguments, Directory.GetCurrentDirectory(), null);
        IEnumerable<Diagnostic> problems = given.Errors;
        if (!given.Errors.Any())
        {
            string output = Path.Combine(given.OutputDirectory, given.OutputFileName);
            CSharpCompilation compilation = CSharpCompilation.Create(
                given.CompilationName ?? Path.GetFileNameWithoutExtension(output),
                given.SourceFiles.Select(source => CSharpSyntaxTree.ParseText(
                    SourceText.From(File.ReadAllText(source.Path), System.Text.Encoding.UTF8),
                    given.ParseOptions,
                    source.Path)),
                given.MetadataReferences.Select(it => (MetadataReference)MetadataReference.CreateFromFile(it.Reference)),
                given.CompilationOptions.WithModuleName(Path.GetFileName(output)));
            using (var image = new MemoryStream())
            {
                EmitResult emitted = compilation.Emit(image, options: given.EmitOptions);
                problems = emitted.Diagnostics;
                if (emitted.Success)
                {
                    File.WriteAllBytes(output, image.ToArray());
                    return 0;
                }
            }
        }
        foreach (Diagnostic problem in problems.Where(it => it.Severity == DiagnosticSeverity.Error))
        {
            Console.Out.WriteLine(problem);
        }
        return 1;
    }
}
