// Uses a precompiled library of which it knows only the path.
using System;
using System.Reflection;

namespace Precompiled
{
    internal static class Program
    {
        private static int Main(string[] args)
        {
            Type type = Assembly.LoadFrom(args[0]).GetType("System.Uri", true);
            string all = "";
            for (int i = 0; i < 50; i++)
            {
                string text = "http://user@example.org:8080/a/../b/c%20d.e?f=g" + i + "#h";
                object uri = Activator.CreateInstance(type, text);
                all = "";
                foreach (string name in new[] { "Scheme", "Host", "Port", "AbsolutePath", "Query", "Fragment" })
                {
                    all += type.GetProperty(name).GetValue(uri) + " ";
                }
            }
            Console.WriteLine(all + type.Assembly.GetName().Name);
            return 7;
        }
    }
}
