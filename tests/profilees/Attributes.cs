// Attributes with values of each kind. The program itself prints one line.
using System;

namespace Shop
{
    public enum Colour : byte { Red = 1, Green = 200 }

    public class Outer { public enum Size : long { Huge = 1L << 40 } }

    [AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
    public sealed class LabelAttribute : Attribute
    {
        public LabelAttribute(string text, int number, Colour colour) { }
        public LabelAttribute(Type type, Outer.Size[] sizes, params object[] others) { }
        public LabelAttribute(DayOfWeek day) { }
        public LabelAttribute() { }
        public bool Loud { get; set; }
        public Colour[] Colours { get; set; }
        public object Anything { get; set; }
        public double Weight;
    }

    [Label("sch\u00f6n", -7, Colour.Green, Loud = true, Weight = 0.5,
        Colours = new[] { Colour.Red }, Anything = Outer.Size.Huge)]
    public class Full { }

    [Label(typeof(Full), new[] { Outer.Size.Huge }, 'x', null, typeof(int), 5UL)]
    public class Listed { }

    [Label(DayOfWeek.Friday, Anything = DayOfWeek.Monday)]
    public class Dated { }

    [Label]
    public class Bare { }

    [Obsolete]
    public static class Program
    {
        static int Main()
        {
            Console.WriteLine("labels");
            return 3;
        }
    }
}
