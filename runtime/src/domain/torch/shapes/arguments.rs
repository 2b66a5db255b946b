//! The arguments of an operation, bound to the names of its parameters.
use super::dtype::{Dtype, Rank, result_type};
use super::size::{Known, Size, Unsure, sure};
use super::tensor::{MemoryFormat, Sizes, Tensor};
use smallvec::SmallVec;

/// An argument.
#[derive(Clone, Debug)]
pub enum Argument<S: Size> {
    /// Not given.
    Missing,
    /// `None`.
    None,
    /// `True`, `False`.
    Bool(bool),
    /// An `int`.
    Int(S),
    /// A `float`.
    Float(f64),
    /// A `float` that may be another one at another call.
    OpenFloat(S::Float),
    /// A `str`.
    Text(String),
    /// A type of elements.
    Dtype(Dtype),
    /// A memory format.
    Format(MemoryFormat),
    /// The device that all tensors are on, and the result will be.
    Device,
    /// The tensor at this index of `Call::tensors`.
    Tensor(usize),
    /// A tuple.
    Tuple(Vec<Argument<S>>),
    /// A list.
    List(Vec<Argument<S>>),
    /// A slice.
    Slice(Box<[Argument<S>; 3]>),
    /// `...`
    Ellipsis,
    /// Something else: only a rule that does not look at it can be sure.
    Other,
}

/// What the thread does to operations.
#[derive(Clone, Copy, Debug)]
pub struct Modes {
    /// Whether gradients are kept.
    pub grad: bool,
    /// Whether attention may go through the kernel that never holds all scores.
    pub flash_attention: bool,
    /// `torch.get_default_dtype()`.
    pub default_dtype: Dtype,
}

/// An operation whose result a rule says.
#[derive(Debug)]
pub struct Call<S: Size> {
    /// All tensors among the arguments.
    pub tensors: SmallVec<[Tensor<S>; 4]>,
    /// By the place of the parameter.
    pub arguments: SmallVec<[Argument<S>; 8]>,
    /// What the thread does to operations.
    pub modes: Modes,
    /// Whether it is called as a method, so that sizes may stand one by one.
    pub is_method: bool,
}

/// The names of an operation's parameters.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    names: Vec<&'static str>,
    /// How many may be given by position.
    positional: usize,
    /// The parameter whose items may stand one by one.
    spread: Option<usize>,
}

impl Signature {
    /// From a text as `self, ...size, *, dtype`: `...` where items may stand one by one, `*` where keywords begin.
    pub fn new(text: &'static str) -> Self {
        let mut signature = Self { positional: usize::MAX, ..Self::default() };
        for name in text.split(", ") {
            match (name, name.strip_prefix("...")) {
                ("*", _) => signature.positional = signature.names.len(),
                (_, Some(name)) => {
                    signature.spread = Some(signature.names.len());
                    signature.names.push(name);
                }
                _ => signature.names.push(name),
            }
        }
        signature.positional = signature.positional.min(signature.names.len());
        signature
    }

    /// The arguments by the places of their parameters.
    pub fn bind<S: Size>(
        &self,
        is_method: bool,
        positional: impl ExactSizeIterator<Item = Argument<S>>,
        named: impl Iterator<Item = (impl AsRef<str>, Argument<S>)>,
    ) -> Known<SmallVec<[Argument<S>; 8]>> {
        let mut bound: SmallVec<[Argument<S>; 8]> = SmallVec::with_capacity(self.names.len());
        let given = positional.len();
        let may_spread = |place: usize| self.spread == Some(place) && (place == 0 || place == 1 && is_method);
        let mut rest = positional;
        while let Some(argument) = rest.next() {
            let place = bound.len();
            if may_spread(place) && matches!(argument, Argument::Int(_)) {
                let items = std::iter::once(argument).chain(rest.by_ref()).collect();
                bound.push(Argument::Tuple(items));
                break;
            }
            sure(place < self.positional)?;
            bound.push(argument);
        }
        if is_method && self.spread == Some(1) && given == 1 && self.positional == 2 {
            bound.push(Argument::Missing);
        }
        bound.resize(self.names.len(), Argument::Missing);
        for (name, argument) in named {
            let place = &mut bound[self.place(name.as_ref())?];
            sure(matches!(place, Argument::Missing))?;
            *place = argument;
        }
        Ok(bound)
    }

