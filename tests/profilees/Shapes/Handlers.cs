using System;
using System.Collections.Generic;
using System.Text;

namespace Shapes
{
    internal sealed class Odd : Exception
    {
        public readonly int Value;

        public Odd(int value) : base("odd " + value)
        {
            Value = value;
        }
    }

    // Protected regions of C#: catch, filter, finally, nested, left in all ways.
    internal static class Handlers
    {
        private static int Catch(int value)
        {
            try
            {
                return 100 / value;
            }
            catch (DivideByZeroException)
            {
                return -1;
            }
        }

        private static string CatchSeveral(int kind)
        {
            try
            {
                Throw(kind);
                return "nothing";
            }
            catch (Odd odd)
            {
                return "odd " + odd.Value;
            }
            catch (ArgumentException)
            {
                return "argument";
            }
            catch (InvalidOperationException)
            {
                return "operation";
            }
            catch
            {
                return "other";
            }
        }

        private static void Throw(int kind)
        {
            switch (kind)
            {
                case 0: return;
                case 1: throw new Odd(1);
                case 2: throw new ArgumentNullException();
                case 3: throw new InvalidOperationException();
                case 4: throw new NotSupportedException("four");
                default: throw new Odd(kind);
            }
        }

        private static string Finally(int kind)
        {
            StringBuilder said = new StringBuilder();
            try
            {
                Finally(kind, said);
            }
            catch (Exception exception)
            {
                said.Append(exception.GetType().Name[0]);
            }
            return said.ToString();
        }

        private static int Finally(int kind, StringBuilder said)
        {
            try
            {
                said.Append('t');
                Throw(kind);
                return 5;
            }
            finally
            {
                said.Append('f');
            }
        }

        private static string Filter(int value)
        {
            try
            {
                Throw(value);
                return "none";
            }
            catch (Odd odd) when (odd.Value > 10)
            {
                return "large";
            }
            catch (Odd odd) when (Accepts(odd, 7))
            {
                return "seven";
            }
            catch (Exception exception) when (exception.Message == "four")
            {
                return "four";
            }
            catch (Exception)
            {
                return "rest";
            }
        }

        private static bool Accepts(Odd odd, int value)
        {
            return odd.Value == value;
        }

        // An exception in a filter makes it false.
        private static string FilterThrows()
        {
            try
            {
                throw new Odd(3);
            }
            catch (Odd odd) when (Fails(odd))
            {
                return "wrong";
            }
            catch (Odd)
            {
                return "right";
            }
        }

        private static bool Fails(Odd odd)
        {
            throw new InvalidOperationException("in the filter of " + odd.Value);
        }

        // The filter runs before the inner finally.
        private static string Order()
        {
            StringBuilder said = new StringBuilder();
            try
            {
                try
                {
                    try
                    {
                        said.Append("try ");
                        throw new Odd(1);
                    }
                    finally
                    {
                        said.Append("inner ");
                    }
                }
                finally
                {
                    said.Append("outer ");
                }
            }
            catch (Odd) when (Says(said, "filter "))
            {
                said.Append("catch");
            }
            return said.ToString();
        }

        private static bool Says(StringBuilder said, string what)
        {
            said.Append(what);
            return true;
        }

        private static string Nested(int depth)
        {
            StringBuilder said = new StringBuilder();
            try
            {
                said.Append('1');
                try
                {
                    said.Append('2');
                    if (depth == 2)
                        return said.Append('r').ToString();
                    try
                    {
                        said.Append('3');
                        if (depth == 3)
                            throw new Odd(3);
                        if (depth == 4)
                            throw new NotSupportedException();
                    }
                    catch (Odd)
                    {
                        said.Append('c');
                        try
                        {
                            Throw(2);
                        }
                        catch (ArgumentException)
                        {
                            said.Append('a');
                        }
                        finally
                        {
                            said.Append('f');
                        }
                    }
                    finally
                    {
                        said.Append('F');
                        try
                        {
                            Throw(3);
                        }
                        catch (InvalidOperationException)
                        {
                            said.Append('i');
                        }
                    }
                    said.Append('e');
                }
                finally
                {
                    said.Append('G');
                }
            }
            catch (NotSupportedException)
            {
                said.Append('n');
            }
            return said.ToString();
        }

        private static string Rethrown()
        {
            int count = 0;
            try
            {
                try
                {
                    try
                    {
                        Throw(9);
                    }
                    catch (Odd)
                    {
                        count++;
                        throw;
                    }
                }
                catch (Odd odd)
                {
                    count++;
                    throw new InvalidOperationException("outer", odd);
                }
            }
            catch (InvalidOperationException outer)
            {
                return count + outer.InnerException.Message;
            }
            return "none";
        }

