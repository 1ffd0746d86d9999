using System;

// `//+` is a line that runs, `//-` one that does not; `1/2` are its outcomes. Other lines have no code.
static class Program
{
    static int Choose(int number)
    { //+
        if (number > 0) //+ 1/2
            return 1; //+

        Console.WriteLine("never"); //-
        return 2; //-
    } //+

    static int Loop(int count)
    { //+
        int sum = 0; //+
        for (int i = 0; i < count; i++) //+ 2/2
        { //+
            sum += i; //+
        } //+

        while (sum > 1000) //+ 1/2
        { //-
            sum--; //-
        } //-

        return sum; //+
    } //+

    static void Never()
    { //-
        Console.WriteLine( //-
            "a statement of two lines"); //-
    } //-

    static int Switch(int number)
    { //+
        switch (number) //+ 2/4
        {
            case 0:
                return 10; //-
            case 1:
                return 11; //+
            case 2:
                return 12; //-
            default:
                return 13; //+
        }
    } //+

    static int Middle(int number)
    { //+
        Console.WriteLine("middle"); //+
        switch (number) //+ 1/4
        {
            case 0:
                return 20; //-
            case 1:
                return 21; //+
            case 2:
                return 22; //-
            default:
                return 23; //-
        }
    } //+

    static int Assigned(string word)
    { //+
        int length = word.Length; //+
        switch (length) //+ 2/4
        {
            case 0:
                return 30; //-
            case 1:
                return 31; //+
            case 2:
                return 32; //+
            default:
                return 33; //-
        }
    } //+

    static bool Both(int first, int second)
    { //+
        return first > 0 && second / first > 1; //+ 1/2
    } //+

    static int And(int first, int second)
    { //+
        if (first > 0 && second > 0) //+ 3/4
            return 1; //-

        return 0; //+
    } //+

    static int Or(int first, int second)
    { //+
        if (first > 0 || second > 0) //+ 3/4
            return 1; //+

        return 0; //-
    } //+

    static int Until(string word)
    { //+
        int index = 0; //+
        while (index < word.Length && word[index] != 'x') //+ 3/4
            index++; //+

        return index; //+
    } //+

    static int Not(int first, int second)
    { //+
        if (!(first > 0 && second > 0)) //+ 3/4
            return 1; //+

        return 0; //-
    } //+

    static int Range(int number)
    { //+
        if (number is > 3 and < 9) //+ 3/4
            return 1; //-

        return 0; //+
    } //+

    static int Property { get; set; } = 7; //+

    static int Main()
    { //+
        Console.WriteLine(Choose(1)); //+
        Console.WriteLine(Loop(3)); //+
        Console.WriteLine(Switch(1)); //+
        Console.WriteLine(Switch(7)); //+
        Console.WriteLine(Middle(1)); //+
        Console.WriteLine(Assigned("a") + Assigned("bb")); //+
        Console.WriteLine(Both(0, 1)); //+
        Console.WriteLine(And(0, 1) + And(1, 0)); //+
        Console.WriteLine(Or(1, 0) + Or(0, 1)); //+
        Console.WriteLine(Until("abx")); //+
        Console.WriteLine(Not(0, 1) + Not(1, 0)); //+
        Console.WriteLine(Range(1) + Range(9)); //+
        Console.WriteLine(Property); //+
        return 7; //+
    } //+
}
