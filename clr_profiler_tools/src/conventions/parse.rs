//! The parser of expressions.

use clr_profiler::rewrite::PathStep;

use super::expression::{Expression, FUNCTIONS, Function, Operator};
use super::rule::{Path, Root};
use super::value::Value;

/// How deep expressions may nest.
const DEPTH: usize = 64;

/// A mistake with its column, from 1.
pub(super) type Parsed<T> = Result<T, (usize, String)>;

/// Reads an expression, and adds its paths.
pub(super) fn parse(text: &str, paths: &mut Vec<Path>) -> Parsed<Expression> {
    let mut parser = Parser::new(text, paths)?;
    let expression = parser.ternary()?;
    parser.expect_end()?;
    Ok(expression)
}

/// Reads a path alone, which is read when the call begins.
pub(super) fn parse_path(text: &str) -> Parsed<Path> {
    let mut paths = Vec::new();
    match parse(text, &mut paths)? {
        Expression::Path(0) if paths.len() == 1 => paths.pop().ok_or((1, "no path".to_owned())),
        _ => Err((1, "write a path, such as `request.Headers()`".to_owned())),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Int(i64),
    Float(f64),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 20] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "?", ":", "(", ")", "[", "]", ",", ".", "+",
    "-", "$",
];

struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    paths: &'a mut Vec<Path>,
    is_late: bool,
    depth: usize,
}

fn tokens(text: &str) -> Parsed<Vec<(usize, Token)>> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = characters.get(at) {
        let column = at + 1;
        if first.is_whitespace() {
            at += 1;
            continue;
        }
        if first == '"' || first == '\'' {
            let mut content = String::new();
            at += 1;
            loop {
                match characters.get(at) {
                    None => return Err((column, "the text has no end".to_owned())),
                    Some(&quote) if quote == first => break,
                    Some('\\') => {
                        at += 1;
                        match characters.get(at) {
                            Some('n') => content.push('\n'),
                            Some('t') => content.push('\t'),
                            Some(&other @ ('\\' | '"' | '\'' | '`' | '?')) => content.push(other),
                            _ => {
                                return Err((
                                    at,
                                    "`\\` precedes n, t, a quote or another `\\`".to_owned(),
                                ));
                            }
                        }
                    }
                    Some(&other) => content.push(other),
                }
                at += 1;
            }
            at += 1;
            tokens.push((column, Token::Text(content)));
            continue;
        }
        if first.is_ascii_digit() {
            let is_part = |at: usize| {
                characters.get(at).is_some_and(|&it| {
                    it.is_ascii_digit()
                        || (it == '.' && characters.get(at + 1).is_some_and(char::is_ascii_digit))
                })
            };
            let begin = at;
            while is_part(at) {
                at += 1;
            }
            let number: String = characters[begin..at].iter().collect();
            let token = match number.parse() {
                Ok(number) => Token::Int(number),
                Err(_) => Token::Float(
                    number
                        .parse()
                        .map_err(|_| (column, format!("`{number}` is no number")))?,
                ),
            };
            tokens.push((column, token));
            continue;
        }
        if first.is_alphabetic() || first == '_' || first == '@' {
            let begin = at;
            while characters
                .get(at)
                .is_some_and(|&it| it.is_alphanumeric() || "_@`".contains(it))
            {
                at += 1;
            }
            tokens.push((column, Token::Name(characters[begin..at].iter().collect())));
            continue;
        }
        let rest: String = characters[at..].iter().take(2).collect();
        let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else {
            return Err((column, format!("`{first}` is no part of an expression")));
        };
        at += sign.len();
        tokens.push((column, Token::Sign(sign)));
    }
    tokens.push((characters.len() + 1, Token::End));
    Ok(tokens)
}

const OLDER_NAMES: &str =
    "after `$` there is `arg1` for the first argument, `instance`, `return`, `method` or `type`";

