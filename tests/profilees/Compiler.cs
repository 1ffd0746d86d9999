// Compiles C# sources, each by itself, with the compiler (Roslyn) in a folder: `Compiler.dll FOLDER SOURCE...`.
// Prints the compiler's messages and the hash of each assembly.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Security.Cryptography;

namespace Compiler
{
    internal static class Program
    {
        private static Assembly common, csharp;

        private static int Main(string[] args)
        {
            common = Assembly.LoadFrom(Path.Combine(args[0], "Microsoft.CodeAnalysis.dll"));
            csharp = Assembly.LoadFrom(Path.Combine(args[0], "Microsoft.CodeAnalysis.CSharp.dll"));
            Type syntax = csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpSyntaxTree");
            string framework = Path.GetDirectoryName(typeof(object).Assembly.Location);
            string[] files = Directory.GetFiles(framework, "System.*.dll").OrderBy(file => file, StringComparer.Ordinal).ToArray();
            Type reference = common.GetType("Microsoft.CodeAnalysis.MetadataReference");
            Array references = Array.CreateInstance(reference, files.Length);
            for (int i = 0; i < files.Length; i++)
            {
                references.SetValue(Call(reference, null, "CreateFromFile", files[i]), i);
            }
            bool all = true;
            foreach (string source in args.Skip(1))
            {
                object tree = Call(syntax, null, "ParseText", File.ReadAllText(source));
                all &= Compile(tree, references);
            }
            return all ? 8 : 1;
        }

        private static bool Compile(object tree, Array references)
        {
            Array trees = Array.CreateInstance(common.GetType("Microsoft.CodeAnalysis.SyntaxTree"), 1);
            trees.SetValue(tree, 0);
            Type compiler = csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpCompilation");
            object compilation = Call(compiler, null, "Create", "Compiled", trees, references, Options());
            var made = new MemoryStream();
            object result = Call(compiler, compilation, "Emit", made);
            // The compiler works on several threads, and reports messages in varying order.
            var messages = ((System.Collections.IEnumerable)Get(result, "Diagnostics")).Cast<object>();
            foreach (string line in messages.Select(m => m.ToString()).OrderBy(m => m, StringComparer.Ordinal))
            {
                Console.WriteLine(line);
            }
            byte[] hash = SHA256.Create().ComputeHash(made.ToArray());
            Console.WriteLine(made.Length + " bytes " + BitConverter.ToString(hash));
            return (bool)Get(result, "Success");
        }

        // A library, optimised, and the same bytes each time.
        private static object Options()
        {
            Type type = csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpCompilationOptions");
            Type kind = common.GetType("Microsoft.CodeAnalysis.OutputKind");
            ConstructorInfo longest = type.GetConstructors().OrderBy(c => c.GetParameters().Length).Last();
            object[] all = longest.GetParameters().Select(p =>
                p.Name == "outputKind" ? Enum.Parse(kind, "DynamicallyLinkedLibrary") :
                p.Name == "deterministic" ? true :
                p.Name == "allowUnsafe" ? true : Type.Missing).ToArray();
            return longest.Invoke(BindingFlags.OptionalParamBinding | BindingFlags.CreateInstance, null, all, null);
        }

        private static object Get(object of, string property)
        {
            return of.GetType().GetProperty(property).GetValue(of);
        }

        // A method whose other parameters are optional, with their declared defaults.
        private static object Call(Type type, object on, string name, params object[] arguments)
        {
            MethodInfo method = type.GetMethods().First(m => m.Name == name && Takes(m.GetParameters(), arguments));
            var missing = Enumerable.Repeat(Type.Missing, method.GetParameters().Length - arguments.Length);
            object[] all = arguments.Concat(missing).ToArray();
            return method.Invoke(on, BindingFlags.OptionalParamBinding | BindingFlags.InvokeMethod, null, all, null);
        }

        private static bool Takes(ParameterInfo[] parameters, object[] arguments)
        {
            return parameters.Length >= arguments.Length
                && arguments.Select((one, i) => parameters[i].ParameterType.IsInstanceOfType(one)).All(fits => fits)
                && parameters.Skip(arguments.Length).All(p => p.IsOptional);
        }
    }
}
