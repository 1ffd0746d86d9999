using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Shapes
{
    internal class Base
    {
        private readonly List<string> log = new List<string> { "base field" };
        protected readonly string Name;

        public Base() : this("unnamed")
        {
            log.Add("Base()");
        }

        protected Base(string name)
        {
            Name = name;
            log.Add("Base(string)");
            Made();
        }

        // Called before the derived constructor's own code has run.
        protected virtual void Made()
        {
        }

        protected void Note(string what)
        {
            log.Add(what);
        }

        public virtual string Say()
        {
            return Name;
        }

        public string History()
        {
            return string.Join(", ", log);
        }
    }

    internal class Derived : Base
    {
        private readonly int number = 5;

        public Derived()
        {
            Note("Derived()");
        }

        public Derived(int number) : base("n" + (number > 3 ? "large" : "small"))
        {
            this.number = number;
            Note("Derived(int)");
        }

        public Derived(int a, int b) : this(checked(a + b))
        {
            Note("Derived(int, int)");
        }

        protected override void Made()
        {
            Note("made " + number);
        }

        public override string Say()
        {
            return base.Say() + number;
        }
    }

    internal sealed class Guarded : Base
    {
        public Guarded(string name) : base(name)
        {
            try
            {
                if (name.Length == 0)
                    throw new ArgumentException("empty");
                Note("try");
            }
            finally
            {
                Note("finally");
            }
        }
    }

    internal static class Initialised
    {
        public static readonly int Value;
        public static readonly string Text = "t" + "ext".ToUpperInvariant();

        static Initialised()
        {
            try
            {
                Value = Text.Length * 10;
            }
            finally
            {
                Value++;
            }
        }
    }

    internal static class Broken
    {
        public static int Value = 3;

        static Broken()
        {
            throw new InvalidOperationException("broken");
        }
    }

    // beforefieldinit, with an initialiser.
    internal sealed class Lazily<T>
    {
        public static readonly string Of = typeof(T).Name + "!";
    }

    internal struct Complex : IEquatable<Complex>
    {
        public readonly double Re;
        public readonly double Im;

        public Complex(double re, double im)
        {
            Re = re;
            Im = im;
        }

        public static Complex operator +(Complex a, Complex b)
        {
            return new Complex(a.Re + b.Re, a.Im + b.Im);
        }

        public static Complex operator *(Complex a, Complex b)
        {
            return new Complex(a.Re * b.Re - a.Im * b.Im, a.Re * b.Im + a.Im * b.Re);
        }

        public static Complex operator -(Complex a)
        {
            return new Complex(-a.Re, -a.Im);
        }

        public static Complex operator ++(Complex a)
        {
            return new Complex(a.Re + 1, a.Im);
        }

        public static bool operator ==(Complex a, Complex b)
        {
            return a.Equals(b);
        }

        public static bool operator !=(Complex a, Complex b)
        {
            return !a.Equals(b);
        }

        public static implicit operator Complex(double re)
        {
            return new Complex(re, 0);
        }

        public static explicit operator double(Complex a)
        {
            return Math.Sqrt(a.Re * a.Re + a.Im * a.Im);
        }

        public static bool operator true(Complex a)
        {
            return a.Re != 0 || a.Im != 0;
        }

        public static bool operator false(Complex a)
        {
            return a.Re == 0 && a.Im == 0;
        }

        public bool Equals(Complex other)
        {
            return Re == other.Re && Im == other.Im;
        }

        public override bool Equals(object other)
        {
            return other is Complex && Equals((Complex)other);
        }

        public override int GetHashCode()
        {
            return (int)(Re * 31 + Im);
        }
    }

    internal interface ILeft
    {
        string Which();
        int Number { get; set; }
    }

    internal interface IRight
    {
        string Which();
        event Action<int> Changed;
    }

    internal sealed class Both : ILeft, IRight
    {
        private Action<int> changed;
        private int number;

        string ILeft.Which()
        {
            return "left";
        }

        string IRight.Which()
        {
            return "right";
        }

        public string Which()
        {
            return "own";
        }

        int ILeft.Number
        {
            get { return number; }
            set
            {
                number = value;
                changed?.Invoke(value);
            }
        }

        event Action<int> IRight.Changed
        {
            add { changed += value; }
            remove { changed -= value; }
        }
    }

    internal class Source
    {
        public event EventHandler<EventArgs> Raised;
        public static event Func<int, int> Asked;

        public int Raise(int times)
        {
            int raised = 0;
            for (; raised < times && Raised != null; raised++)
                Raised(this, EventArgs.Empty);
            return raised;
        }

        public static bool HasAsked
        {
            get { return Asked != null; }
        }

        [SpecialName]
        [MethodImpl(MethodImplOptions.Synchronized)]
        public int Synchronised(int value)
        {
            return value + 1;
        }

        [MethodImpl(MethodImplOptions.Synchronized)]
        public static int SynchronisedStatic(int value)
        {
            if (value < 0)
                throw new Odd(value);
            return value + 2;
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public static int Inlined(int value)
        {
            return value * 3;
        }

        [MethodImpl(MethodImplOptions.NoOptimization)]
        public static int NotOptimised(int value)
        {
            int twice = value * 2;
            return twice + value;
        }
    }

    internal sealed class Indexed
    {
        private readonly Dictionary<string, int> values = new Dictionary<string, int>();

        public int this[string row, int column]
        {
            get
            {
                int value;
                return values.TryGetValue(row + column, out value) ? value : -1;
            }
            set { values[row + column] = value; }
        }

        public int Auto { get; set; } = 12;

        public int Expression => Auto * 2;
    }

    internal delegate int Operation(int value);

    internal delegate bool Parsed(string text, out int value);

    internal static class Members
    {
        private static int Twice(int value)
        {
            return value * 2;
        }

        private static int Apply(Operation operation, int times, int value)
        {
            while (times-- > 0)
                value = operation(value);
            return value;
        }

        private static Operation Adder(int by)
        {
            return value => value + by;
        }

        private static bool TryParse(string text, out int value)
        {
            return int.TryParse(text, out value);
        }

        private static int Extended(this string text, int times)
        {
            return text.Length * times;
        }

        private static string Named(string first, string second = "b", string third = "c")
        {
            return first + second + third;
        }

        public static void All()
        {
            Check.Same("Derived()", "base field, Base(string), made 5, Base(), Derived()", new Derived().History());
            Check.Same("Derived(int)", "base field, Base(string), made 5, Derived(int)", new Derived(7).History());
            Check.Same("Derived(int, int)", "nlarge8", new Derived(3, 5).Say());
            Check.Same("Derived(int, int)", "base field, Base(string), made 5, Derived(int), Derived(int, int)", new Derived(1, 1).History());
            Check.Throws<OverflowException>("Derived(int, int)", () => new Derived(int.MaxValue, 1));
            Check.Same("Base", "unnamed", new Base().Say());
            Check.Same("Guarded", "base field, Base(string), try, finally", new Guarded("g").History());
            Check.Throws<ArgumentException>("Guarded", () => new Guarded(""), "empty");
            Check.Throws<NullReferenceException>("Guarded", () => new Guarded(null));
            Check.Same("Initialised", 41, Initialised.Value);
            Check.Same("Initialised", "tEXT", Initialised.Text);
            Check.Throws<TypeInitializationException>("Broken", () => Broken.Value++);
            Check.Throws<TypeInitializationException>("Broken", () => Broken.Value++);
            Check.Same("Lazily", "Int32!String!", Lazily<int>.Of + Lazily<string>.Of);

            Complex a = new Complex(3, 4), b = new Complex(1, -2);
            Check.True("+", a + b == new Complex(4, 2));
            Check.True("*", a * b == new Complex(11, -2));
            Check.True("-", -a != a && -(-a) == a);
            Check.Same("explicit", 5.0, (double)a);
            Check.True("implicit", a + 1 == new Complex(4, 4));
            a++;
            Check.Same("++", 4.0, a.Re);
            Check.Same("true", "yes", a ? "yes" : "no");
            Check.Same("false", "no", new Complex() ? "yes" : "no");
            Check.True("Equals", a.Equals((object)new Complex(4, 4)) && !a.Equals(null));
            Check.Same("GetHashCode", 128, a.GetHashCode());

            Both both = new Both();
            Check.Same("Which", "left right own", ((ILeft)both).Which() + " " + ((IRight)both).Which() + " " + both.Which());
            int told = 0;
            Action<int> listener = value => told += value;
            ((IRight)both).Changed += listener;
            ((ILeft)both).Number = 6;
            ((IRight)both).Changed -= listener;
            ((ILeft)both).Number = 7;
            Check.Same("Number", 67, told * 10 + ((ILeft)both).Number);

            Source source = new Source();
            Check.Same("Raise", 0, source.Raise(3));
            int raised = 0;
            EventHandler<EventArgs> handler = (sender, arguments) => raised += sender == source ? 1 : 100;
            source.Raised += handler;
            source.Raised += handler;
            Check.Same("Raise", 3, source.Raise(3));
            source.Raised -= handler;
            source.Raise(1);
            Check.Same("Raised", 7, raised);
            Func<int, int> answer = Twice;
            Source.Asked += answer;
            Check.True("Asked", Source.HasAsked);
            Source.Asked -= answer;
            Check.Same("Synchronised", 6, source.Synchronised(5));
            Check.Same("SynchronisedStatic", 7, Source.SynchronisedStatic(5));
            Check.Throws<Odd>("SynchronisedStatic", () => Source.SynchronisedStatic(-5));
            Check.Same("Inlined", 15, Source.Inlined(5));
            Check.Same("NotOptimised", 15, Source.NotOptimised(5));

            Indexed indexed = new Indexed();
            indexed["a", 1] = 5;
            indexed["a", 1] += 3;
            indexed.Auto++;
            Check.Same("Indexed", 8, indexed["a", 1]);
            Check.Same("Indexed", -1, indexed["b", 1]);
            Check.Same("Expression", 26, indexed.Expression);

            Check.Same("Apply", 40, Apply(Twice, 3, 5));
            Check.Same("Apply", 11, Apply(Adder(2), 3, 5));
            Operation last = Adder(100);
            last += Twice;
            Check.Same("Apply", 10, Apply(last, 1, 5));
            Parsed parsed = TryParse;
            int number;
            Check.True("TryParse", parsed("77", out number) && number == 77 && !parsed("x", out number) && number == 0);
            Check.Same("Extended", 9, "abc".Extended(3));
            Check.Same("Named", "axc", Named("a", second: "x"));
            Check.Same("Named", "byz", Named(third: "z", first: "b", second: "y"));
        }
    }
}
