// A shop whose calls say more than their names, by rules: arguments, fields, properties and results of all kinds.
using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Data;
using System.Data.Common;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Conventions
{
    public enum Size
    {
        Small = 1,
        Large = 7,
    }

    public struct Money
    {
        public readonly long Cents;
        public string Currency { get; }

        public Money(long cents, string currency)
        {
            Cents = cents;
            Currency = currency;
        }

        public double Euros
        {
            get { return Cents / 100.0; }
        }
    }

    public class Address
    {
        public string City;
    }

    public class Person
    {
        private readonly string secret = "secret";
        public string Name { get; set; }
        public Address Address { get; set; }
        internal int Age;

        public virtual string Title
        {
            get { return secret.Length.ToString(); }
        }
    }

    public class Customer : Person
    {
        public override string Title
        {
            get { return "customer " + Name; }
        }
    }

    public class Box<T>
    {
        public T Content { get; set; }
    }

    public class Order
    {
        // How often the program's own getter ran.
        internal static int Loud;

        public int Id { get; set; }
        public Customer Customer { get; set; }
        public Money Total { get; set; }
        public Size Size { get; set; }
        public int? Discount { get; set; }
        public string[] Items { get; set; }
        public List<string> Lines = new List<string>();
        public Dictionary<string, string> Headers = new Dictionary<string, string>();
        public Box<Customer> Box = new Box<Customer>();
        public Person Payer;
        public bool IsPaid;
        public float Weight = 1.5f;
        public char Letter = 'x';
        public ulong Large = 12;

        public int Counted
        {
            get { return ++Loud; }
        }

        public string Broken
        {
            get { throw new InvalidOperationException("no value"); }
        }
    }

    public class Receipt
    {
        public int Number { get; set; }
        public string Error { get; set; }
    }

    public class Store
    {
        private readonly string name;
        public string Label { get; set; } = "open";

        internal Store(string name)
        {
            this.name = name;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Receipt Sell(Order order, string note, ref int amount)
        {
            amount += 1;
            order.Id += 100;
            return note == "none" ? null : new Receipt { Number = order.Id, Error = note };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static bool Check(int? limit, in Money money, double factor)
        {
            return money.Cents * factor < (limit ?? 5);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async Task<Receipt> SellLater(Order order, bool waits)
        {
            if (waits)
            {
                await Task.Delay(5);
            }
            order.Id += 1000;
            return new Receipt { Number = order.Id };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async Task Pay(Order order)
        {
            await Task.Yield();
            order.IsPaid = true;
            if (order.Items == null)
            {
                throw new ArgumentException("nothing to pay");
            }
        }

        // The task of somebody else.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public Task<int> Watch(Order order, Task<int> task)
        {
            return task;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public async ValueTask<Money> Sum(Order order, bool waits)
        {
            if (waits)
            {
                await Task.Delay(5);
            }
            return order.Total;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Echo<T>(T value)
        {
            return value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Measure(ReadOnlySpan<char> text, string name)
        {
            return text.Length + name.Length;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Fail(Order order)
        {
            throw new InvalidOperationException(name + " " + order.Id);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, string last)
        {
            return a + b + c + d + e + f + g + h + i + j + k + last.Length;
        }
    }

    // The least that a provider of ADO.NET has.
    public class ShopConnection : DbConnection
    {
        public override string ConnectionString { get; set; }
        public override string Database { get { return "shop"; } }
        public override string DataSource { get { return "db.example"; } }
        public override string ServerVersion { get { return "1"; } }
        public override ConnectionState State { get { return ConnectionState.Open; } }
        public override void ChangeDatabase(string databaseName) { }
        public override void Close() { }
        public override void Open() { }
        protected override DbTransaction BeginDbTransaction(IsolationLevel isolationLevel) { return null; }
        protected override DbCommand CreateDbCommand() { return new ShopCommand { Connection = this }; }
    }

    public class ShopCommand : DbCommand
    {
        public override string CommandText { get; set; }
        public override int CommandTimeout { get; set; }
        public override CommandType CommandType { get; set; }
        public override bool DesignTimeVisible { get; set; }
        public override UpdateRowSource UpdatedRowSource { get; set; }
        protected override DbConnection DbConnection { get; set; }
        protected override DbParameterCollection DbParameterCollection { get { return null; } }
        protected override DbTransaction DbTransaction { get; set; }
        public override void Cancel() { }
        public override void Prepare() { }
        protected override DbParameter CreateDbParameter() { return null; }
        protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior) { return null; }

        public override int ExecuteNonQuery()
        {
            if (CommandText == "fail")
            {
                throw new InvalidOperationException("no such table");
            }
            return 3;
        }

        public override object ExecuteScalar()
        {
            return 42;
        }
    }

    public static class Program
    {
        private static Order NewOrder()
        {
            var order = new Order
            {
                Id = 1,
                Customer = new Customer { Name = "Ada", Address = new Address { City = "London" }, Age = 36 },
                Total = new Money(1250, "EUR"),
                Size = Size.Large,
                Discount = 5,
                Items = new[] { "pear", "fig" },
            };
            order.Lines.Add("first");
            order.Headers["key"] = "value";
            order.Box.Content = order.Customer;
            order.Payer = order.Customer;
            return order;
        }

        private static async Task Run()
        {
            var store = new Store("corner");
            int amount = 7;
            Console.WriteLine(store.Sell(NewOrder(), "good", ref amount).Number);
            var empty = new Order { Id = 2 };
            Console.WriteLine(store.Sell(empty, "none", ref amount) == null);
            Console.WriteLine(Store.Check(3, new Money(2, "USD"), 1.25));
            Console.WriteLine(Store.Check(null, new Money(9, null), 0.5));
            Console.WriteLine((await store.SellLater(NewOrder(), true)).Number);
            Console.WriteLine((await store.SellLater(NewOrder(), false)).Number);
            await store.Pay(NewOrder());
            try
            {
                await store.Pay(empty);
            }
            catch (ArgumentException error)
            {
                Console.WriteLine(error.Message);
            }
            await Watch(store);
            Console.WriteLine((await store.Sum(NewOrder(), true)).Cents);
            Console.WriteLine((await store.Sum(NewOrder(), false)).Cents);
            Console.WriteLine(store.Echo(NewOrder()).Id);
            Console.WriteLine(store.Echo("text"));
            Console.WriteLine(Store.Measure("abc".AsSpan(), "name"));
            Console.WriteLine(Store.Many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "last"));
            try
            {
                store.Fail(NewOrder());
            }
            catch (InvalidOperationException error)
            {
                Console.WriteLine(error.Message);
            }
        }

        private static void Query()
        {
            using (var connection = new ShopConnection())
            {
                DbCommand command = connection.CreateCommand();
                command.CommandText = "delete from orders where id = @id";
                Console.WriteLine(command.ExecuteNonQuery());
                Console.WriteLine(command.ExecuteScalar());
                command.CommandText = "fail";
                try
                {
                    command.ExecuteNonQuery();
                }
                catch (InvalidOperationException error)
                {
                    Console.WriteLine(error.Message);
                }
            }
        }

        // Tasks of all outcomes, which complete after the method has returned. Those who wait change the order at once.
        private static async Task Watch(Store store)
        {
            var expected = new OperationCanceledException("its own", new CancellationToken(true));
            var state = new object();
            for (int kind = 0; kind < 5; kind++)
            {
                var source = kind == 4 ? new TaskCompletionSource<int>(state) : new TaskCompletionSource<int>();
                var order = NewOrder();
                order.Id = 20 + kind;
                Task<int> task = store.Watch(order, kind == 3 ? Cancelled(source.Task, expected) : source.Task);
                Task change = task.ContinueWith(_ => order.Id = 0, TaskContinuationOptions.ExecuteSynchronously);
                switch (kind)
                {
                    case 1:
                        source.SetException(new Exception[] { new ArgumentException("one"), new FormatException("two") });
                        break;
                    case 2:
                        source.SetCanceled();
                        break;
                    default:
                        source.SetResult(kind);
                        break;
                }
                await change;
                string what = task.Status + " " + (task.AsyncState == state) + " " + task.CreationOptions;
                foreach (Exception inner in task.IsFaulted ? task.Exception.InnerExceptions : new ReadOnlyCollection<Exception>(new Exception[0]))
                    what += " " + inner.GetType().Name + " " + inner.StackTrace;
                try
                {
                    what += " " + await task;
                }
                catch (Exception error)
                {
                    what += " " + error.GetType().Name + " " + error.Message + " " + (error == expected)
                        + " " + (error is OperationCanceledException cancelled && cancelled.CancellationToken.IsCancellationRequested);
                }
                Console.WriteLine(what);
            }
        }

        private static async Task<int> Cancelled(Task<int> task, Exception error)
        {
            await task;
            throw error;
        }

        private static int Main(string[] args)
        {
            Run().Wait();
            Query();
            Console.WriteLine(Order.Loud);
            return 5;
        }
    }
}
