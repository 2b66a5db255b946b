//! What a tensor is, but for its elements.
use super::functions::{Functions, Get, Handle};
use crate::names::name;
use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use rustc_hash::FxHasher;
use std::ffi::c_void;
use std::hash::{Hash, Hasher};

/// What a tensor of an exact class was: dtype, device, layout, sizes, strides; whether it requires a gradient, is a leaf, is seen conjugated
/// or negated, was made by inference mode, has its history made when it is asked for.
#[derive(Debug)]
pub struct TensorWords {
    functions: &'static Functions,
    class: Py<PyType>,
    /// dtype, device type, device index, layout.
    kinds: [i32; 4],
    flags: Flags,
    sizes: Box<[i64]>,
    strides: Box<[i64]>,
}

/// Where objects keep their `at::Tensor`: behind what all objects have.
const PLACE: usize = size_of::<ffi::PyObject>();

/// Whether a tensor requires a gradient, is a leaf, is seen conjugated or negated, was made by inference mode, and what
/// [`has_history_when_asked`] says.
type Flags = [bool; 6];

/// Where [`TensorWords::kinds`] has the layout.
const LAYOUT: usize = 3;

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A tensor whose memory is where it should be.
#[derive(Clone, Copy)]
pub(super) struct Tensor<'a> {
    pub functions: &'a Functions,
    pub handle: Handle,
    /// The `c10::TensorImpl*`.
    inner: *const c_void,
}

impl Tensor<'_> {
    /// # Safety
    /// `value` must be of a class whose objects keep their `at::Tensor` at [`PLACE`].
    pub unsafe fn of<'a>(functions: &'a Functions, value: &Bound<'_, PyAny>) -> Option<Tensor<'a>> {
        // SAFETY: as the caller promises; an `at::Tensor` is a pointer.
        unsafe {
            let handle = value.as_ptr().byte_add(PLACE).cast::<c_void>().cast_const();
            let inner = *handle.cast::<*const c_void>();
            (!inner.is_null()).then_some(Tensor { functions, handle, inner })
        }
    }

    /// The tensor of an object, if it is where all objects of its class have theirs.
    pub fn found<'a>(functions: &'a Functions, example: &Bound<'_, PyAny>) -> Option<Tensor<'a>> {
        // SAFETY: a type object is live.
        let size = unsafe { (*example.get_type().as_type_ptr()).tp_basicsize }.cast_unsigned();
        let inner: usize = example.getattr(name!("_cdata")).ok()?.extract().ok()?;
        if size < PLACE + size_of::<usize>() {
            return None;
        }
        // SAFETY: objects of the class are that large.
        if inner == 0 || unsafe { *example.as_ptr().byte_add(PLACE).cast::<usize>() } != inner {
            return None;
        }
        // SAFETY: the tensor that the object says it has is there.
        unsafe { Tensor::of(functions, example) }
    }

    pub fn get<T: Default>(self, get: Get<T>) -> Option<T> {
        let mut value = T::default();
        // SAFETY: the handle is that of a live tensor; the function fills the value, or says that it does not.
        (unsafe { get(self.handle, &raw mut value) } == 0).then_some(value)
    }

    pub fn kinds(self) -> Option<[i32; 4]> {
        let Functions { dtype, device_type, device_index, layout, .. } = *self.functions;
        Some([self.get(dtype)?, self.get(device_type)?, self.get(device_index)?, self.get(layout)?])
    }

    fn flags(self) -> Flags {
        let functions = self.functions;
        // SAFETY: these read fields of a live tensor.
        unsafe {
            let (requires_grad, is_leaf) = ((functions.requires_grad)(self.inner), (functions.is_leaf)(self.handle));
            [
                requires_grad,
                is_leaf,
                (functions.is_conj)(self.handle),
                (functions.is_neg)(self.handle),
                (functions.is_inference)(self.handle),
                requires_grad && is_leaf && self.is_view_of_history(),
            ]
        }
    }

    /// Whether it is a view of a tensor that requires a gradient.
    fn is_view_of_history(self) -> bool {
        let functions = self.functions;
        // SAFETY: the tensor is live, and so is the one that a view refers to; only views are asked for it.
        unsafe {
            if !(functions.is_view)(self.handle) {
                return false;
            }
            let inner = *(functions.base)(self.handle).cast::<*const c_void>();
            !inner.is_null() && (functions.requires_grad)(inner)
        }
    }

    /// Sizes or strides, which are as many as there are dimensions.
    ///
    /// # Safety
    /// `count` must be the number of dimensions, and the tensor stay as it is for as long as they are used.
    unsafe fn numbers<'a>(self, get: Get<*const i64>, count: usize) -> Option<&'a [i64]> {
        let mut first = std::ptr::null();
        // SAFETY: as the caller promises; where the result is 0, there are `count` numbers, which the tensor keeps.
        unsafe {
            if get(self.handle, &raw mut first) != 0 {
                return None;
            }
            Some(if count == 0 { &[] } else { std::slice::from_raw_parts(first, count) })
        }
    }

    /// Whether it is of these kinds, with these flags and as many dimensions; `false` also where PyTorch does not say. Calls ask this of each
    /// tensor: the kinds are fetched before one look at whether all were told.
    #[inline]
    fn is(self, kinds: &[i32; 4], flags: Flags, dim: usize) -> bool {
        let (Functions { dtype, device_type, device_index, layout, dim: count, .. }, handle) =
            (self.functions, self.handle);
        let (mut found, mut counted) = ([0; 4], 0);
        let [first, second, third, fourth] = &mut found;
        // SAFETY: the handle is that of a live tensor; each function fills the value, or says that it does not.
        let failed = unsafe {
            dtype(handle, first) | device_type(handle, second) | device_index(handle, third) | layout(handle, fourth)
        };
        // SAFETY: as above.
        let counts = |counted: &mut i64| unsafe { count(handle, counted) } == 0;
        failed == 0
            && found == *kinds
            && self.flags() == flags
            && counts(&mut counted)
            && usize::try_from(counted) == Ok(dim)
    }

    /// Sizes and strides; `None` where PyTorch does not say.
    ///
    /// # Safety
    /// As for [`numbers`](Self::numbers).
    #[inline]
    pub unsafe fn layout<'a>(self, count: usize) -> Option<(&'a [i64], &'a [i64])> {
        let (mut sizes, mut strides) = (std::ptr::null(), std::ptr::null());
        let Functions { sizes: get_sizes, strides: get_strides, .. } = self.functions;
        // SAFETY: as the caller promises; where both results are 0, there are `count` numbers, which the tensor keeps.
        unsafe {
            if get_sizes(self.handle, &raw mut sizes) | get_strides(self.handle, &raw mut strides) != 0 {
                return None;
            }
            Some(if count == 0 {
                (&[], &[])
            } else {
                (std::slice::from_raw_parts(sizes, count), std::slice::from_raw_parts(strides, count))
            })
        }
    }

    pub fn dim(self) -> Option<usize> {
        usize::try_from(self.get(self.functions.dim)?).ok()
    }
}

