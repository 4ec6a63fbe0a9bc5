//! Expressions over small whole numbers: read from text, and computed.

/// An expression. Truth is any number but zero; comparisons give one or zero.
#[derive(Clone, Debug)]
pub enum Expression {
    Number(i16),
    /// A register of the thread that computes it.
    Register(usize),
    /// A word of memory, as the one who computes sees it.
    Word(usize),
    /// A register of some thread: after the end of a run.
    RegisterOf(usize, usize),
    Not(Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BitAnd,
    BitOr,
    Add,
    Subtract,
    Multiply,
}

/// The operators, the weakest binding first.
const LEVELS: [&[(&str, Binary)]; 6] = [
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("==", Binary::Equal),
        ("!=", Binary::NotEqual),
        ("<=", Binary::LessOrEqual),
        (">=", Binary::GreaterOrEqual),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("&", Binary::BitAnd), ("|", Binary::BitOr)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply)],
];

/// What an expression is computed from.
pub trait Values {
    fn register(&self, register: usize) -> i16;
    fn word(&self, word: usize) -> i16;
    fn register_of(&self, thread: usize, register: usize) -> i16;
}

impl Expression {
    /// Reads `text`; `resolve` says what a name stands for.
    pub fn parse(
        text: &str,
        resolve: &mut dyn FnMut(&str) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, resolve };
        let expression = parser.level(0)?;
        match parser.tokens.get(parser.at) {
            None => Ok(expression),
            Some(token) => Err(format!("'{token}' is one too many in '{text}'")),
        }
    }

    pub fn value(&self, values: &dyn Values) -> i16 {
        match self {
            Expression::Number(number) => *number,
            Expression::Register(register) => values.register(*register),
            Expression::Word(word) => values.word(*word),
            Expression::RegisterOf(thread, register) => values.register_of(*thread, *register),
            Expression::Not(inner) => i16::from(inner.value(values) == 0),
            Expression::Binary(operator, left, right) => {
                operator.apply(left.value(values), right.value(values))
            }
        }
    }
}

impl Binary {
    fn apply(self, left: i16, right: i16) -> i16 {
        match self {
            Binary::Or => i16::from(left != 0 || right != 0),
            Binary::And => i16::from(left != 0 && right != 0),
            Binary::Equal => i16::from(left == right),
            Binary::NotEqual => i16::from(left != right),
            Binary::Less => i16::from(left < right),
            Binary::LessOrEqual => i16::from(left <= right),
            Binary::Greater => i16::from(left > right),
            Binary::GreaterOrEqual => i16::from(left >= right),
            Binary::BitAnd => left & right,
            Binary::BitOr => left | right,
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::Multiply => left * right,
        }
    }
}

pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// Names, numbers and signs.
pub fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else if ["==", "!=", "<=", ">="].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else if "<>&|+-*()=,:".contains(first) {
            1
        } else {
            return Err(format!("'{first}' means nothing in '{text}'"));
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    resolve: &'a mut dyn FnMut(&str) -> Result<Expression, String>,
}

impl Parser<'_> {
    fn level(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.level(level + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, Binary)]) -> Option<Binary> {
        let token = self.tokens.get(self.at)?;
        let (_, operator) = operators.iter().find(|(sign, _)| sign == token)?;
        self.at += 1;
        Some(*operator)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        let token = self.tokens.get(self.at).ok_or("the expression ends too early")?;
        self.at += 1;
        match token.as_str() {
            "not" => Ok(Expression::Not(Box::new(self.atom()?))),
            "(" => {
                let inner = self.level(0)?;
                self.at += 1;
                match self.tokens.get(self.at - 1).map(String::as_str) {
                    Some(")") => Ok(inner),
                    _ => Err("a ')' is missing".to_owned()),
                }
            }
            name if is_name(name) => (self.resolve)(name),
            number => number.parse().map(Expression::Number).map_err(|e| format!("{number}: {e}")),
        }
    }
}
