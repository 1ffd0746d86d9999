using System;
using System.Collections;
using System.Collections.Generic;

namespace Shapes
{
    internal interface IShape<T>
    {
        T Value { get; }
        string Describe<U>(U with);
    }

    internal struct Cell<T> : IShape<T>, IEquatable<Cell<T>>
    {
        private T value;
        public int Changes;

        public Cell(T value)
        {
            this.value = value;
            Changes = 0;
        }

        public T Value
        {
            get { return value; }
            set
            {
                this.value = value;
                Changes++;
            }
        }

        public string Describe<U>(U with)
        {
            return typeof(T).Name + "/" + typeof(U).Name + ":" + value + "/" + with;
        }

        public bool Equals(Cell<T> other)
        {
            return EqualityComparer<T>.Default.Equals(value, other.value);
        }

        public override string ToString()
        {
            return "<" + value + ">";
        }

        public Cell<U> Map<U>(Func<T, U> map)
        {
            return new Cell<U>(map(value));
        }
    }

    internal class Tree<K, V> : IEnumerable<KeyValuePair<K, V>> where K : IComparable<K>
    {
        private sealed class Node
        {
            public readonly K Key;
            public V Value;
            public Node Left;
            public Node Right;

            public Node(K key, V value)
            {
                Key = key;
                Value = value;
            }

            public IEnumerable<Node> InOrder()
            {
                if (Left != null)
                    foreach (Node node in Left.InOrder())
                        yield return node;
                yield return this;
                if (Right != null)
                    foreach (Node node in Right.InOrder())
                        yield return node;
            }
        }

        private Node root;

        public V this[K key]
        {
            get
            {
                for (Node node = root; node != null;)
                {
                    int order = key.CompareTo(node.Key);
                    if (order == 0)
                        return node.Value;
                    node = order < 0 ? node.Left : node.Right;
                }
                throw new KeyNotFoundException("no " + key);
            }
            set { Put(ref root, key, value); }
        }

        private static void Put(ref Node place, K key, V value)
        {
            if (place == null)
            {
                place = new Node(key, value);
                return;
            }
            int order = key.CompareTo(place.Key);
            if (order == 0)
                place.Value = value;
            else if (order < 0)
                Put(ref place.Left, key, value);
            else
                Put(ref place.Right, key, value);
        }

        public IEnumerator<KeyValuePair<K, V>> GetEnumerator()
        {
            if (root == null)
                yield break;
            foreach (Node node in root.InOrder())
                yield return new KeyValuePair<K, V>(node.Key, node.Value);
        }

        IEnumerator IEnumerable.GetEnumerator()
        {
            return GetEnumerator();
        }
    }

    internal class Outer<A>
    {
        public class Middle<B> where B : new()
        {
            public struct Inner<C>
            {
                public A First;
                public B Second;
                public C Third;

                public Inner(A first, B second, C third)
                {
                    First = first;
                    Second = second;
                    Third = third;
                }

                public string Say<D>(D fourth)
                {
                    return First + " " + Second + " " + Third + " " + fourth;
                }
            }

            public static B Made()
            {
                return new B();
            }
        }

        public static int Made;

        public static int Count()
        {
            return ++Made;
        }
    }

    internal abstract class Visitor<R>
    {
        public abstract R Visit<T>(T value);
    }

    internal sealed class Namer : Visitor<string>
    {
        public override string Visit<T>(T value)
        {
            return typeof(T).Name + (value == null ? "" : "=" + value);
        }
    }

    internal sealed class Counter : IComparable<Counter>
    {
        public int Value = 3;

        public int CompareTo(Counter other)
        {
            return Value - other.Value;
        }

        public override string ToString()
        {
            return "#" + Value;
        }
    }

    internal interface IStep
    {
        int Step();
    }

    internal struct Stepper : IStep
    {
        private int value;

        public int Step()
        {
            return ++value;
        }

        public override int GetHashCode()
        {
            return value * 10;
        }
    }

    internal static class Generics
    {
        private static T Same<T>(T value)
        {
            return value;
        }

        private static T Default<T>()
        {
            return default(T);
        }

