using System;
using ShapesIL;

namespace Shapes
{
    // Calls of ShapesIL.Regions. The notes of a method are the digits of a number.
    internal static class ILHandlers
    {
        private static string Noted(Func<int[], object> call)
        {
            int[] log = { 0 };
            string outcome;
            try
            {
                outcome = call(log).ToString();
            }
            catch (Exception exception)
            {
                outcome = exception.Message;
            }
            return outcome + " " + log[0];
        }

        private static object Void(Action code)
        {
            code();
            return "done";
        }

        public static void All()
        {
            Check.Same("Fault", "5 0", Noted(log => Regions.Fault(log, 0)));
            Check.Same("Fault", "operation 1", Noted(log => Regions.Fault(log, 1)));
            Check.Same("AllKinds", "1 16", Noted(log => Regions.AllKinds(log, 0)));
            // The filter runs first.
            Check.Same("AllKinds", "5 4356", Noted(log => Regions.AllKinds(log, 1)));
            Check.Same("AllKinds", "2 26", Noted(log => Regions.AllKinds(log, 2)));
            Check.Same("AllKinds", "other 436", Noted(log => Regions.AllKinds(log, 3)));
            Check.Same("FaultInFinally", "done 0", Noted(log => Void(() => Regions.FaultInFinally(log, 0, 0))));
            Check.Same("FaultInFinally", "operation 13", Noted(log => Void(() => Regions.FaultInFinally(log, 1, 0))));
            Check.Same("FaultInFinally", "argument 12", Noted(log => Void(() => Regions.FaultInFinally(log, 1, 2))));
            Check.Same("Filters", "0 0", Noted(log => Regions.Filters(log, 0, 1)));
            Check.Same("Filters", "7 12", Noted(log => Regions.Filters(log, 1, 1)));
            Check.Same("Filters", "9 13", Noted(log => Regions.Filters(log, 1, 2)));
            Check.Same("Filters", "operation 13", Noted(log => Regions.Filters(log, 1, 3)));
            Check.Same("LeavesAll", "3 12", Noted(log => Regions.LeavesAll(log, 0)));
            Check.Same("LeavesAll", "2 12", Noted(log => Regions.LeavesAll(log, 1)));
            Check.Same("LeavesBack", 50, Regions.LeavesBack(5));
            Check.Same("HandlerFirst", 20, Regions.HandlerFirst(3));
            Check.Same("HandlerFirst", -1, Regions.HandlerFirst(0));
            Check.Same("HandlerLast", 20, Regions.HandlerLast(3));
            Check.Same("HandlerLast", -1, Regions.HandlerLast(0));
            Check.Throws<InvalidOperationException>("AllProtected", () => Regions.AllProtected(0), "operation");
            Check.Throws<ArgumentException>("AllProtected", () => Regions.AllProtected(2), "argument");
            Check.Same("RethrowsNested", "9 1", Noted(log => Regions.RethrowsNested(log)));
            Check.Same("ThrowsString", "thrown", ThrownText());
            Check.Throws<System.Runtime.CompilerServices.RuntimeWrappedException>("ThrowsStringOut", Regions.ThrowsStringOut);
            Check.Same("EmptyFinally", 3, Regions.EmptyFinally(3));
            Check.Same("SeveralEndfinally", "0 0", Noted(log => Regions.SeveralEndfinally(log, 0)));
            Check.Same("SeveralEndfinally", "12 12", Noted(log => Regions.SeveralEndfinally(log, 1)));
            Check.Same("SeveralEndfinally", "1 1", Noted(log => Regions.SeveralEndfinally(log, 2)));
        }

        private static string ThrownText()
        {
            return Regions.ThrowsString();
        }
    }
}
