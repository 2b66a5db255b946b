//! The C of a function body as a small tree that knows nothing of its parser.

use std::rc::Rc;

use super::ctype::CType;

/// An expression and where it starts in the preprocessed text.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Byte offset in the unit's text.
    pub at: usize,
}

/// The kinds of expression.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `NULL`.
    Null,
    /// A name.
    Name(String),
    /// An integer or character constant.
    Int(i128),
    /// A string literal, adjacent ones joined.
    Str(String),
    /// A floating constant.
    Float(String),
    /// `callee(args)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `base->name`, `base.name`.
    Member(Box<Expr>, String),
    /// `base[index]`.
    Index(Box<Expr>, Box<Expr>),
    /// `*operand`.
    Deref(Box<Expr>),
    /// `&operand`.
    AddressOf(Box<Expr>),
    /// `-x`, `~x`, `+x`.
    Unary(String, Box<Expr>),
    /// `!x`.
    Not(Box<Expr>),
    /// Arithmetic and comparison.
    Binary(String, Box<Expr>, Box<Expr>),
    /// `a && b`.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`.
    Or(Box<Expr>, Box<Expr>),
    /// `left = right`.
    Assign(Box<Expr>, Box<Expr>),
    /// `left op= right`.
    AssignOp(String, Box<Expr>, Box<Expr>),
    /// `++x`, `x--`; whether the value is the one from before.
    Update(i128, bool, Box<Expr>),
    /// `c ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type)x`, with the name of the type that it points to.
    Cast(CType, String, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// `sizeof(x)`, its argument as text.
    SizeOf(String),
    /// `{a, b}`.
    List(Vec<Expr>),
}

/// A statement.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// An expression for its effect.
    Expr(Expr),
    /// A variable; `Some(n)` for an array of `n`, `Some(None)` for one sized by its initialiser.
    Declare {
        name: String,
        ctype: CType,
        structure: String,
        array: Option<Option<Expr>>,
        init: Option<Expr>,
        at: usize,
    },
    /// A variable that lives on between calls.
    Static { name: String, ctype: CType, structure: String, array: Option<Option<Expr>>, at: usize },
    /// `if`.
    If(Expr, Rc<Stmt>, Option<Rc<Stmt>>),
    /// `while`, and `for` without its first part; with the step.
    While { condition: Option<Expr>, step: Option<Expr>, body: Rc<Stmt>, at: usize },
    /// `do … while`.
    DoWhile(Rc<Stmt>, Expr),
    /// `switch`: the value and the flat list of its body with labels of cases in it.
    Switch(Expr, Rc<[Stmt]>),
    /// `case value:` or, without a value, `default:`.
    Case(Option<Expr>),
    /// `{ … }`.
    Block(Rc<[Stmt]>),
    /// `name:`.
    Label(String),
    /// `goto name`.
    Goto(String, usize),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<Expr>, usize),
    /// What the lowering did not understand: the construct and its place.
    Unknown(String, usize),
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name; empty in a prototype without names.
    pub name: String,
    /// Its type.
    pub ctype: CType,
    /// The name of the type it points to.
    pub structure: String,
    /// Whether it is declared as a pointer to pointers that stay: an array.
    pub array: bool,
}

/// The head of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Parameters.
    pub params: Vec<Param>,
    /// What is returned.
    pub returns: CType,
    /// Whether it ends in `...`.
    pub variadic: bool,
}

/// A function definition.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its C name.
    pub name: String,
    /// Path of the file that it is in.
    pub file: String,
    /// Whether it is `static`.
    pub is_static: bool,
    /// Its head.
    pub signature: Signature,
    /// Its statements.
    pub body: Rc<[Stmt]>,
    /// Byte range in the unit's text.
    pub range: std::ops::Range<usize>,
}

/// The number of statements, inner ones included.
pub fn statements(list: &[Stmt]) -> usize {
    list.iter().map(statement).sum()
}

fn statement(stmt: &Stmt) -> usize {
    match stmt {
        Stmt::Block(list) => statements(list),
        Stmt::If(_, yes, no) => 1 + statement(yes) + no.as_ref().map_or(0, |no| statement(no)),
        Stmt::While { body, .. } | Stmt::DoWhile(body, _) => 1 + statement(body),
        Stmt::Switch(_, list) => 1 + statements(list),
        Stmt::Case(_) | Stmt::Label(_) => 0,
        _ => 1,
    }
}

impl Expr {
    /// Whether it is NULL, as it is written.
    pub fn is_null(&self) -> bool {
        match &self.kind {
            Kind::Null => true,
            Kind::Cast(_, _, inner) => inner.is_null(),
            _ => false,
        }
    }
}
