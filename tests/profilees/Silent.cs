// Arguments and results whose code prints a line if it runs: none runs for the tracer.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

namespace Silent
{
    internal static class Told
    {
        internal static void Of(string code)
        {
            Console.WriteLine("ran " + code);
        }
    }

    internal sealed class Talker : IEnumerable<int>, IFormattable, IConvertible, IDisposable
    {
        public string Name
        {
            get { Told.Of("a getter"); return "name"; }
        }

        public int this[int index]
        {
            get { Told.Of("an indexer"); return index; }
        }

        public static implicit operator string(Talker talker)
        {
            Told.Of("a conversion");
            return "";
        }

        public static bool operator ==(Talker one, object other)
        {
            Told.Of("an operator");
            return false;
        }

        public static bool operator !=(Talker one, object other)
        {
            Told.Of("an operator");
            return true;
        }

        public override string ToString() { Told.Of("ToString"); return "text"; }
        public string ToString(string format, IFormatProvider provider) { return ToString(); }
        public override bool Equals(object other) { Told.Of("Equals"); return false; }
        public override int GetHashCode() { Told.Of("GetHashCode"); return 1; }
        public void Dispose() { Told.Of("Dispose"); }

        public IEnumerator<int> GetEnumerator()
        {
            Told.Of("an enumerator");
            yield return 1;
        }

        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }

        public TypeCode GetTypeCode() { Told.Of("GetTypeCode"); return TypeCode.String; }
        public bool ToBoolean(IFormatProvider provider) { Told.Of("ToBoolean"); return true; }
        public byte ToByte(IFormatProvider provider) { Told.Of("ToByte"); return 1; }
        public char ToChar(IFormatProvider provider) { Told.Of("ToChar"); return 'a'; }
        public DateTime ToDateTime(IFormatProvider provider) { Told.Of("ToDateTime"); return default(DateTime); }
        public decimal ToDecimal(IFormatProvider provider) { Told.Of("ToDecimal"); return 1; }
        public double ToDouble(IFormatProvider provider) { Told.Of("ToDouble"); return 1; }
        public short ToInt16(IFormatProvider provider) { Told.Of("ToInt16"); return 1; }
        public int ToInt32(IFormatProvider provider) { Told.Of("ToInt32"); return 1; }
        public long ToInt64(IFormatProvider provider) { Told.Of("ToInt64"); return 1; }
        public sbyte ToSByte(IFormatProvider provider) { Told.Of("ToSByte"); return 1; }
        public float ToSingle(IFormatProvider provider) { Told.Of("ToSingle"); return 1; }
        public string ToString(IFormatProvider provider) { return ToString(); }
        public object ToType(Type type, IFormatProvider provider) { Told.Of("ToType"); return null; }
        public ushort ToUInt16(IFormatProvider provider) { Told.Of("ToUInt16"); return 1; }
        public uint ToUInt32(IFormatProvider provider) { Told.Of("ToUInt32"); return 1; }
        public ulong ToUInt64(IFormatProvider provider) { Told.Of("ToUInt64"); return 1; }
    }

    internal struct Pair : IFormattable
    {
        internal int First;

        public override string ToString() { Told.Of("ToString of a struct"); return "pair"; }
        public string ToString(string format, IFormatProvider provider) { return ToString(); }
    }

    // The texts of numbers come from the culture of the thread.
    internal sealed class Culture : CultureInfo
    {
        internal Culture() : base("")
        {
        }

        public override NumberFormatInfo NumberFormat
        {
            get { Told.Of("the culture"); return base.NumberFormat; }
            set { base.NumberFormat = value; }
        }

        public override object GetFormat(Type type) { Told.Of("the culture"); return base.GetFormat(type); }
    }

    internal sealed class Failure : Exception
    {
        internal Failure(string message) : base(message)
        {
        }

        public override string Message
        {
            get { Told.Of("Message"); return base.Message; }
        }

        public override string ToString() { Told.Of("ToString of an exception"); return ""; }
    }

    // Gives its result once.
    internal sealed class Source : IValueTaskSource<string>
    {
        private string result = "once";

        public string GetResult(short token)
        {
            string given = result;
            result = null;
            Console.WriteLine("gave " + (given ?? "nothing"));
            return given;
        }

        public ValueTaskSourceStatus GetStatus(short token) { return ValueTaskSourceStatus.Succeeded; }

        public void OnCompleted(
            Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags)
        {
            throw new InvalidOperationException();
        }
    }

    internal static class Calls
    {
        internal static Talker Same(Talker talker) { return talker; }
        internal static Pair Struct(Pair pair, Pair? other) { return pair; }
        internal static double Numbers(double number, float small, IntPtr address, UIntPtr unsigned) { return number; }
        internal static List<Talker> List(IEnumerable<int> talker, Talker[] many) { return new List<Talker>(many); }
        internal static string Fails(string message) { throw new Failure(message); }
        internal static string Text(string text, char letter) { return text; }
        internal static void Log(string user, string password, string note) { }
        internal static string Password(int number) { return "letmein"; }
        internal static string Many(string a, string b, string c, string d, string e, string password) { return null; }
        internal static ref int Reference(int[] numbers) { return ref numbers[0]; }
        internal static Span<int> Numbers(int[] numbers) { return numbers; }
        internal static T Generic<T>(T value) { return value; }

        internal static async Task<string> Later(string text)
        {
            await Task.Yield();
            return text;
        }

        internal static Task<int> Completed() { return Task.FromResult(7); }
        internal static async Task Nothing() { await Task.Yield(); }
        internal static ValueTask<int> Value() { return new ValueTask<int>(8); }
        internal static ValueTask<string> Once() { return new ValueTask<string>(new Source(), 0); }

        internal static async ValueTask<Talker> LaterValue(Talker talker)
        {
            await Task.Yield();
            return talker;
        }

        internal static async Task<string> FailsLater()
        {
            await Task.Yield();
            throw new Failure("later");
        }
    }

    internal static class Program
    {
        private static async Task Main()
        {
            CultureInfo.CurrentCulture = new Culture();
            var talker = new Talker();
            Calls.Same(talker);
            Calls.Same(null);
            Calls.Struct(new Pair { First = 1 }, new Pair());
            Calls.Numbers(-1.5, 2.5f, new IntPtr(-3), new UIntPtr(4));
            Calls.List(talker, new[] { talker });
            try
            {
                Calls.Fails("no");
            }
            catch (Failure)
            {
            }
            Calls.Text("first\nsecond\r\nthird", '\n');
            Calls.Text(new string('x', 300) + "4711", '\r');
            Calls.Log("ann", "s3same", "Bearer abc");
            Calls.Password(3);
            string half = new string('y', 200);
            Calls.Many(half, half, half, half, half, "s3same");
            Calls.Reference(new[] { 5 });
            Calls.Numbers(new[] { 6 });
            Calls.Generic(talker);
            Calls.Generic(9);
            await Calls.Later("card 4711");
            await Calls.Completed();
            await Calls.Nothing();
            await Calls.Value();
            Console.WriteLine(await Calls.Once());
            await Calls.LaterValue(talker);
            try
            {
                await Calls.FailsLater();
            }
            catch (Failure)
            {
            }
            Console.WriteLine("worked");
        }
    }
}
