//! A third array library from outside: operators of Python's `array.array` become nodes of graphs, through the public trait alone.
#![cfg(slotrt_traces)]

use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use slotrt::domain::{Answer, Callee, Domain, GlobalStateGuard, Operand};
use slotrt::graph_break::Break;
use slotrt::guard::DomainCheck;
use std::sync::Arc;

/// `array.array`: its type code and length are known while a function is traced, its contents are not.
#[derive(Debug)]
struct Arrays {
    class: Py<PyType>,
}

fn stop(context: &str) -> Box<Break> {
    Box::new(Break {
        kind: "operation of an array library".into(),
        context: context.into(),
        explanation: "the library does not say what it gives".into(),
        hints: Vec::new(),
    })
}

/// What tells arrays apart for a trace.
fn metadata(array: &Bound<'_, PyAny>) -> PyResult<(String, usize)> {
    Ok((array.getattr("typecode")?.extract()?, array.len()?))
}

impl Arrays {
    /// An array with that metadata.
    fn example<'py>(&self, py: Python<'py>, code: &str, length: usize) -> PyResult<Bound<'py, PyAny>> {
        self.class.bind(py).call1((code, vec![0; length]))
    }

    /// `a + b`: as C does it for two arrays of one type code.
    fn concatenated<'py>(&self, py: Python<'py>, args: &[Operand<'py>]) -> PyResult<Option<Answer<'py>>> {
        let [Operand::Graph { example: one, .. }, Operand::Graph { example: other, .. }] = args else {
            return Ok(None);
        };
        let ((code, length), (other_code, other_length)) = (metadata(one)?, metadata(other)?);
        if code != other_code {
            return Ok(None);
        }
        let (target, kwargs) = (py.import("operator")?.getattr("concat")?, Vec::new());
        let example = self.example(py, &code, length + other_length)?;
        Ok(Some(Answer::Node { target, args: args.to_vec(), kwargs, example }))
    }

    /// `a * n`, for a number that is known.
    fn repeated<'py>(&self, py: Python<'py>, args: &[Operand<'py>]) -> PyResult<Option<Answer<'py>>> {
        let [Operand::Graph { example, .. }, Operand::Known(times)] = args else { return Ok(None) };
        let (code, length) = metadata(example)?;
        let times: isize = times.extract()?;
        let example = self.example(py, &code, length * usize::try_from(times).unwrap_or(0))?;
        let (target, kwargs) = (py.import("operator")?.getattr("mul")?, Vec::new());
        Ok(Some(Answer::Node { target, args: args.to_vec(), kwargs, example }))
    }
}

impl slotrt::domain::OwnFunctions for Arrays {}

impl slotrt::domain::Gradients for Arrays {}

impl slotrt::domain::LaterCalls for Arrays {}

impl slotrt::domain::Undoing for Arrays {}

impl slotrt::domain::HeldNumbers for Arrays {}

impl Domain for Arrays {
    fn name(&self) -> &'static str {
        "array"
    }

    fn claims(&self, class: &Bound<'_, PyType>) -> bool {
        class.is(&self.class)
    }

    fn claims_callable(&self, _callable: &Bound<'_, PyAny>) -> bool {
        false
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        _kwargs: &[(String, Operand<'py>)],
    ) -> Result<Answer<'py>, Box<Break>> {
        let answer = match (callee, args) {
            (Callee::Slot("sq_concat"), _) => self.concatenated(py, args),
            (Callee::Slot("sq_repeat"), _) => self.repeated(py, args),
            (Callee::Slot("sq_length" | "mp_length"), [Operand::Graph { example, .. }]) => {
                example.len().and_then(|length| Ok(Some(Answer::Constant(length.into_pyobject(py)?.into_any()))))
            }
            (Callee::GetAttr(name), [Operand::Graph { example, .. }]) if name == "typecode" => {
                example.getattr("typecode").map(|code| Some(Answer::Constant(code)))
            }
            _ => Ok(None),
        };
        answer.map_err(|error| stop(&error.to_string()))?.ok_or_else(|| stop(&format!("{callee:?}")))
    }

    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
        let (code, length) = metadata(example).map_err(|error| stop(&error.to_string()))?;
        Ok(Box::new(Is { class: self.class.clone_ref(example.py()), code, length }))
    }

    fn gives_new_objects(&self) -> bool {
        true
    }

    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>> {
        Ok(GlobalStateGuard { object: py.None(), check: Box::new(NoModes) })
    }

    fn describe(&self, example: &Bound<'_, PyAny>) -> String {
        metadata(example).map_or_else(|_| "array".to_owned(), |(code, length)| format!("array[{code}, {length}]"))
    }
}

/// The condition on an array from outside.
#[derive(Debug)]
struct Is {
    class: Py<PyType>,
    code: String,
    length: usize,
}

impl DomainCheck for Is {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        value.get_type().is(&self.class)
            && metadata(value).is_ok_and(|(code, length)| code == self.code && length == self.length)
    }

    fn describe(&self) -> String {
        format!("typecode == {:?}, length == {}", self.code, self.length)
    }
}

/// The library has no modes.
#[derive(Debug)]
struct NoModes;

impl DomainCheck for NoModes {
    fn holds(&self, _value: &Bound<'_, PyAny>) -> bool {
        true
    }

    fn describe(&self) -> String {
        "no modes".to_owned()
    }
}

/// What a user of the library would write.
const PROGRAM: &std::ffi::CStr = c_str!(
    r#"
from array import array
import slotrt

def joined(a, b):
    c = a + b
    return c * 2 + a, len(c), a.typecode

def listed(a, b):
    c = a + b
    numbers = c.tolist()      # the library does not answer this: the graph breaks
    return (c + c, numbers)

one, two = array("i", [1, 2]), array("i", [3])
report = slotrt.explain(joined)(one, two)
nodes = [node["target"] for frame in report.frames for node in frame["graph"] if node["op"] == "call_function"]
assert nodes == ["operator.concat", "operator.mul", "operator.concat"], nodes
assert [frame["break"] for frame in report.frames] == [None], report
assert report.result == joined(one, two), report.result
assert any("typecode == \"i\", length == 2" in str(guard) for guard in report.frames[0]["guards"]), report.frames[0]["guards"]

compiled = slotrt.compile(joined, fullgraph=True)
for pair in [(one, two), (array("i", [7, 8]), array("i", [9])), (array("d", [0.5]), array("d", [])), (array("d", [1.5]), array("d", []))]:
    assert compiled(*pair) == joined(*pair), pair

split = slotrt.explain(listed)(one, two)
assert split.result == listed(one, two), split.result
assert len(split.frames) == 2 and split.frames[0]["break"], split

try:
    slotrt.compile(joined)(one, array("d", [1.0]))
except TypeError as error:
    try:
        joined(one, array("d", [1.0]))
    except TypeError as plain:
        assert str(error) == str(plain), (error, plain)
else:
    raise AssertionError("arrays of two type codes were joined")
"#
);

#[test]
fn a_library_from_outside_is_in_graphs() {
    Python::initialize();
    Python::attach(|py| {
        slotrt::c_api::provide(py).unwrap();
        py.import("slotrt").unwrap();
        let class = py.import("array").unwrap().getattr("array").unwrap().cast_into::<PyType>().unwrap();
        slotrt::add_domain(py, Arc::new(Arrays { class: class.unbind() })).unwrap();
        if let Err(error) = py.run(PROGRAM, Some(&PyDict::new(py)), None) {
            error.display(py);
            panic!("the program failed: {error}");
        }
    });
}