/// Whether PyTorch makes the history of a tensor when somebody asks for it, so that a question changes what the program sees: a view has none,
/// and what it looks at has got one since, or may have. `None` where PyTorch does not say.
#[must_use]
pub fn has_history_when_asked(tensor: &Bound<'_, PyAny>) -> Option<bool> {
    let [.., when_asked] = Tensor::found(Functions::get(tensor.py())?, tensor)?.flags();
    Some(when_asked)
}

/// The classes of some tensors, whose objects are known to keep their `at::Tensor` at one place.
#[derive(Debug)]
pub struct TensorPlaces(Box<[Py<PyType>]>);

impl TensorPlaces {
    /// Of tensors that have memory; `None` where PyTorch does not say where, or says otherwise in Python.
    #[must_use]
    pub fn of(tensors: &Bound<'_, PyTuple>) -> Option<Self> {
        let functions = Functions::get(tensors.py())?;
        let class = |example: Bound<'_, PyAny>| {
            let told: usize = example.call_method0(name!("data_ptr")).ok()?.extract().ok()?;
            let found = Tensor::found(functions, &example)?.get(functions.data_ptr)?;
            (told == found).then(|| example.get_type().unbind())
        };
        tensors.iter().map(class).collect::<Option<_>>().map(Self)
    }

    /// Where the first elements of other tensors lie; `None` where one is of another class, or PyTorch does not say.
    #[must_use]
    pub fn addresses(&self, tensors: &Bound<'_, PyTuple>) -> Option<Vec<usize>> {
        self.each(tensors, |tensor| tensor.get(tensor.functions.data_ptr))
    }

    /// Where the storages of other tensors begin; `None` also where one has no memory.
    #[must_use]
    pub fn storages(&self, tensors: &Bound<'_, PyTuple>) -> Option<Vec<usize>> {
        self.each(tensors, |tensor| {
            let Functions { data_ptr, dtype, storage_offset, element_size, .. } = *tensor.functions;
            let (address, dtype) = (tensor.get(data_ptr)?, tensor.get(dtype)?);
            let offset = usize::try_from(tensor.get(storage_offset)?).ok()?;
            // SAFETY: the dtype is that of a tensor.
            let size = unsafe { element_size(dtype) };
            address.checked_sub(offset.checked_mul(size)?).filter(|start| *start != 0)
        })
    }

    fn each(&self, tensors: &Bound<'_, PyTuple>, get: impl Fn(Tensor<'_>) -> Option<usize>) -> Option<Vec<usize>> {
        let functions = Functions::get(tensors.py())?;
        if tensors.len() != self.0.len() {
            return None;
        }
        let of = |(tensor, class): (Borrowed<'_, '_, PyAny>, &Py<PyType>)| {
            if tensor.get_type_ptr().cast() != class.as_ptr() {
                return None;
            }
            // SAFETY: the value is of the class for which this was found out.
            get(unsafe { Tensor::of(functions, &tensor) }?)
        };
        tensors.iter_borrowed().zip(&self.0).map(of).collect()
    }
}

