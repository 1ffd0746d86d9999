using System;
using System.Reflection;
using ShapesIL;

namespace Shapes
{
    // Calls of ShapesIL.Ways and of the generated ShapesIL.Sizes.
    internal static class ILFlow
    {
        private static int NumberIn(string name)
        {
            int start = 0;
            while (!char.IsDigit(name[start]))
                start++;
            return int.Parse(name.Substring(start));
        }

        private static void Sized(MethodInfo method)
        {
            string name = method.Name;
            int number = NumberIn(name);
            if (name.StartsWith("Of") || name.StartsWith("Deep"))
            {
                int ones = name[0] == 'O' ? (number - 2) / 2 : number;
                Check.Same(name, ones, ((Func<int>)method.CreateDelegate(typeof(Func<int>)))());
                return;
            }
            Func<int, int> call = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
            switch (name[0])
            {
                case 'F':
                    Check.Same(name, 2, call(0));
                    Check.Same(name, 1, call(1));
                    break;
                case 'B':
                    Check.Same(name, 0, call(3));
                    Check.Same(name, -6, call(-5));
                    break;
                case 'C':
                    Check.Same(name, 100, call(0));
                    Check.Same(name, number + 99, call(number - 1));
                    Check.Same(name, 0, call(number));
                    break;
                case 'R':
                    Check.Same(name, 25, call(4));
                    Check.Same(name, -1, call(0));
                    break;
                default:
                    Check.Fail(name, "a known name", name);
                    break;
            }
        }

        private static int AllSizes()
        {
            int count = 0;
            foreach (MethodInfo method in typeof(Sizes).GetMethods(BindingFlags.Public | BindingFlags.Static))
            {
                Sized(method);
                count++;
            }
            return count;
        }

        public static void All()
        {
            Check.Same("RetFirst", 6, Ways.RetFirst(5));
            Check.Same("SharedRet", 1122, Ways.SharedRet(true) * 100 + Ways.SharedRet(false));
            Check.Same("BackToStart", -2, Ways.BackToStart(10));
            Check.Throws<InvalidOperationException>("OnlyThrows", () => Ways.OnlyThrows(1), "only");
            Check.Throws<NullReferenceException>("ThrowsNull", Ways.ThrowsNull);
            int[] filled = new int[4];
            Check.Throws<IndexOutOfRangeException>("Endless", () => Ways.Endless(filled));
            Check.Same("Endless", 6, filled[1] + filled[2] + filled[3]);
            int[] switched = { 10, 21, 10, 21, 40, -1 };
            for (int value = 0; value < switched.Length; value++)
                Check.Same("Switch", switched[value], Ways.Switch(value));
            Check.Same("Switch", -1, Ways.Switch(-1));
            Check.Same("SwitchOfNone", 7, Ways.SwitchOfNone(0));
            Check.Same("StackOverBranch", 120, Ways.StackOverBranch(true));
            Check.Same("StackOverBranch", 15, Ways.StackOverBranch(false));
            Check.Same("Sum", 5050, Ways.Sum(100, 0));
            Check.Same("TailSum", 5050, Ways.TailSum(100, 0));
            Check.Same("TailVirtual", "12", Ways.TailVirtual(12));
            Check.Same("TailIndirect", 20, Ways.TailIndirect(5));
            Check.Same("Jumps", 55, Ways.Jumps(10, 0));
            Check.Same("Indirect", 16, Ways.Indirect(5));
            Check.Same("Unreachable", 31, Ways.Unreachable(1) * 10 + Ways.Unreachable(0));
            Check.Same("Nops", 4, Ways.Nops());
            Check.Same("NoInit", 49, Ways.NoInit(-7));
            Check.Same("Pinned", 8, Ways.Pinned(new[] { 7, 8, 9 }));
            Check.Same("Sizes", 9 + 30 + 4 + 4 + 4, AllSizes());
        }
    }
}
