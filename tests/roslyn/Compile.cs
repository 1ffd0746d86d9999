using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.CodeAnalysis.Text;

// Compiles C# with Roslyn:
//
//   Compile REFERENCES OUTPUT < LIST
//
// Each line of the list is a compilation: the path of the result in the folder OUTPUT, options, and the
// paths of the sources in the working folder. Relative paths, without blanks: no path of the machine gets
// into the results. The options:
//
//   KIND             core31, net8, ns20 or net472: the folder of REFERENCES, and the target
//   -library         instead of a program
//   -debug           not optimised
//   -pdb:HOW         embedded, portable (a file next to the result) or none, as it is by default
//   -reference:FILE  another assembly in OUTPUT
//   -define:SYMBOL   for #if
//   -unsafe          pointers are allowed
//   -key:FILE        the public key by which the result is signed, in name only
internal static class Program
{
    private static readonly Dictionary<string, string> Frameworks = new Dictionary<string, string>
    {
        { "core31", ".NETCoreApp,Version=v3.1" },
        { "corelib", ".NETCoreApp,Version=v3.1" },
        { "net8", ".NETCoreApp,Version=v8.0" },
        { "ns20", ".NETStandard,Version=v2.0" },
        { "net472", ".NETFramework,Version=v4.7.2" },
    };

    private static readonly Dictionary<string, MetadataReference[]> Loaded =
        new Dictionary<string, MetadataReference[]>();

    private static int Main(string[] arguments)
    {
        bool isGood = true;
        string line;
        while ((line = Console.In.ReadLine()) != null)
        {
            string[] words = line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
            isGood &= words.Length == 0 || Compile(arguments[0], arguments[1], words[0], words.Skip(1).ToArray());
        }
        return isGood ? 0 : 1;
    }

    private static bool Compile(string references, string output, string result, string[] words)
    {
        string kind = words.Single(Frameworks.ContainsKey);
        string[] options = words.Where(word => word.StartsWith("-", StringComparison.Ordinal)).ToArray();
        Func<string, string[]> values = name => options
            .Where(option => option.StartsWith("-" + name + ":", StringComparison.Ordinal))
            .Select(option => option.Substring(name.Length + 2)).ToArray();
        bool isDebug = options.Contains("-debug");
        string pdb = values("pdb").SingleOrDefault() ?? "none";

        var parsing = new CSharpParseOptions(
            LanguageVersion.Latest,
            DocumentationMode.None,
            SourceCodeKind.Regular,
            values("define").Concat(isDebug ? new[] { "DEBUG", "TRACE" } : new[] { "TRACE" }));
        var sources = words.Where(word => !options.Contains(word) && word != kind)
            .Select(source => Parse(File.ReadAllText(source), source, parsing)).ToList();
        sources.Add(Parse(
            "[assembly: System.Runtime.Versioning.TargetFramework(\"" + Frameworks[kind] + "\")]\n",
            "TargetFramework.cs", parsing));

        var compiling = new CSharpCompilationOptions(
            options.Contains("-library") ? OutputKind.DynamicallyLinkedLibrary : OutputKind.ConsoleApplication,
            moduleName: Path.GetFileName(result),
            optimizationLevel: isDebug ? OptimizationLevel.Debug : OptimizationLevel.Release,
            allowUnsafe: options.Contains("-unsafe"),
            deterministic: true);
        foreach (string key in values("key"))
        {
            compiling = compiling
                .WithCryptoPublicKey(ImmutableArray.Create(File.ReadAllBytes(key)))
                .WithPublicSign(true);
        }
        var compilation = CSharpCompilation.Create(
            Path.GetFileNameWithoutExtension(result),
            sources,
            Kind(references, kind).Concat(values("reference").Select(built => Reference(Path.Combine(output, built)))),
            compiling);

        string path = Path.Combine(output, result);
        string symbols = Path.ChangeExtension(path, ".pdb");
        Directory.CreateDirectory(Path.GetDirectoryName(path));
        File.Delete(symbols);
        using (var image = new MemoryStream())
        using (var separate = pdb == "portable" ? new MemoryStream() : null)
        {
            // Only the name of the PDB: the runtime searches it next to the assembly.
            EmitResult emitted = compilation.Emit(image, separate, options: new EmitOptions(
                debugInformationFormat: pdb == "embedded"
                    ? DebugInformationFormat.Embedded
                    : DebugInformationFormat.PortablePdb,
                pdbFilePath: Path.GetFileName(symbols),
                pdbChecksumAlgorithm: HashAlgorithmName.SHA256));
            foreach (Diagnostic problem in emitted.Diagnostics)
            {
                if (problem.Severity == DiagnosticSeverity.Error)
                {
                    Console.Error.WriteLine(result + ": " + problem);
                }
            }
            if (!emitted.Success)
            {
                return false;
            }
            File.WriteAllBytes(path, image.ToArray());
            if (separate != null)
            {
                File.WriteAllBytes(symbols, separate.ToArray());
            }
            return true;
        }
    }

    // `/_` is the root of the repository, by convention.
    private static SyntaxTree Parse(string text, string path, CSharpParseOptions options)
    {
        SourceText source = SourceText.From(text, new UTF8Encoding(false), SourceHashAlgorithm.Sha256);
        return CSharpSyntaxTree.ParseText(source, options, "/_/" + path);
    }

    private static MetadataReference[] Kind(string references, string kind)
    {
        MetadataReference[] found;
        if (!Loaded.TryGetValue(kind, out found))
        {
            string[] paths = Directory.GetFiles(Path.Combine(references, kind), "*.dll");
            Array.Sort(paths, StringComparer.Ordinal);
            Loaded[kind] = found = paths.Select(Reference).ToArray();
        }
        return found;
    }

    private static MetadataReference Reference(string path)
    {
        return MetadataReference.CreateFromFile(path);
    }
}
