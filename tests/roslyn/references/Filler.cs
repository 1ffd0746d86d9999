using System;
using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;

namespace References
{
    // A member is left out because its signature has a type that programs cannot name.
    internal sealed class HiddenException : Exception
    {
    }

    // Copies the members that programs can see, with the attributes that compilers know.
    internal sealed class Filler
    {
        private readonly Home home;
        private readonly ModuleDefinition module;
        // The owner of the generic parameters.
        private IGenericParameterProvider type;
        private IGenericParameterProvider method;

        internal Filler(Home home)
        {
            this.home = home;
            module = home.Module;
        }

        internal void Fill(TypeDefinition source, TypeDefinition copy)
        {
            type = copy;
            method = null;
            copy.BaseType = BaseOf(source);
            foreach (InterfaceImplementation implemented in source.Interfaces)
            {
                UnlessHidden(() => copy.Interfaces.Add(
                    new InterfaceImplementation(Map(implemented.InterfaceType, false))));
            }
            Constraints(source, copy);
            Attributes(source, copy);
            Fields(source, copy);
            var methods = new Dictionary<MethodDefinition, MethodDefinition>();
            foreach (MethodDefinition each in source.Methods.Where(Visibility.IsVisible))
            {
                UnlessHidden(() => methods[each] = Method(each, copy));
            }
            Func<MethodDefinition, MethodDefinition> copied = original =>
            {
                MethodDefinition found = null;
                return original != null && methods.TryGetValue(original, out found) ? found : null;
            };
            foreach (PropertyDefinition property in source.Properties)
            {
                MethodDefinition getter = copied(property.GetMethod), setter = copied(property.SetMethod);
                if (getter != null || setter != null)
                {
                    UnlessHidden(() =>
                    {
                        var same = new PropertyDefinition(
                            property.Name, property.Attributes, Map(property.PropertyType))
                        {
                            HasThis = property.HasThis,
                            GetMethod = getter,
                            SetMethod = setter,
                        };
                        copy.Properties.Add(same);
                        Attributes(property, same);
                    });
                }
            }
            foreach (EventDefinition each in source.Events)
            {
                MethodDefinition adder = copied(each.AddMethod), remover = copied(each.RemoveMethod);
                if (adder != null && remover != null)
                {
                    UnlessHidden(() => copy.Events.Add(
                        new EventDefinition(each.Name, each.Attributes, Map(each.EventType, false))
                        {
                            AddMethod = adder,
                            RemoveMethod = remover,
                        }));
                }
            }
        }

        internal void Attributes(ICustomAttributeProvider source, ICustomAttributeProvider copy)
        {
            foreach (CustomAttribute attribute in source.CustomAttributes)
            {
                UnlessHidden(() =>
                {
                    TypeDefinition definition = attribute.AttributeType.Resolve();
                    var constructor = new MethodReference(".ctor", module.TypeSystem.Void) { HasThis = true };
                    foreach (ParameterDefinition parameter in attribute.Constructor.Parameters)
                    {
                        constructor.Parameters.Add(new ParameterDefinition(Map(parameter.ParameterType)));
                    }
                    constructor.DeclaringType = Visibility.IsVisible(definition) && home.Homes.Of(definition) != null
                        ? Map(attribute.AttributeType, false)
                        : Embedded(definition, constructor);
                    copy.CustomAttributes.Add(new CustomAttribute(constructor, attribute.GetBlob()));
                });
            }
        }

        // Compilers define some attributes in the assembly that uses them, and know them by name.
        private TypeDefinition Embedded(TypeDefinition definition, MethodReference constructor)
        {
            if (definition.Namespace != "System.Runtime.CompilerServices" || definition.DeclaringType != null)
            {
                throw new HiddenException();
            }
            TypeDefinition copy = module.GetType(definition.FullName);
            if (copy == null)
            {
                copy = new TypeDefinition(
                    definition.Namespace, definition.Name, TypeAttributes.Sealed, Map(definition.BaseType, false));
                module.Types.Add(copy);
            }
            Func<MethodReference, string> key = reference =>
                string.Join(",", reference.Parameters.Select(parameter => parameter.ParameterType.FullName));
            if (copy.Methods.All(each => key(each) != key(constructor)))
            {
                var added = new MethodDefinition(
                    ".ctor",
                    MethodAttributes.Public | MethodAttributes.HideBySig | MethodAttributes.SpecialName
                        | MethodAttributes.RTSpecialName,
                    module.TypeSystem.Void);
                foreach (ParameterDefinition parameter in constructor.Parameters)
                {
                    added.Parameters.Add(new ParameterDefinition(parameter.ParameterType));
                }
                copy.Methods.Add(added);
            }
            return copy;
        }

