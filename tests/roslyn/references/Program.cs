using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using Mono.Cecil;

namespace References
{
    // Makes reference assemblies from the assemblies of a framework:
    //
    //   references OUTPUT FOLDER[:FOLDER...] [NAME...]
    //
    // A reference assembly declares public types and members and has no code. Programs are compiled
    // against these, as users' programs are, and therefore refer to System.Runtime and the like: the
    // runtime's own folder would make them refer to System.Private.CoreLib.
    //
    // Without names, each assembly of the first folder gets one that users may refer to. The first
    // name is the core library.
    internal static class Program
    {
        // They exist for programs that were compiled for something older, and only forward types.
        private static readonly HashSet<string> Compatible = new HashSet<string>((
            "mscorlib netstandard System System.Core WindowsBase System.Xml System.Data System.Net "
            + "System.Numerics System.Drawing System.Configuration System.Security System.Xml.Linq "
            + "System.Xml.Serialization System.Web System.Windows System.ServiceProcess "
            + "System.ServiceModel.Web System.Transactions System.Runtime.Serialization "
            + "System.ComponentModel.DataAnnotations System.IO.Compression.FileSystem "
            + "Microsoft.VisualBasic System.ValueTuple").Split(' '));

        private static int Main(string[] arguments)
        {
            string output = arguments[0];
            string[] folders = arguments[1].Split(':');
            IEnumerable<string> names = arguments.Length > 2 ? arguments.Skip(2) : NamesIn(folders[0]);

            var resolver = new DefaultAssemblyResolver();
            foreach (string folder in resolver.GetSearchDirectories())
            {
                resolver.RemoveSearchDirectory(folder);
            }
            foreach (string folder in folders)
            {
                resolver.AddSearchDirectory(folder);
            }

            var homes = new Homes(resolver);
            foreach (string name in names)
            {
                string path = folders.Select(folder => Path.Combine(folder, name + ".dll")).First(File.Exists);
                AssemblyDefinition source;
                try
                {
                    source = AssemblyDefinition.ReadAssembly(
                        path, new ReaderParameters { AssemblyResolver = resolver });
                }
                catch (BadImageFormatException)
                {
                    // A native library.
                    continue;
                }
                homes.Add(source);
            }
            homes.Settle();

            Directory.CreateDirectory(output);
            foreach (Home home in homes.All)
            {
                home.Fill();
                if (home.IsEmpty)
                {
                    continue;
                }
                // Both are written into the PDBs of the compiled programs, which have to be the same each time.
                using (var md5 = MD5.Create())
                {
                    home.Module.Mvid = new Guid(md5.ComputeHash(Encoding.UTF8.GetBytes(home.Source.FullName)));
                }
                home.Module.Write(
                    Path.Combine(output, home.Source.Name.Name + ".dll"), new WriterParameters { Timestamp = 0 });
            }
            return 0;
        }

        // The order decides where a type is found that several of them forward.
        private static IEnumerable<string> NamesIn(string folder)
        {
            return Directory.GetFiles(folder, "*.dll")
                .Select(Path.GetFileNameWithoutExtension)
                .Where(name => !name.StartsWith("System.Private."))
                .OrderBy(name => name == "System.Runtime" ? 0
                    : name == "System.Runtime.Extensions" ? 1
                    : Compatible.Contains(name) ? 3 : 2)
                .ThenBy(name => name, StringComparer.Ordinal);
        }
    }
}