        private static int LoopWithin()
        {
            int sum = 0;
            for (int index = 0; index < 10; index++)
            {
                try
                {
                    if (index == 2)
                        continue;
                    if (index == 8)
                        break;
                    if (index % 3 == 0)
                        throw new Odd(index);
                    sum += index;
                }
                catch (Odd odd)
                {
                    if (odd.Value == 3)
                        continue;
                    sum += 100 * odd.Value;
                }
                finally
                {
                    sum += 1000;
                }
            }
            return sum;
        }

        private static int ReturnInCatch(int value)
        {
            for (; ; )
            {
                try
                {
                    Throw(value);
                    return 1;
                }
                catch (Odd odd)
                {
                    if (odd.Value == 1)
                    {
                        value = 0;
                        continue;
                    }
                    return -odd.Value;
                }
                finally
                {
                    value = 4;
                }
            }
        }

        private static string FinallyThrows()
        {
            try
            {
                try
                {
                    throw new Odd(1);
                }
                finally
                {
                    Throw(3);
                }
            }
            catch (InvalidOperationException)
            {
                return "second";
            }
            catch (Odd)
            {
                return "first";
            }
        }

        private sealed class Resource : IDisposable
        {
            private readonly List<string> log;
            private readonly string name;

            public Resource(List<string> log, string name)
            {
                this.log = log;
                this.name = name;
                log.Add("+" + name);
            }

            public void Dispose()
            {
                log.Add("-" + name);
            }
        }

        private static string Using(bool fails)
        {
            List<string> log = new List<string>();
            try
            {
                using (new Resource(log, "a"))
                using (new Resource(log, "b"))
                {
                    if (fails)
                        throw new Odd(1);
                    log.Add("in");
                }
            }
            catch (Odd)
            {
                log.Add("odd");
            }
            return string.Join(" ", log);
        }

        private static readonly object Gate = new object();
        private static int locked;

        private static bool Locked()
        {
            lock (Gate)
            {
                int before = locked++;
                lock (Gate)
                    locked++;
                return locked == before + 2;
            }
        }

        private static int Unhandled(int value)
        {
            try
            {
                Throw(value);
            }
            catch (ArgumentException)
            {
                return 2;
            }
            return 0;
        }

        private static string NullAndCasts(object thing)
        {
            try
            {
                return ((string)thing).Trim();
            }
            catch (NullReferenceException)
            {
                return "null";
            }
            catch (InvalidCastException)
            {
                return "cast";
            }
        }

        public static void All()
        {
            Check.Same("Catch", 20, Catch(5));
            Check.Same("Catch", -1, Catch(0));
            string[] kinds = { "nothing", "odd 1", "argument", "operation", "other", "odd 5" };
            for (int kind = 0; kind < kinds.Length; kind++)
                Check.Same("CatchSeveral", kinds[kind], CatchSeveral(kind));
            Check.Same("Finally", "tf", Finally(0));
            Check.Same("Finally", "tfO", Finally(1));
            Check.Same("Filter", "none", Filter(0));
            Check.Same("Filter", "large", Filter(11));
            Check.Same("Filter", "seven", Filter(7));
            Check.Same("Filter", "four", Filter(4));
            Check.Same("Filter", "rest", Filter(3));
            Check.Same("FilterThrows", "right", FilterThrows());
            Check.Same("Order", "try filter inner outer catch", Order());
            Check.Same("Nested", "123FieG", Nested(0));
            // The builder's text is taken before the finally blocks run.
            Check.Same("Nested", "12r", Nested(2));
            Check.Same("Nested", "123cafFieG", Nested(3));
            Check.Same("Nested", "123FiGn", Nested(4));
            Check.Same("Rethrown", "2odd 9", Rethrown());
            Check.Same("LoopWithin", 1 + 4 + 5 + 7 + 600 + 9000, LoopWithin());
            Check.Same("ReturnInCatch", 1, ReturnInCatch(0));
            Check.Same("ReturnInCatch", -5, ReturnInCatch(5));
            Check.Throws<NotSupportedException>("ReturnInCatch", () => ReturnInCatch(1), "four");
            Check.Same("FinallyThrows", "second", FinallyThrows());
            Check.Same("Using", "+a +b in -b -a", Using(false));
            Check.Same("Using", "+a +b -b -a odd", Using(true));
            Check.True("Locked", Locked());
            Check.Same("Unhandled", 2, Unhandled(2));
            Check.Throws<Odd>("Unhandled", () => Unhandled(77), "odd 77");
            Check.Same("NullAndCasts", "x", NullAndCasts(" x "));
            Check.Same("NullAndCasts", "null", NullAndCasts(null));
            Check.Same("NullAndCasts", "cast", NullAndCasts(1));
        }
    }
}