impl TensorWords {
    /// Of a strided tensor; `None` where PyTorch has not the functions that tell, or keeps tensors elsewhere.
    #[must_use]
    pub fn of(example: &Bound<'_, PyAny>) -> Option<Self> {
        let functions = Functions::get(example.py())?;
        let class = example.get_type();
        let tensor = Tensor::found(functions, example)?;
        let count = tensor.dim()?;
        // SAFETY: there are that many, which are copied at once.
        let (sizes, strides) = unsafe {
            (tensor.numbers(functions.sizes, count)?.into(), tensor.numbers(functions.strides, count)?.into())
        };
        Some(Self { functions, class: class.unbind(), kinds: tensor.kinds()?, flags: tensor.flags(), sizes, strides })
    }

    /// Whether all of it is the same of a tensor; `false` also where PyTorch does not say.
    #[must_use]
    pub fn are_of(&self, value: &Bound<'_, PyAny>) -> bool {
        self.layout(value).is_some_and(|(sizes, strides)| *sizes == *self.sizes && *strides == *self.strides)
    }

    /// What tensors of this class, layout and number of dimensions have in common, as a number.
    #[must_use]
    pub fn kind(&self) -> u64 {
        hash(&(self.class.as_ptr() as usize, self.kinds[LAYOUT], self.sizes.len()))
    }

    /// All the rest as a number: of `sizes` false without sizes and strides.
    #[must_use]
    pub fn number(&self, sizes: bool) -> u64 {
        let numbers: [&[i64]; 2] = if sizes { [&self.sizes, &self.strides] } else { [&[], &[]] };
        hash(&(self.kinds, self.flags, numbers))
    }

    /// That number of another tensor of the same kind; `None` where it is of another one, or PyTorch does not say.
    #[must_use]
    pub fn number_of(&self, value: &Bound<'_, PyAny>, sizes: bool) -> Option<u64> {
        let tensor = self.tensor(value)?;
        let kinds = tensor.kinds()?;
        // A tensor of another kind may have no sizes: they are read last.
        if kinds[LAYOUT] != self.kinds[LAYOUT] || tensor.dim()? != self.sizes.len() {
            return None;
        }
        let count = if sizes { self.sizes.len() } else { 0 };
        // SAFETY: the numbers are the tensor's, which the object holds; nothing changes it while they are read.
        let numbers = unsafe {
            match sizes {
                true => {
                    [tensor.numbers(tensor.functions.sizes, count)?, tensor.numbers(tensor.functions.strides, count)?]
                }
                false => [&[][..], &[][..]],
            }
        };
        Some(hash(&(kinds, tensor.flags(), numbers)))
    }

    /// The tensor of an object of the class.
    fn tensor<'a>(&self, value: &'a Bound<'_, PyAny>) -> Option<Tensor<'a>> {
        if value.get_type_ptr().cast() != self.class.as_ptr() {
            return None;
        }
        // SAFETY: the value is of the class for which this was found out.
        unsafe { Tensor::of(self.functions, value) }
    }

    /// Sizes and strides of a tensor of which all else is the same, with as many dimensions.
    #[must_use]
    pub fn layout<'a>(&self, value: &'a Bound<'_, PyAny>) -> Option<(&'a [i64], &'a [i64])> {
        let tensor = self.tensor(value)?;
        // A tensor of another kind may have no sizes: they are read last.
        if !tensor.is(&self.kinds, self.flags, self.sizes.len()) {
            return None;
        }
        // SAFETY: the numbers are the tensor's, which the object holds; nothing changes it while they are compared.
        unsafe { tensor.layout(self.sizes.len()) }
    }
}
