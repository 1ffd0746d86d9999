// Code to which profilers add types, members and calls of its own generic instances; the program reads
// the additions by reflection.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Members
{
    internal class Plain
    {
        private readonly int value = 3;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Value()
        {
            return value;
        }
    }

    internal class Box<T>
    {
        private static int count;
        private T last;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public string Put<U>(T item, U with)
        {
            return item + "/" + with;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static V Echo<V>(V value, int depth)
        {
            return value;
        }

        public string State()
        {
            return count + " " + last;
        }

        internal struct Nested<U>
        {
            private int calls;
            public U Held;

            [MethodImpl(MethodImplOptions.NoInlining)]
            public U Get(T unused)
            {
                return Held;
            }

            public int Calls()
            {
                return calls;
            }
        }
    }

    internal static class Program
    {
        private static int Main()
        {
            Console.WriteLine("answers " + Answer() + " " + Answer() + " " + Answer());
            Type counter = typeof(Program).Assembly.GetType("Injected.Counter");
            Console.WriteLine("hits " + Value(counter, "Hits") + ", last " + Value(counter, "Last"));
            Console.WriteLine("added " + Added());
            Console.WriteLine("native " + Native(20, 3));
            var plain = new Plain();
            Console.WriteLine("plain " + plain.Value() + plain.Value() + " " + Field(plain, "calls") + " " + Value(typeof(Plain), "all"));
            Type core = typeof(object).Assembly.GetType("Injected.CoreCounter");
            new StringBuilder(17).Append('x').Insert(0, "y");
            Console.WriteLine("core " + Value(core, "Hits"));
            Console.WriteLine("from here " + Core());

            var texts = new Box<string>();
            Console.WriteLine(texts.Put("a", 1) + " " + texts.Put("b", "c") + " " + texts.State());
            var numbers = new Box<int>();
            Console.WriteLine(numbers.Put(1, 'x') + " " + numbers.State());
            Console.WriteLine("echo " + Box<string>.Echo("e", 0) + " " + Box<int>.Echo(5, 0) + " " + Box<object>.Echo("o", 0));
            var nested = new Box<string>.Nested<int> { Held = 4 };
            Console.WriteLine("nested " + nested.Get("") + nested.Get("") + " " + nested.Calls());
            var other = new Box<long>.Nested<string> { Held = "h" };
            Console.WriteLine("nested " + other.Get(1) + " " + other.Calls());
            return 6;
        }

        // Injected code calls this with the handles of a method and its type.
        public static void Said(RuntimeMethodHandle method, RuntimeTypeHandle type)
        {
            MethodBase said = MethodBase.GetMethodFromHandle(method, type);
            Console.WriteLine("said " + said.DeclaringType + " " + said);
        }

        private static string Value(Type type, string name)
        {
            return type == null ? "no type" : Text(type.GetField(name, BindingFlags.Static | BindingFlags.Public), null);
        }

        private static string Field(object value, string name)
        {
            return Text(value.GetType().GetField(name), value);
        }

        private static string Text(FieldInfo field, object value)
        {
            return field == null ? "no field" : field.FieldType.Name + " " + field.GetValue(value);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Answer()
        {
            return 41;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Added()
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Native(int a, int b)
        {
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int Core()
        {
            return 0;
        }
    }
}
