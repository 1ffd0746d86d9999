using System;
using System.Diagnostics;

static class Program
{
    static void Main()
    { //+
        for (int i = 0; i < 100; i++) //+ 2/2
        { //+
            if (i == 50) //+ 2/2
                Console.WriteLine("half"); //+
        } //+

        Process.GetCurrentProcess().Kill(); //+
        Console.WriteLine("never"); //-
    } //-
}
