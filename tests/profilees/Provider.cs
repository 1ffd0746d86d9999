// Commands of a provider of ADO.NET that the program does not know: `Provider ASSEMBLY FACTORY CONNECTION`.
using System;
using System.Data;
using System.Data.Common;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Provider
{
    public static class Program
    {
        private static DbCommand Command(DbConnection connection, string text)
        {
            DbCommand command = connection.CreateCommand();
            command.CommandText = text;
            DbParameter id = command.CreateParameter();
            id.ParameterName = "id";
            id.Value = 7;
            command.Parameters.Add(id);
            return command;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static async Task Ask(DbConnection connection)
        {
            using (DbCommand delete = Command(connection, "delete from orders where id = @id"))
            {
                Console.WriteLine(delete.ExecuteNonQuery());
                Console.WriteLine(await delete.ExecuteNonQueryAsync());
            }
            using (DbCommand select = Command(connection, "select total from orders where id = @id"))
            {
                Console.WriteLine(select.ExecuteNonQuery());
                Console.WriteLine(select.ExecuteScalar());
                Console.WriteLine(await select.ExecuteScalarAsync());
                using (DbDataReader rows = select.ExecuteReader())
                    while (rows.Read())
                        Console.WriteLine(rows.GetInt32(0));
                using (DbDataReader rows = await select.ExecuteReaderAsync(CommandBehavior.SingleRow))
                    while (await rows.ReadAsync())
                        Console.WriteLine(rows.GetInt32(0));
            }
            using (DbCommand wrong = Command(connection, "delete from missing where id = @id"))
            {
                try
                {
                    wrong.ExecuteNonQuery();
                }
                catch (DbException error)
                {
                    Console.WriteLine(error.Message);
                }
                try
                {
                    await wrong.ExecuteNonQueryAsync();
                }
                catch (DbException error)
                {
                    Console.WriteLine(error.Message);
                }
            }
        }

        // A command of a data source opens a connection for itself. .NET 7 has them.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void AskSource(DbProviderFactory factory, string connection)
        {
            MethodInfo create = typeof(DbProviderFactory).GetMethod("CreateDataSource");
            object source = create.Invoke(factory, new object[] { connection });
            MethodInfo command = source.GetType().GetMethod("CreateCommand", new[] { typeof(string) });
            using ((IDisposable)source)
            using (var delete = (DbCommand)command.Invoke(source, new object[] { "delete from orders" }))
            {
                Console.WriteLine(delete.ExecuteNonQuery());
            }
        }

        private static int Main(string[] args)
        {
            FieldInfo instance = Assembly.Load(args[0]).GetType(args[1], true).GetField("Instance");
            var factory = (DbProviderFactory)instance.GetValue(null);
            using (DbConnection connection = factory.CreateConnection())
            {
                connection.ConnectionString = args[2];
                connection.Open();
                Ask(connection).Wait();
            }
            AskSource(factory, args[2]);
            return 7;
        }
    }
}