        private static void UnlessHidden(Action action)
        {
            try
            {
                action();
            }
            catch (HiddenException)
            {
            }
            catch (AssemblyResolutionException)
            {
            }
        }

        private TypeReference BaseOf(TypeDefinition source)
        {
            for (TypeReference found = source.BaseType; found != null; found = found.Resolve().BaseType)
            {
                try
                {
                    return Map(found, false);
                }
                catch (HiddenException)
                {
                    // The base of a hidden type.
                }
            }
            return null;
        }

        private void Constraints(IGenericParameterProvider source, IGenericParameterProvider copy)
        {
            for (int i = 0; i < source.GenericParameters.Count; i++)
            {
                GenericParameter parameter = copy.GenericParameters[i];
                Attributes(source.GenericParameters[i], parameter);
                foreach (GenericParameterConstraint constraint in source.GenericParameters[i].Constraints)
                {
                    UnlessHidden(() => parameter.Constraints.Add(
                        new GenericParameterConstraint(Map(constraint.ConstraintType, false))));
                }
            }
        }

        // Of the hidden fields of a structure, programs notice whether there are any, whether they hold
        // references, and those that are of a generic parameter.
        private void Fields(TypeDefinition source, TypeDefinition copy)
        {
            bool isStructure = source.IsValueType && !source.IsEnum, isHiding = false, hasReferences = false;
            foreach (FieldDefinition field in source.Fields)
            {
                if (Visibility.IsVisible(field))
                {
                    UnlessHidden(() => copy.Fields.Add(Field(source, field)));
                }
                else if (isStructure && !field.IsStatic)
                {
                    isHiding = true;
                    hasReferences |= HasReferences(field.FieldType, 0);
                    if (field.FieldType is GenericParameter)
                    {
                        copy.Fields.Add(
                            new FieldDefinition(field.Name, FieldAttributes.Private, Map(field.FieldType)));
                    }
                }
            }
            if (hasReferences)
            {
                copy.Fields.Add(new FieldDefinition("_dummy", FieldAttributes.Private, module.TypeSystem.Object));
            }
            if (isHiding)
            {
                copy.Fields.Add(
                    new FieldDefinition("_dummyPrimitive", FieldAttributes.Private, module.TypeSystem.Int32));
                if (source.IsExplicitLayout)
                {
                    copy.IsSequentialLayout = true;
                }
            }
        }

        private FieldDefinition Field(TypeDefinition owner, FieldDefinition source)
        {
            var copy = new FieldDefinition(
                source.Name, source.Attributes & ~(FieldAttributes.HasFieldRVA | FieldAttributes.HasFieldMarshal),
                Map(source.FieldType));
            if (source.HasConstant)
            {
                copy.Constant = source.Constant;
            }
            if (owner.IsExplicitLayout && !source.IsStatic)
            {
                copy.Offset = source.Offset;
            }
            Attributes(source, copy);
            return copy;
        }

        private static bool HasReferences(TypeReference type, int depth)
        {
            if (type is GenericParameter || type is PointerType || type.IsPrimitive || depth > 8)
            {
                return false;
            }
            if (type is ByReferenceType || type is ArrayType)
            {
                return true;
            }
            TypeDefinition definition = type.Resolve();
            return definition != null && (!definition.IsValueType || definition.Fields.Any(
                field => !field.IsStatic && field.FieldType.FullName != definition.FullName
                    && HasReferences(field.FieldType, depth + 1)));
        }

