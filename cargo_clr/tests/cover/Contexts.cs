using System;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Threading.Tasks;

// `//:` is followed by the tests that run a line; `outside` is for code that no test runs. Other lines have no code, or do not run.
namespace Xunit
{
    class FactAttribute : Attribute { }

    class TheoryAttribute : Attribute { }
}

namespace NUnit.Framework
{
    class TestAttribute : Attribute { }
}

namespace Microsoft.VisualStudio.TestTools.UnitTesting
{
    class TestMethodAttribute : Attribute { }
}

namespace Shop
{
    using Microsoft.VisualStudio.TestTools.UnitTesting;
    using NUnit.Framework;
    using Xunit;

    static class Cart
    {
        const int Sold = 7;

        public static int Price(int count)
        {
            if (count > 10) //: Small Many
                return count * 9; //: Many
            return count * 10; //: Small Many
        }

        public static void Refuse(int count)
        {
            if (count < 0) //: Throws Faults
                throw new ArgumentException("less than nothing"); //: Throws Faults
            Console.WriteLine("never");
        }

        public static void Before()
        {
            Console.WriteLine("before"); //: Waits
        }

        public static void After()
        {
            Console.WriteLine("after " + Sold); //: Waits Nested
        }

        public static void Twice()
        {
            Console.WriteLine("twice"); //: Small AtOnce
        }

        public static void Between()
        {
            Console.WriteLine("between"); //: outside
        }
    }

    class Tests
    {
        [Fact]
        public void Small()
        {
            Console.WriteLine(Cart.Price(1)); //: Small
            Cart.Twice(); //: Small
        }

        [Theory]
        public void Many(int count)
        {
            Console.WriteLine(Cart.Price(count)); //: Many
            if (Program.Kills) //: Many
                Process.GetCurrentProcess().Kill(); //: killed
        }

        [Test]
        public void Throws()
        {
            Cart.Refuse(-1); //: Throws
        }

        [TestMethod]
        public async Task Waits()
        {
            Cart.Before(); //: Waits
            await Pauses.Next(); //: Waits
            Cart.After(); //: Waits
        }

        [Fact]
        public async Task<int> AtOnce()
        {
            await Task.CompletedTask; //: AtOnce
            Cart.Twice(); //: AtOnce
            return 3; //: AtOnce
        }

        [Test]
        public async ValueTask Faults()
        {
            await Task.Yield(); //: Faults
            Cart.Refuse(-2); //: Faults
        }

        [Fact]
        public void Nested()
        {
            Called(); //: Nested
            Cart.After(); //: Nested
        }

        [Fact]
        public void Called()
        {
            Console.WriteLine("called"); //: Nested
        }
    }

    [ExcludeFromCodeCoverage]
    static class Pauses
    {
        public static bool ForBoth;
        static int waiting;
        static readonly TaskCompletionSource<bool> both = new TaskCompletionSource<bool>();

        // Some time, or until two have come.
        public static Task Next()
        {
            if (!ForBoth)
                return Task.Delay(20);
            waiting++;
            if (waiting == 2)
                both.SetResult(true);
            return both.Task;
        }
    }

    static class Program
    {
        public static bool Kills;

        // A part of it runs while a test waits.
        [ExcludeFromCodeCoverage]
        static async Task Run(string name, params object[] arguments)
        {
            try
            {
                object result = typeof(Tests).GetMethod(name).Invoke(new Tests(), arguments);
                if (result is ValueTask value)
                    await value;
                else if (result is Task task)
                    await task;
            }
            catch (Exception error)
            {
                Console.WriteLine((error.InnerException ?? error).Message);
            }
            Cart.Between();
        }

        static async Task Main(string[] words)
        {
            Kills = words[0] == "killed"; //: outside
            if (words[0] == "parallel") //: outside
            {
                Pauses.ForBoth = true;
                await Task.WhenAll(Run("Waits"), Run("Waits"));
                return;
            }
            await Run("Small"); //: outside
            await Run("Many", 20); //: outside
            await Run("Many", 2); //: outside
            await Run("Throws"); //: outside
            await Run("Waits"); //: outside
            await Run("AtOnce"); //: outside
            await Run("Faults"); //: outside
            await Run("Nested"); //: outside
        }
    }
}
