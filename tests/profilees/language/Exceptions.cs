using System;

namespace Language
{
    internal static class Exceptions
    {
        private sealed class OwnException : Exception
        {
            internal OwnException(int code, Exception inner = null) : base("code " + code, inner)
            {
                HResult = code;
            }
        }

        internal static void Run()
        {
            for (int i = 0; i < 6; i++)
            {
                try
                {
                    Console.WriteLine(Filtered(i));
                }
                catch (Exception e)
                {
                    Sections.Show(e);
                }
            }
            Console.WriteLine(Finally(3));
            try
            {
                Finally(-3);
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                Console.WriteLine(Overflow(int.MaxValue / 2));
                Console.WriteLine(Overflow(int.MaxValue));
            }
            catch (OverflowException e)
            {
                Sections.Show(e);
            }
            try
            {
                Rethrown();
            }
            catch (Exception e)
            {
                Sections.Show(e);
            }
            try
            {
                string nothing = null;
                Console.WriteLine(
                    nothing.Length);
            }
            catch (NullReferenceException e)
            {
                Sections.Show(e);
            }
            try
            {
                object[] strings = new string[1];
                strings[0] = 1;
            }
            catch (ArrayTypeMismatchException e)
            {
                Sections.Show(e);
            }
            try
            {
                Console.WriteLine(Broken.Value);
            }
            catch (TypeInitializationException e)
            {
                // The second time it is the same exception, with a trace that grows on some runtimes.
                Console.WriteLine(e.InnerException.Message);
            }
        }

        private static string Filtered(int code)
        {
            try
            {
                Thrown(code);
                return "nothing";
            }
            catch (OwnException e) when (Says(e.HResult == 1))
            {
                return "one";
            }
            catch (OwnException e) when (e.HResult == 2 && 1 / (e.HResult - 2) > 0)
            {
                return "a filter that throws is not met";
            }
            catch (OwnException e) when (e.HResult == 3)
            {
                throw new OwnException(30, e);
            }
            catch (OwnException e) when (e.HResult == 4)
            {
                throw;
            }
        }

        private static bool Says(bool value)
        {
            Console.WriteLine("filter " + value);
            return value;
        }

        private static void Thrown(int code)
        {
            if (code == 0)
                return;

            throw new OwnException(code);
        }

        private static int Finally(int n)
        {
            int sum = 0;
            for (int i = 0; i < 4; i++)
            {
                try
                {
                    try
                    {
                        if (i == 1)
                            continue;
                        if (i == n)
                            return sum;
                        sum += 10;
                    }
                    finally
                    {
                        sum++;
                        try
                        {
                            if (n < 0)
                                Thrown(i + 7);
                        }
                        finally
                        {
                            Console.WriteLine("innermost " + sum);
                        }
                    }
                }
                finally
                {
                    sum += 100;
                }
            }
            return -sum;
        }

        private static int Overflow(int n)
        {
            checked
            {
                int twice = n
                    * 2;
                return unchecked(n * 4) + (twice > 0 ? 0 : (int)(uint)n);
            }
        }

        private static void Rethrown()
        {
            try
            {
                int[] array = new int[2];
                int index = array.Length;
                array[index] = 1;
            }
            catch (Exception e)
            {
                Console.WriteLine(e.GetType().Name);
                throw;
            }
        }

        private static class Broken
        {
            internal static readonly int Value = Init();

            private static int Init() => throw new OwnException(99);
        }
    }
}
