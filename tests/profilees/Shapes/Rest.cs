using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Shapes
{
    // Has every method compiled, including those without callers.
    internal static class Rest
    {
        // The candidates for type arguments.
        private static readonly Type[] Candidates =
        {
            typeof(string), typeof(int), typeof(Counter), typeof(Odd), typeof(Stepper)
        };

        private static IEnumerable<Type[]> Choices(int count)
        {
            int all = 1;
            for (int place = 0; place < count; place++)
                all *= Candidates.Length;
            for (int choice = 0; choice < all; choice++)
            {
                Type[] chosen = new Type[count];
                int rest = choice;
                for (int place = 0; place < count; place++)
                {
                    chosen[place] = Candidates[rest % Candidates.Length];
                    rest /= Candidates.Length;
                }
                yield return chosen;
            }
        }

        private static RuntimeTypeHandle[] Handles(Type[] types)
        {
            return Array.ConvertAll(types, type => type.TypeHandle);
        }

        // Null if it was.
        private static string Prepare(MethodBase method)
        {
            int ofType = method.DeclaringType.IsGenericTypeDefinition ? method.DeclaringType.GetGenericArguments().Length : 0;
            int own = method.IsGenericMethodDefinition ? method.GetGenericArguments().Length : 0;
            if (ofType + own == 0)
            {
                try
                {
                    RuntimeHelpers.PrepareMethod(method.MethodHandle);
                    return null;
                }
                catch (Exception exception)
                {
                    return exception.GetType().Name;
                }
            }
            string outcome = null;
            foreach (Type[] chosen in Choices(ofType + own))
            {
                try
                {
                    // Preparing it shows whether the arguments are allowed.
                    if (ofType > 0)
                        method.DeclaringType.MakeGenericType(new List<Type>(chosen).GetRange(0, ofType).ToArray());
                    if (ofType == 0 && own > 0)
                        ((MethodInfo)method).MakeGenericMethod(chosen);
                    RuntimeHelpers.PrepareMethod(method.MethodHandle, Handles(chosen));
                    return null;
                }
                catch (Exception exception)
                {
                    // Then others are tried.
                    outcome = exception.GetType().Name;
                }
            }
            return outcome;
        }

        private static void All(Assembly assembly, List<string> failed)
        {
            BindingFlags all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance
                | BindingFlags.DeclaredOnly;
            foreach (Type type in assembly.GetTypes())
            {
                List<MethodBase> methods = new List<MethodBase>(type.GetMethods(all));
                methods.AddRange(type.GetConstructors(all));
                foreach (MethodBase method in methods)
                {
                    MethodImplAttributes code = method.GetMethodImplementationFlags();
                    if (method.IsAbstract || (code & MethodImplAttributes.Runtime) != 0)
                        continue;
                    string outcome = Prepare(method);
                    if (outcome != null)
                        failed.Add(type.Name + "." + method.Name + " " + outcome);
                }
            }
        }

        // The methods that could not be compiled, and why.
        public static string Prepared()
        {
            List<string> failed = new List<string>();
            All(typeof(Rest).Assembly, failed);
            All(typeof(ShapesIL.Ways).Assembly, failed);
            failed.Sort(string.CompareOrdinal);
            return string.Join(", ", failed);
        }
    }
}