        private static T Largest<T>(params T[] values) where T : IComparable<T>
        {
            T largest = values[0];
            foreach (T value in values)
                if (value.CompareTo(largest) > 0)
                    largest = value;
            return largest;
        }

        private static void Swap<T>(ref T a, ref T b)
        {
            T kept = a;
            a = b;
            b = kept;
        }

        private static ref T At<T>(T[] values, int index)
        {
            return ref values[index];
        }

        // Constrained calls: those of a struct change the argument itself.
        private static int Steps<T>(ref T stepper) where T : IStep
        {
            return stepper.Step() + stepper.Step() + stepper.GetHashCode();
        }

        private static string Text<T>(T value)
        {
            return value.ToString();
        }

        private static bool IsOne<T>(object thing)
        {
            return thing is T;
        }

        private static T As<T>(object thing) where T : class
        {
            return thing as T;
        }

        private static T New<T>() where T : new()
        {
            return new T();
        }

        private static T[] Filled<T>(int count, Func<int, T> make)
        {
            T[] all = new T[count];
            for (int index = 0; index < count; index++)
                all[index] = make(index);
            return all;
        }

        private static T[,] Table<T>(int rows, int columns, T value)
        {
            T[,] table = new T[rows, columns];
            for (int row = 0; row < rows; row++)
                table[row, row % columns] = value;
            return table;
        }

        private static R Fold<T, R>(IEnumerable<T> all, R seed, Func<R, T, R> step)
        {
            foreach (T one in all)
                seed = step(seed, one);
            return seed;
        }

        private static T CatchGeneric<T, E>(Func<T> make, T otherwise) where E : Exception
        {
            try
            {
                return make();
            }
            catch (E)
            {
                return otherwise;
            }
        }

        private static T FinallyGeneric<T>(T value, List<T> seen)
        {
            try
            {
                return value;
            }
            finally
            {
                seen.Add(value);
            }
        }

        private static string Deep<T>(T value, int depth)
        {
            // Each call is of another instance.
            return depth == 0 ? typeof(T).ToString() : Deep(new Cell<T>(value), depth - 1);
        }

        private static T? Maybe<T>(T value, bool has) where T : struct
        {
            return has ? value : (T?)null;
        }

        private static Outer<C>.Middle<B>.Inner<A> Turned<A, B, C>(Outer<A>.Middle<B>.Inner<C> inner) where B : new()
        {
            return new Outer<C>.Middle<B>.Inner<A>(inner.Third, inner.Second, inner.First);
        }

        private static long Sum<T>(Cell<T>[] cells, Func<T, long> number)
        {
            long sum = 0;
            for (int index = 0; index < cells.Length; index++)
            {
                ref Cell<T> cell = ref cells[index];
                cell.Value = cell.Value;
                sum += number(cell.Value) * cells[index].Changes;
            }
            return sum;
        }

