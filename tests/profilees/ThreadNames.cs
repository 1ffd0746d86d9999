using System;
using System.Threading;

namespace ThreadNames
{
    /// <summary>Threads with names of all kinds, one after the other.</summary>
    static class Program
    {
        static int Main()
        {
            string[] names = { "plain", "ä ß", "\U0001D11E", "with\nlines", new string('x', 300) };
            foreach (string name in names)
            {
                var thread = new Thread(() => Console.WriteLine(Thread.CurrentThread.Name.Length));
                thread.Name = name;
                thread.Start();
                thread.Join();
            }
            return 4;
        }
    }
}