/// The operation that older files of OpenTelemetry .NET have as a function.
fn older_function(name: &str, arguments: &[Expression]) -> Option<Expression> {
    let binary = |operator, one: &Expression, other| {
        Expression::Binary(operator, Box::new(one.clone()), Box::new(other))
    };
    let null = Expression::Literal(Value::Null);
    match (name, arguments) {
        ("equals", [one, other]) => Some(binary(Operator::Equal, one, other.clone())),
        ("notequals", [one, other]) => Some(binary(Operator::NotEqual, one, other.clone())),
        ("isnotnull", [one]) => Some(binary(Operator::NotEqual, one, null)),
        // The empty text counts as null there.
        ("isnull", [one]) => {
            let empty = Expression::Literal(Value::Text(String::new()));
            let is_empty = binary(Operator::Equal, one, empty);
            Some(binary(
                Operator::Or,
                &binary(Operator::Equal, one, null),
                is_empty,
            ))
        }
        _ => None,
    }
}

impl<'a> Parser<'a> {
    fn new(text: &str, paths: &'a mut Vec<Path>) -> Parsed<Self> {
        Ok(Self {
            tokens: tokens(text)?,
            at: 0,
            paths,
            is_late: false,
            depth: 0,
        })
    }

    fn token(&self) -> &Token {
        self.tokens
            .get(self.at)
            .map_or(&Token::End, |(_, token)| token)
    }

    fn column(&self) -> usize {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(1, |(column, _)| *column)
    }