        public static void All()
        {
            Check.Same("Same", 5, Same(5));
            Check.Same("Same", "a", Same("a"));
            Check.Same("Same", 2.5, Same(2.5));
            Check.Same("Same", "<7>", Same(new Cell<int>(7)).ToString());
            Check.Same("Default", 0, Default<long>());
            Check.Same("Default", null, Default<string>());
            Check.Same("Default", "<>", Default<Cell<string>>().ToString());
            Check.Same("Largest", 9, Largest(3, 9, 4));
            Check.Same("Largest", "c", Largest("a", "c", "b"));
            Check.Same("Largest", "#8", Largest(new Counter { Value = 8 }, new Counter()).ToString());
            int one = 1, two = 2;
            Swap(ref one, ref two);
            string x = "x", y = "y";
            Swap(ref x, ref y);
            Check.Same("Swap", "21yx", "" + one + two + x + y);
            int[] numbers = { 1, 2, 3 };
            At(numbers, 1) = 20;
            At(numbers, 2)++;
            Check.Same("At", 25, numbers[0] + numbers[1] + numbers[2]);
            string[] texts = { "a", "b" };
            At(texts, 0) += "c";
            Check.Same("At", "ac", texts[0]);
            Check.Throws<IndexOutOfRangeException>("At", () => At(texts, 2) = "no");
            Stepper stepper = new Stepper();
            Check.Same("Steps", 23, Steps(ref stepper));
            Check.Same("Steps", 3, stepper.Step());
            Check.Same("Text", "5", Text(5));
            Check.Same("Text", "#3", Text(new Counter()));
            Check.Same("Text", "<z>", Text(new Cell<string>("z")));
            Check.True("IsOne", IsOne<int>(1) && !IsOne<long>(1) && IsOne<Counter>(new Counter()) && !IsOne<string>(null));
            Check.Same("As", "s", As<string>("s"));
            Check.Same("As", null, As<string>(new Counter()));
            Check.Same("New", 3, New<Counter>().Value);
            Check.Same("New", 0, New<int>());
            Check.Same("Filled", "0,2,4", string.Join(",", Filled(3, index => index * 2)));
            Check.Same("Table", 6, Table(3, 2, 6)[2, 0]);
            Check.Same("Table", null, Table(3, 2, "x")[2, 1]);
            Check.Same("Fold", "123", Fold(new[] { 1, 2, 3 }, "", (text, value) => text + value));
            Check.Same("Fold", 24L, Fold(new List<int> { 2, 3, 4 }, 1L, (product, value) => product * value));
            Check.Same("CatchGeneric", 4, CatchGeneric<int, Odd>(() => { throw new Odd(1); }, 4));
            Check.Same("CatchGeneric", "ok", CatchGeneric<string, Odd>(() => "ok", "no"));
            Check.Throws<InvalidOperationException>("CatchGeneric",
                () => CatchGeneric<string, Odd>(() => { throw new InvalidOperationException(); }, "no"));
            List<string> seen = new List<string>();
            Check.Same("FinallyGeneric", "f", FinallyGeneric("f", seen));
            Check.Same("FinallyGeneric", 1, seen.Count);
            Check.Same("Deep", "Shapes.Cell`1[Shapes.Cell`1[Shapes.Cell`1[System.Int32]]]", Deep(1, 3));
            Check.Same("Deep", "Shapes.Cell`1[System.String]", Deep("", 1));
            Check.Same("Maybe", 6, Maybe(6, true) ?? 0);
            Check.True("Maybe", Maybe(6, false) == null);
            Check.Same("Sum", 60, Sum(new[] { new Cell<string>("10"), new Cell<string>("50") }, long.Parse));

            Cell<int> cell = new Cell<int>(1);
            cell.Value = 8;
            Check.Same("Cell", 9, cell.Value + cell.Changes);
            IShape<int> shape = cell;
            Check.Same("Describe", "Int32/String:8/w", shape.Describe("w"));
            Check.Same("Describe", "String/Double:s/0.5", new Cell<string>("s").Describe(0.5));
            Check.True("Equals", cell.Equals(new Cell<int>(8)) && !cell.Equals(new Cell<int>(1)));
            Check.Same("Map", "<9>", cell.Map(value => (value + 1L).ToString()).ToString());

            Tree<string, int> tree = new Tree<string, int>();
            foreach (string word in "the quick brown fox jumps over the lazy dog".Split(' '))
                tree[word] = word.Length;
            Check.Same("Tree", "brown dog fox jumps lazy over quick the ", Fold(tree, "", (text, pair) => text + pair.Key + " "));
            Check.Same("Tree", 5, tree["jumps"]);
            Check.Throws<KeyNotFoundException>("Tree", () => tree["cat"].ToString(), "no cat");
            Check.Same("Tree", 0, Fold(new Tree<int, Counter>(), 0, (count, pair) => count + 1));

            var inner = new Outer<int>.Middle<Counter>.Inner<string>(1, new Counter(), "c");
            Check.Same("Say", "1 #3 c d", inner.Say('d'));
            Check.Same("Turned", "c #3 1 2", Turned(inner).Say(2));
            Check.Same("Made", 3, Outer<string>.Middle<Counter>.Made().Value);
            Check.True("Count", Outer<Cell<byte>>.Count() > 0 && Outer<Uri>.Made == 0);
            Visitor<string> visitor = new Namer();
            Check.Same("Visit", "Int32=4 String Cell`1=<5>",
                visitor.Visit(4) + " " + visitor.Visit<string>(null) + " " + visitor.Visit(new Cell<int>(5)));
        }
    }
}
