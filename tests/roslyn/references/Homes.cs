using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;

namespace References
{
    // The reference assembly that declares a type: the core library, if it declares or forwards it,
    // otherwise the assembly that defines it, or the first that forwards it.
    internal sealed class Homes
    {
        private readonly IAssemblyResolver resolver;
        private readonly List<Home> all = new List<Home>();
        private readonly Dictionary<string, Home> byType = new Dictionary<string, Home>();

        internal Homes(IAssemblyResolver resolver)
        {
            this.resolver = resolver;
        }

        internal IEnumerable<Home> All
        {
            get { return all; }
        }

        internal Home Core
        {
            get { return all[0]; }
        }

        internal void Add(AssemblyDefinition source)
        {
            all.Add(new Home(this, source, resolver));
        }

        // The home of a type that programs can see, or null.
        internal Home Of(TypeDefinition type)
        {
            while (type.DeclaringType != null)
            {
                type = type.DeclaringType;
            }
            Home home;
            byType.TryGetValue(type.FullName, out home);
            return home;
        }

        internal void Settle()
        {
            Declare(Core, Forwarded(Core.Source));
            foreach (Home home in all)
            {
                Declare(home, home.Source.MainModule.Types);
            }
            foreach (Home home in all.Skip(1))
            {
                List<TypeDefinition> forwarded = Forwarded(home.Source).Where(Visibility.IsVisible).ToList();
                Declare(home, forwarded);
                foreach (TypeDefinition type in forwarded.Where(type => Of(type) != home))
                {
                    home.Forward(type, Of(type));
                }
            }
        }

        private void Declare(Home home, IEnumerable<TypeDefinition> types)
        {
            foreach (TypeDefinition type in types.Where(Visibility.IsVisible))
            {
                if (!byType.ContainsKey(type.FullName))
                {
                    byType[type.FullName] = home;
                    home.Declare(type);
                }
            }
        }

        private IEnumerable<TypeDefinition> Forwarded(AssemblyDefinition source)
        {
            return source.MainModule.ExportedTypes
                .Where(type => type.IsForwarder && type.DeclaringType == null)
                .Select(Follow)
                .Where(type => type != null);
        }

        // Some forwarders lead round in circles, or to missing types.
        private TypeDefinition Follow(ExportedType type)
        {
            for (int step = 0; step < 8 && type != null; step++)
            {
                ModuleDefinition module;
                try
                {
                    module = resolver.Resolve((AssemblyNameReference)type.Scope).MainModule;
                }
                catch (AssemblyResolutionException)
                {
                    return null;
                }
                TypeDefinition found = module.GetType(type.Namespace, type.Name);
                if (found != null)
                {
                    return found;
                }
                type = module.ExportedTypes.FirstOrDefault(
                    next => next.Name == type.Name && next.Namespace == type.Namespace && next.DeclaringType == null);
            }
            return null;
        }
    }

    internal static class Visibility
    {
        internal static bool IsVisible(TypeDefinition type)
        {
            return type.IsPublic
                || (type.IsNestedPublic || type.IsNestedFamily || type.IsNestedFamilyOrAssembly)
                    && IsVisible(type.DeclaringType);
        }

        internal static bool IsVisible(MethodDefinition method)
        {
            return method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;
        }

        internal static bool IsVisible(FieldDefinition field)
        {
            return field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly;
        }
    }
}
