using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;
using System.Threading;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.CodeAnalysis.Text;

// Writes the differences that hot reload applies to an assembly:
//
//   Difference REFERENCES ASSEMBLY SOURCE RESULT SYMBOL...
//
// ASSEMBLY is the one that was compiled from SOURCE, not optimised. With each SYMBOL in turn, the source is
// another edit of the one before. RESULT.1.meta, RESULT.1.il and RESULT.1.pdb are the first difference.
// Methods must have neither locals nor lambdas.
internal static class Difference
{
    private static int Main(string[] arguments)
    {
        string source = arguments[2];
        MetadataReference[] references = Directory.GetFiles(arguments[0], "*.dll")
            .OrderBy(path => path, StringComparer.Ordinal)
            .Select(path => (MetadataReference)MetadataReference.CreateFromFile(path)).ToArray();
        string name = Path.GetFileNameWithoutExtension(arguments[1]);
        Func<string, CSharpCompilation> compile = symbol => CSharpCompilation.Create(
            name,
            new[]
            {
                CSharpSyntaxTree.ParseText(
                    SourceText.From(File.ReadAllText(source), new UTF8Encoding(false), SourceHashAlgorithm.Sha256),
                    new CSharpParseOptions(
                        LanguageVersion.Latest,
                        DocumentationMode.None,
                        SourceCodeKind.Regular,
                        new[] { "DEBUG", "TRACE", symbol }),
                    "/_/" + source),
            },
            references,
            new CSharpCompilationOptions(
                OutputKind.DynamicallyLinkedLibrary,
                moduleName: name + ".dll",
                optimizationLevel: OptimizationLevel.Debug,
                deterministic: true));

        ModuleMetadata module = ModuleMetadata.CreateFromFile(arguments[1]);
        EmitBaseline baseline = EmitBaseline.CreateInitialBaseline(
            module,
            handle => default(EditAndContinueMethodDebugInformation),
            handle => default(StandaloneSignatureHandle),
            true);
        CSharpCompilation old = compile("ZERO");
        int number = 0;
        foreach (string symbol in arguments.Skip(4))
        {
            number++;
            CSharpCompilation changed = compile(symbol);
            var edits = new List<SemanticEdit>();
            foreach (ISymbol now in Members(changed))
            {
                ISymbol before = Members(old).SingleOrDefault(known => known.ToDisplayString() == now.ToDisplayString());
                if (before == null)
                {
                    edits.Add(new SemanticEdit(SemanticEditKind.Insert, null, now));
                }
                else if (now.Name == "Answer")
                {
                    edits.Add(new SemanticEdit(SemanticEditKind.Update, before, now));
                }
            }
            var added = new HashSet<string>(edits.Where(edit => edit.OldSymbol == null)
                .Select(edit => edit.NewSymbol.ToDisplayString()));
            using (var metadata = new MemoryStream())
            using (var code = new MemoryStream())
            using (var symbols = new MemoryStream())
            {
                EmitDifferenceResult result = changed.EmitDifference(
                    baseline, edits, symbol2 => added.Contains(symbol2.ToDisplayString()),
                    metadata, code, symbols, CancellationToken.None);
                foreach (Diagnostic problem in result.Diagnostics)
                {
                    Console.Error.WriteLine(problem);
                }
                if (!result.Success)
                {
                    return 1;
                }
                string path = arguments[3] + "." + number;
                File.WriteAllBytes(path + ".meta", metadata.ToArray());
                File.WriteAllBytes(path + ".il", code.ToArray());
                File.WriteAllBytes(path + ".pdb", symbols.ToArray());
                baseline = result.Baseline;
                old = changed;
            }
        }
        return 0;
    }

    // The methods of the class Edited, and its nested classes.
    private static IEnumerable<ISymbol> Members(CSharpCompilation compilation)
    {
        return compilation.GetTypeByMetadataName("Edited").GetMembers();
    }
}