    fn place(&self, name: &str) -> Known<usize> {
        let name = match name {
            "input" if !self.names.contains(&"input") => "self",
            "axis" => "dim",
            "keepdims" => "keepdim",
            _ => name,
        };
        self.names.iter().position(|known| *known == name).ok_or(Unsure)
    }
}

impl<S: Size> Call<S> {
    /// An argument, as it is.
    pub fn argument(&self, place: usize) -> &Argument<S> {
        self.arguments.get(place).unwrap_or(&Argument::Missing)
    }

    /// Whether it is given, and not `None`.
    pub fn has(&self, place: usize) -> bool {
        !matches!(self.argument(place), Argument::Missing | Argument::None)
    }

    /// A tensor.
    pub fn tensor(&self, place: usize) -> Known<&Tensor<S>> {
        self.tensor_of(self.argument(place))
    }

    /// A tensor, if one is given.
    pub fn optional_tensor(&self, place: usize) -> Known<Option<&Tensor<S>>> {
        if self.has(place) { self.tensor(place).map(Some) } else { Ok(None) }
    }

    /// The tensor that an argument is.
    pub fn tensor_of(&self, argument: &Argument<S>) -> Known<&Tensor<S>> {
        match argument {
            Argument::Tensor(index) => self.tensors.get(*index).ok_or(Unsure),
            _ => Err(Unsure),
        }
    }

    /// A tuple or list of tensors.
    pub fn tensor_list(&self, place: usize) -> Known<Vec<&Tensor<S>>> {
        match self.argument(place) {
            Argument::Tuple(items) | Argument::List(items) => items.iter().map(|item| self.tensor_of(item)).collect(),
            _ => Err(Unsure),
        }
    }

    /// An integer.
    pub fn size(&self, place: usize) -> Known<S> {
        match self.argument(place) {
            Argument::Int(value) => Ok(value.clone()),
            _ => Err(Unsure),
        }
    }

    /// An integer that the rule must know.
    pub fn int(&self, place: usize) -> Known<i64> {
        self.size(place)?.number()
    }

    /// Such an integer, or what it is where it is not given.
    pub fn int_or(&self, place: usize, default: i64) -> Known<i64> {
        match self.argument(place) {
            Argument::Missing => Ok(default),
            _ => self.int(place),
        }
    }

    /// The dimension of a tensor that an argument names.
    pub fn dim(&self, place: usize, tensor: &Tensor<S>) -> Known<usize> {
        tensor.dim(self.int(place)?)
    }

    /// `Unsure` unless the argument is an integer, whichever, or not given.
    pub fn any_int(&self, place: usize) -> Known<()> {
        sure(matches!(self.argument(place), Argument::Missing | Argument::Int(_)))
    }

    /// A truth value, `False` where none is given.
    pub fn flag(&self, place: usize) -> Known<bool> {
        self.flag_or(place, false)
    }

    /// A truth value, or what it is where none is given.
    pub fn flag_or(&self, place: usize, default: bool) -> Known<bool> {
        match self.argument(place) {
            Argument::Missing => Ok(default),
            Argument::Bool(value) => Ok(*value),
            _ => Err(Unsure),
        }
    }

    /// A number of Python, which has a type in promotions; `Unsure` unless an argument is one.
    pub fn number(&self, place: usize) -> Known<Dtype> {
        match self.argument(place) {
            Argument::Bool(_) => Ok(Dtype::Bool),
            Argument::Int(_) => Ok(Dtype::I64),
            Argument::Float(_) | Argument::OpenFloat(_) => Ok(self.modes.default_dtype),
            _ => Err(Unsure),
        }
    }

    /// The number that an argument is, whether it is written as an `int` or as a `float`.
    pub fn float(&self, place: usize) -> Known<f64> {
        match self.argument(place) {
            Argument::Float(value) => Ok(*value),
            Argument::Int(value) => value.number().map(|value| value as f64),
            _ => Err(Unsure),
        }
    }

