// Methods that the runtime itself makes asynchronous (Async.il).
using System;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;

namespace RuntimeTests
{
    internal static class Asynchronous
    {
        internal static void Run(string what)
        {
            switch (what)
            {
                case "calls":
                    Console.WriteLine(Work.All().GetAwaiter().GetResult().ToString(CultureInfo.InvariantCulture));
                    break;
                case "exceptions":
                    Console.WriteLine(Work.Catches().GetAwaiter().GetResult());
                    break;
                default:
                    Console.WriteLine(Suspended());
                    break;
            }
        }

        private static int Suspended()
        {
            var gate = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            var waiting = new Task<int>[32];
            for (int i = 0; i < waiting.Length; i++)
            {
                var payload = new int[16];
                payload[0] = i;
                waiting[i] = Work.Waits(gate.Task, payload);
            }
            for (int i = 0; i < 10; i++)
                GC.Collect();
            gate.SetResult(0);
            Task.WaitAll(waiting);
            return waiting.Sum(task => task.Result);
        }
    }
}
