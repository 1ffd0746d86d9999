using System;
using System.Diagnostics;
using System.Reflection;
using System.Threading.Tasks;

// `//: Small Many` is a line that these tests run; `outside` is for code that no test runs. Other lines have no code, or do not run.
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
        static int sold = 7; //: Small

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
            Console.WriteLine("after " + sold); //: Waits Nested
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
            await Task.Delay(20); //: Waits
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

    static class Program
    {
        public static bool Kills;

        static async Task Run(string name, params object[] arguments)
        {
            try
            {
                object result = typeof(Tests).GetMethod(name).Invoke(new Tests(), arguments); //: outside
                if (result is ValueTask value) //: outside
                    await value; //: outside
                else if (result is Task task) //: outside
                    await task; //: outside
            }
            catch (Exception error)
            {
                Console.WriteLine((error.InnerException ?? error).Message); //: outside
            }
            Cart.Between(); //: outside
        }

        static async Task Main(string[] words)
        {
            Kills = words[0] == "killed"; //: outside
            if (words[0] == "parallel") //: outside
            {
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