    /// The same, where sizes may follow from it.
    pub fn open_float(&self, place: usize) -> Known<S::Float> {
        match self.argument(place) {
            Argument::Float(value) => Ok(S::float(*value)),
            Argument::OpenFloat(value) => Ok(value.clone()),
            Argument::Int(value) => Ok(value.to_float()),
            _ => Err(Unsure),
        }
    }

    /// `Unsure` unless the argument is a number, or not given.
    pub fn optional_number(&self, place: usize) -> Known<()> {
        if self.has(place) { self.number(place).map(drop) } else { Ok(()) }
    }

    /// A type, if one is given.
    pub fn dtype(&self, place: usize) -> Known<Option<Dtype>> {
        match self.argument(place) {
            Argument::Missing | Argument::None => Ok(None),
            Argument::Dtype(dtype) => Ok(Some(*dtype)),
            _ => Err(Unsure),
        }
    }

    /// Whether no other device is named than that of all tensors.
    pub fn is_here(&self, place: usize) -> bool {
        matches!(self.argument(place), Argument::Missing | Argument::None | Argument::Device)
    }

    /// A memory format, or what it is where none is given.
    pub fn format_or(&self, place: usize, default: MemoryFormat) -> Known<MemoryFormat> {
        match self.argument(place) {
            Argument::Missing | Argument::None => Ok(default),
            Argument::Format(format) => Ok(*format),
            _ => Err(Unsure),
        }
    }

    /// A tuple or list of integers, or one of them.
    pub fn sizes(&self, place: usize) -> Known<Sizes<S>> {
        sizes_of(self.argument(place))
    }

    /// So many integers: one stands for all.
    pub fn sizes_for(&self, place: usize, count: usize) -> Known<Sizes<S>> {
        let mut sizes = self.sizes(place)?;
        if let ([size], false) = (&sizes[..], count == 1) {
            sizes = std::iter::repeat_n(size.clone(), count).collect();
        }
        sure(sizes.len() == count)?;
        Ok(sizes)
    }

    /// So many integers, all the same where none are given.
    pub fn sizes_or(&self, place: usize, count: usize, default: i64) -> Known<Sizes<S>> {
        match self.argument(place) {
            Argument::Missing => Ok(std::iter::repeat_n(S::of(default), count).collect()),
            _ => self.sizes_for(place, count),
        }
    }

    /// Dimensions of a tensor, each once.
    pub fn dims(&self, place: usize, tensor: &Tensor<S>) -> Known<SmallVec<[usize; 5]>> {
        let mut dims: SmallVec<[usize; 5]> = SmallVec::new();
        for index in self.sizes(place)? {
            let dim = tensor.dim(index.number()?)?;
            sure(!dims.contains(&dim))?;
            dims.push(dim);
        }
        Ok(dims)
    }

    /// The type that tensors and numbers among the arguments have in common.
    pub fn result_type(&self, places: &[usize]) -> Known<Dtype> {
        let mut operands: SmallVec<[(Dtype, Rank); 3]> = SmallVec::new();
        for place in places {
            operands.push(match self.argument(*place) {
                Argument::Tensor(_) => self.tensor(*place).map(|tensor| (tensor.dtype, tensor.promotion_rank()))?,
                _ => (self.number(*place)?, Rank::Number),
            });
        }
        result_type(operands.into_iter())
    }

    /// A number with a fraction: the type where whole numbers are turned into such.
    pub fn float_of(&self, dtype: Dtype) -> Dtype {
        if dtype.is_float() { dtype } else { self.modes.default_dtype }
    }
}

/// A tuple or list of integers, or one of them.
pub fn sizes_of<S: Size>(argument: &Argument<S>) -> Known<Sizes<S>> {
    let size = |item: &Argument<S>| match item {
        Argument::Int(value) => Ok(value.clone()),
        _ => Err(Unsure),
    };
    match argument {
        Argument::Tuple(items) | Argument::List(items) => items.iter().map(size).collect(),
        _ => Ok(std::iter::once(size(argument)?).collect()),
    }
}
