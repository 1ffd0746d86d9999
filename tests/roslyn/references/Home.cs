using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;

namespace References
{
    // A reference assembly under construction.
    internal sealed class Home
    {
        private readonly List<KeyValuePair<TypeDefinition, TypeDefinition>> declared =
            new List<KeyValuePair<TypeDefinition, TypeDefinition>>();

        internal Home(Homes homes, AssemblyDefinition source, IAssemblyResolver resolver)
        {
            Homes = homes;
            Source = source;
            // Cecil takes an assembly with the name of a core library for a complete one: it gets its
            // name when there is a reference to another core library.
            var name = new AssemblyNameDefinition("unnamed", source.Name.Version) { PublicKey = source.Name.PublicKey };
            Module = AssemblyDefinition.CreateAssembly(
                name, source.Name.Name + ".dll",
                new ModuleParameters { Kind = ModuleKind.Dll, AssemblyResolver = resolver }).MainModule;
            if (homes.All.Any())
            {
                Refer(homes.Core);
            }
            Module.TypeSystem.Object.ToString();
            name.Name = source.Name.Name;
        }

        internal Homes Homes { get; private set; }

        internal AssemblyDefinition Source { get; private set; }

        internal ModuleDefinition Module { get; private set; }

        internal bool IsCore
        {
            get { return Homes.Core == this; }
        }

        internal bool IsEmpty
        {
            get { return declared.Count == 0 && Module.ExportedTypes.Count == 0; }
        }

        internal void Declare(TypeDefinition type)
        {
            Module.Types.Add(Copy(type));
        }

        internal void Forward(TypeDefinition type, Home home)
        {
            Module.ExportedTypes.Add(
                new ExportedType(type.Namespace, type.Name, Module, Refer(home)) { IsForwarder = true });
        }

        // The copy of a type that is declared here.
        internal TypeDefinition Declared(TypeDefinition type)
        {
            return Module.GetType(type.FullName);
        }

        internal TypeReference Reference(TypeDefinition type, Home home)
        {
            var reference = new TypeReference(type.Namespace, type.Name, Module, Refer(home), type.IsValueType);
            if (type.DeclaringType != null)
            {
                reference.DeclaringType = Reference(type.DeclaringType, home);
            }
            return reference;
        }

        internal void Fill()
        {
            var filler = new Filler(this);
            foreach (KeyValuePair<TypeDefinition, TypeDefinition> pair in declared)
            {
                filler.Fill(pair.Key, pair.Value);
            }
            // Rules of the language that the assembly was compiled with.
            ModuleDefinition origin = declared.Select(pair => pair.Key.Module).FirstOrDefault();
            filler.Attributes(origin ?? Source.MainModule, Module);
            if (IsCore)
            {
                Module.AssemblyReferences.Clear();
            }
        }

        private TypeDefinition Copy(TypeDefinition type)
        {
            var copy = new TypeDefinition(
                type.Namespace, type.Name, type.Attributes & ~TypeAttributes.HasSecurity);
            foreach (GenericParameter parameter in type.GenericParameters)
            {
                copy.GenericParameters.Add(
                    new GenericParameter(parameter.Name, copy) { Attributes = parameter.Attributes });
            }
            if (type.ClassSize > 0 || type.PackingSize > 0)
            {
                copy.ClassSize = type.ClassSize;
                copy.PackingSize = type.PackingSize;
            }
            declared.Add(new KeyValuePair<TypeDefinition, TypeDefinition>(type, copy));
            foreach (TypeDefinition nested in type.NestedTypes.Where(Visibility.IsVisible))
            {
                copy.NestedTypes.Add(Copy(nested));
            }
            return copy;
        }

        private AssemblyNameReference Refer(Home home)
        {
            AssemblyNameDefinition name = home.Source.Name;
            AssemblyNameReference reference = Module.AssemblyReferences.FirstOrDefault(r => r.Name == name.Name);
            if (reference == null)
            {
                reference = new AssemblyNameReference(name.Name, name.Version) { PublicKeyToken = name.PublicKeyToken };
                Module.AssemblyReferences.Add(reference);
            }
            return reference;
        }
    }
}