    fn fail<T>(&self, problem: impl Into<String>) -> Parsed<T> {
        Err((self.column(), problem.into()))
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.token(), Token::Sign(it) if *it == sign);
        if is_it {
            self.at += 1;
        }
        is_it
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        match self.take(sign) {
            true => Ok(()),
            false => self.fail(format!("`{sign}` is missing")),
        }
    }

    fn expect_end(&self) -> Parsed<()> {
        match self.token() {
            Token::End => Ok(()),
            _ => self.fail("the expression should end here"),
        }
    }

    fn ternary(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail("the expression is nested too deeply");
        }
        let condition = self.operands(0)?;
        let result = match self.take("?") {
            false => condition,
            true => {
                let one = self.ternary()?;
                self.expect(":")?;
                let other = self.ternary()?;
                Expression::If(Box::new(condition), Box::new(one), Box::new(other))
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    /// Operators of this level and of those that bind more tightly.
    fn operands(&mut self, level: usize) -> Parsed<Expression> {
        const LEVELS: [&[(&str, Operator)]; 5] = [
            &[("||", Operator::Or)],
            &[("&&", Operator::And)],
            &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
            &[
                ("<", Operator::Less),
                ("<=", Operator::LessOrEqual),
                (">", Operator::Greater),
                (">=", Operator::GreaterOrEqual),
            ],
            &[("+", Operator::Plus)],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.operands(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            let right = self.operands(level + 1)?;
            left = Expression::Binary(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        if self.take("!") {
            self.depth += 1;
            if self.depth > DEPTH {
                return self.fail("the expression is nested too deeply");
            }
            let of = self.unary()?;
            self.depth -= 1;
            return Ok(Expression::Not(Box::new(of)));
        }
        if self.take("-") {
            let number = match *self.token() {
                Token::Int(number) => Value::Int(-number),
                Token::Float(number) => Value::Float(-number),
                _ => return self.fail("a number should follow `-`"),
            };
            self.at += 1;
            return Ok(Expression::Literal(number));
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let column = self.column();
        let literal = match self.token().clone() {
            Token::Text(text) => Value::Text(text),
            Token::Int(number) => Value::Int(number),
            Token::Float(number) => Value::Float(number),
            Token::Name(name) => {
                self.at += 1;
                return self.named(&name, column);
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.ternary()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                self.at += 1;
                return Ok(Expression::List(self.list("]")?));
            }
            Token::Sign("$") => {
                self.at += 1;
                return self.older_name(column);
            }
            _ => return self.fail("a value is missing"),
        };
        self.at += 1;
        Ok(Expression::Literal(literal))
    }

    /// Values up to a sign.
    fn list(&mut self, end: &str) -> Parsed<Vec<Expression>> {
        let mut all = Vec::new();
        if self.take(end) {
            return Ok(all);
        }
        loop {
            all.push(self.ternary()?);
            if self.take(end) {
                return Ok(all);
            }
            self.expect(",")?;
        }
    }

    fn named(&mut self, name: &str, column: usize) -> Parsed<Expression> {
        let is_call = matches!(self.token(), Token::Sign("("));
        if is_call {
            self.at += 1;
            return self.function(name, column);
        }
        Ok(match name {
            "true" => Expression::Literal(Value::Bool(true)),
            "false" => Expression::Literal(Value::Bool(false)),
            "null" => Expression::Literal(Value::Null),
            "method" => Expression::Method,
            "type" => Expression::Type,
            "exception" => Expression::Exception,
            _ => return self.path(name, column),
        })
    }

    /// A name as older files of OpenTelemetry .NET have it, after `$`.
    fn older_name(&mut self, column: usize) -> Parsed<Expression> {
        let Token::Name(name) = self.token().clone() else {
            return self.fail(OLDER_NAMES);
        };
        let argument = name.strip_prefix("arg").map(str::parse::<u16>);
        let root = match (&*name, argument) {
            ("method" | "type", _) => {
                self.at += 1;
                return self.named(&name, column);
            }
            ("instance", _) => Root::This,
            ("return", _) => Root::Return,
            // The first one is 1.
            (_, Some(Ok(number @ 1..))) => Root::Argument(number - 1),
            _ => return self.fail(OLDER_NAMES),
        };
        self.at += 1;
        self.members(root, column)
    }

    fn function(&mut self, name: &str, column: usize) -> Parsed<Expression> {
        match name {
            "end" => {
                let was_late = std::mem::replace(&mut self.is_late, true);
                let inner = self.ternary()?;
                self.is_late = was_late;
                self.expect(")")?;
                return Ok(inner);
            }
            "attribute" => {
                let Token::Text(attribute) = self.token().clone() else {
                    return self.fail("the name of an attribute in quotes should follow");
                };
                self.at += 1;
                self.expect(")")?;
                return Ok(Expression::Attribute(attribute));
            }
            _ => {}
        }
        let first = self.paths.len();
        let arguments = self.list(")")?;
        if let Some(operation) = older_function(name, &arguments) {
            return Ok(operation);
        }
        let name = if name == "tostring" { "string" } else { name };
        let Some((_, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name)
        else {
            let known = FUNCTIONS.map(|(known, ..)| known).join(", ");
            return Err((
                column,
                format!("there is no function `{name}`: there are {known}, end, attribute"),
            ));
        };
        if !(*least..=*most).contains(&arguments.len()) {
            let wanted = match (*least, *most) {
                (least, usize::MAX) => format!("at least {least}"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} or {most}"),
            };
            return Err((
                column,
                format!("`{name}` takes {wanted} arguments, not {}", arguments.len()),
            ));
        }
        // The size of an object is read where the path leads to it: of a text, too, which may be shortened later.
        if *function == Function::Size
            && let [Expression::Path(number)] = arguments[..]
        {
            let mut path = match self.paths.get(number) {
                Some(path) => path.clone(),
                None => return self.fail("no path"),
            };
            if number >= first {
                self.paths.truncate(first);
            }
            path.steps.push(PathStep::Size);
            path.text = format!("size({})", path.text);
            return Ok(Expression::Path(self.add(path)));
        }
        Ok(Expression::Call(*function, arguments))
    }

    fn add(&mut self, path: Path) -> usize {
        let known = self.paths.iter().position(|known| *known == path);
        known.unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        })
    }

    fn path(&mut self, name: &str, column: usize) -> Parsed<Expression> {
        let root = match name {
            "this" | "instance" => Root::This,
            "return" => Root::Return,
            "arguments" => {
                self.expect("[")?;
                let Token::Int(number @ 0..=0xffff) = *self.token() else {
                    return self.fail("the number of an argument is missing; the first one is 0");
                };
                self.at += 1;
                self.expect("]")?;
                Root::Argument(number as u16)
            }
            name => Root::Parameter(name.to_owned()),
        };
        self.members(root, column)
    }

    /// The path from its root on.
    fn members(&mut self, root: Root, column: usize) -> Parsed<Expression> {
        let mut path = Path {
            is_late: self.is_late || root == Root::Return,
            is_listed: false,
            root,
            steps: Vec::new(),
            text: String::new(),
        };
        loop {
            if self.take("[") {
                let step = match self.token().clone() {
                    Token::Text(text) => PathStep::Item(text.into()),
                    Token::Int(number) if i32::try_from(number).is_ok() => {
                        PathStep::Element(number as i32)
                    }
                    _ => return self.fail("an index is a number from 0, or a text in quotes"),
                };
                self.at += 1;
                self.expect("]")?;
                path.steps.push(step);
                continue;
            }
            if !self.take(".") {
                break;
            }
            let Token::Name(member) = self.token().clone() else {
                return self.fail("the name of a member is missing");
            };
            let of_member = self.column();
            self.at += 1;
            if !self.take("(") {
                path.steps.push(PathStep::Member(member.into()));
            } else if member == "as" {
                let step = self.cast()?;
                path.steps.push(step);
            } else if self.take(")") {
                path.steps.push(PathStep::Call(member.into()));
            } else {
                // As CEL has it: `arguments[0].Path.startsWith("/api")`.
                path.text = self.text_between(column, of_member - 1);
                let subject = Expression::Path(self.add(path));
                return self.of_subject(subject, &member, of_member);
            }
        }
        let end = self.column();
        path.text = self.text_between(column, end);
        Ok(Expression::Path(self.add(path)))
    }

    fn of_subject(&mut self, subject: Expression, name: &str, column: usize) -> Parsed<Expression> {
        let functions = FUNCTIONS
            .iter()
            .filter(|(_, _, least, most)| (*least, *most) == (2, 2));
        let mut functions = functions.map(|(known, function, ..)| (*known, *function));
        let Some((_, function)) = functions.find(|(known, _)| *known == name) else {
            return Err((
                column,
                format!("`{name}` has arguments: only getters and methods without any are called"),
            ));
        };
        let mut arguments = vec![subject];
        arguments.extend(self.list(")")?);
        match arguments.len() {
            2 => Ok(Expression::Call(function, arguments)),
            count => Err((
                column,
                format!("`{name}` takes 1 argument here, not {}", count - 1),
            )),
        }
    }

    /// `as(Assembly!Namespace.Type)`.
    fn cast(&mut self) -> Parsed<PathStep> {
        let column = self.column();
        let mut parts = [String::new(), String::new()];
        let mut at = 0;
        loop {
            match self.token().clone() {
                Token::Name(name) => parts[at] += &name,
                Token::Sign(".") => parts[at].push('.'),
                Token::Sign("+") => parts[at].push('+'),
                Token::Sign("!") if at == 0 => at = 1,
                Token::Sign(")") => break,
                _ => return self.fail("write the type as `Assembly!Namespace.Type`"),
            }
            self.at += 1;
        }
        self.at += 1;
        let [assembly, class] = parts;
        match assembly.is_empty() || class.is_empty() {
            true => Err((
                column,
                "write the type as `Assembly!Namespace.Type`".to_owned(),
            )),
            false => Ok(PathStep::As {
                assembly: assembly.into(),
                class: class.into(),
            }),
        }
    }

    /// The tokens between two columns, for messages.
    fn text_between(&self, begin: usize, end: usize) -> String {
        let mut text = String::new();
        for (column, token) in &self.tokens {
            if *column < begin || *column >= end {
                continue;
            }
            match token {
                Token::Name(name) => text += name,
                Token::Text(content) => text += &format!("{content:?}"),
                Token::Int(number) => text += &number.to_string(),
                Token::Float(number) => text += &number.to_string(),
                Token::Sign(sign) => text += sign,
                Token::End => {}
            }
        }
        text
    }
}