        private MethodDefinition Method(MethodDefinition source, TypeDefinition owner)
        {
            var copy = new MethodDefinition(
                source.Name, source.Attributes & ~(MethodAttributes.PInvokeImpl | MethodAttributes.HasSecurity),
                module.TypeSystem.Void)
            {
                HasThis = source.HasThis,
                ExplicitThis = source.ExplicitThis,
                CallingConvention = source.CallingConvention,
                ImplAttributes = source.IsRuntime ? MethodImplAttributes.Runtime : MethodImplAttributes.IL,
            };
            foreach (GenericParameter parameter in source.GenericParameters)
            {
                copy.GenericParameters.Add(
                    new GenericParameter(parameter.Name, copy) { Attributes = parameter.Attributes });
            }
            method = copy;
            try
            {
                copy.ReturnType = Map(source.ReturnType);
                foreach (ParameterDefinition parameter in source.Parameters)
                {
                    var same = new ParameterDefinition(
                        parameter.Name, parameter.Attributes & ~ParameterAttributes.HasFieldMarshal,
                        Map(parameter.ParameterType));
                    if (parameter.HasConstant)
                    {
                        same.Constant = parameter.Constant;
                    }
                    Attributes(parameter, same);
                    copy.Parameters.Add(same);
                }
                Constraints(source, copy);
                Attributes(source, copy);
                Attributes(source.MethodReturnType, copy.MethodReturnType);
            }
            finally
            {
                method = null;
            }
            owner.Methods.Add(copy);
            return copy;
        }

        // A type of the source as it is spelled here. In signatures primitive types have codes of their
        // own.
        private TypeReference Map(TypeReference source, bool isInSignature = true)
        {
            var parameter = source as GenericParameter;
            if (parameter != null)
            {
                IGenericParameterProvider owner = parameter.Owner is MethodReference ? method : type;
                return owner.GenericParameters[parameter.Position];
            }
            var array = source as ArrayType;
            if (array != null)
            {
                return new ArrayType(Map(array.ElementType), array.Rank);
            }
            var instance = source as GenericInstanceType;
            if (instance != null)
            {
                var same = new GenericInstanceType(Map(instance.ElementType, false));
                foreach (TypeReference argument in instance.GenericArguments)
                {
                    same.GenericArguments.Add(Map(argument));
                }
                return same;
            }
            if (source is PointerType)
            {
                return new PointerType(Map(((TypeSpecification)source).ElementType));
            }
            if (source is ByReferenceType)
            {
                return new ByReferenceType(Map(((TypeSpecification)source).ElementType));
            }
            var required = source as RequiredModifierType;
            if (required != null)
            {
                return new RequiredModifierType(Map(required.ModifierType, false), Map(required.ElementType));
            }
            var optional = source as OptionalModifierType;
            if (optional != null)
            {
                return new OptionalModifierType(Map(optional.ModifierType, false), Map(optional.ElementType));
            }
            if (source is TypeSpecification)
            {
                // A pointer to a function.
                throw new HiddenException();
            }
            return (isInSignature ? Primitive(source) : null) ?? Named(source);
        }

        private TypeReference Named(TypeReference source)
        {
            TypeDefinition definition = source.Resolve();
            Home found = definition == null || !Visibility.IsVisible(definition) ? null : home.Homes.Of(definition);
            if (found == home)
            {
                return home.Declared(definition);
            }
            // The core library references nothing: by that compilers recognise it.
            if (found == null || home.IsCore)
            {
                throw new HiddenException();
            }
            return home.Reference(definition, found);
        }

        private TypeReference Primitive(TypeReference source)
        {
            if (source.Namespace != "System" || source.IsNested)
            {
                return null;
            }
            TypeSystem types = module.TypeSystem;
            switch (source.Name)
            {
                case "Void": return types.Void;
                case "Boolean": return types.Boolean;
                case "Char": return types.Char;
                case "SByte": return types.SByte;
                case "Byte": return types.Byte;
                case "Int16": return types.Int16;
                case "UInt16": return types.UInt16;
                case "Int32": return types.Int32;
                case "UInt32": return types.UInt32;
                case "Int64": return types.Int64;
                case "UInt64": return types.UInt64;
                case "Single": return types.Single;
                case "Double": return types.Double;
                case "IntPtr": return types.IntPtr;
                case "UIntPtr": return types.UIntPtr;
                case "String": return types.String;
                case "Object": return types.Object;
                case "TypedReference": return types.TypedReference;
                default: return null;
            }
        }
    }
}
