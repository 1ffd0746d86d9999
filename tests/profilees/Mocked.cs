using System;
using System.IO;

namespace Shop
{
    public sealed class Gateway
    {
        public bool Pay(string customer, decimal amount)
        {
            throw new InvalidOperationException("no network in a test");
        }
    }

    public static class Config
    {
        public static string Region
        {
            get { return Environment.GetEnvironmentVariable("SHOP_REGION") ?? "none"; }
        }
    }

    public static class Orders
    {
        public static string Place(string customer)
        {
            string price = File.ReadAllText("/etc/shop/price");
            bool isPaid = new Gateway().Pay(customer, decimal.Parse(price));
            return $"{customer} in {Config.Region}: {price}, paid {isPaid}, {DateTime.UtcNow:yyyy-MM-dd}";
        }

        public static int Main()
        {
            Console.WriteLine(Place("Ada"));
            return 0;
        }
    }
}
