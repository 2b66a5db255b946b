//! The methods of `CApi` that the interpreter's own files need: a part of the one implementation, which stands in `vocabulary`.

/// What `internals` answers, as methods.
macro_rules! internal_methods {
    () => {
        fn PyUnicode_DATA(&mut self, op: &Object<'py>) -> Answer<Object<'py>> {
            let string = op.cast::<PyString>().map_err(|_| Stop::Unsupported("PyUnicode_DATA"))?;
            pointer::to(self.py, object_data::characters(string)).ok_or(Stop::Unsupported("PyUnicode_DATA"))
        }
        fn PyUnicode_READ(&mut self, kind: i32, data: Option<&Object<'py>>, index: isize) -> Answer<u32> {
            let data = data.and_then(pointer::target);
            data.and_then(|data| object_data::character(kind, data, index)).ok_or(Stop::Unsupported("PyUnicode_READ"))
        }
        fn PyBytes_AS_STRING(&mut self, op: &Object<'py>) -> Answer<String> {
            object_data::bytes(op).ok_or(Stop::Unsupported("bytes that are no text"))
        }
        fn PyByteArray_AS_STRING(&mut self, op: &Object<'py>) -> Answer<String> {
            object_data::bytes(op).ok_or(Stop::Unsupported("bytes that are no text"))
        }
        fn PyVectorcall_Function(&mut self, callable: &Object<'py>) -> Answer<Option<Function>> {
            Ok(Function::at(object_data::vectorcall(callable)))
        }
        fn _Py_object_freelists_GET(&mut self) -> Answer<Object<'py>> {
            self.static_variable_at("_Py_object_freelists", 1)
        }
        fn new_struct(&mut self, name: &'static str) -> Answer<Object<'py>> {
            let size = generated::members::size(crate::semantics::members::STRUCTS, name);
            let size =
                size.filter(|_| matches!(name, "Py_buffer" | "_PyUnicodeWriter")).ok_or(Stop::Unsupported(name))?;
            self.array(size.div_ceil(size_of::<usize>()))
        }
        fn call_getbufferproc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>, x: i32) -> Answer<i32> {
            let view = pointer::target(w).ok_or(Stop::Unsupported("Py_buffer"))?;
            self.note_slot(f);
            Ok(object_data::get_buffer(f.pointer, v, view, x)?)
        }
        fn call_releasebufferproc(&mut self, f: &Function, v: &Object<'py>, w: &Object<'py>) -> Answer<()> {
            let view = pointer::target(w).ok_or(Stop::Unsupported("Py_buffer"))?;
            self.note_slot(f);
            object_data::release_buffer(f.pointer, v, view);
            Ok(())
        }
        fn Py_buffer_buf_text(&mut self, view: &Object<'py>) -> Answer<String> {
            self.buffer_text(view)
        }
        fn PyObject_CallMethod(
            &mut self,
            obj: &Object<'py>,
            name: &str,
            format: &str,
            args: &[Argument<Object<'py>>],
        ) -> Answer<Object<'py>> {
            self.call_method(obj, name, format, args)
        }
        fn PyObject_CallMethod_3_11(
            &mut self,
            obj: Option<&Object<'py>>,
            name: &str,
            format: &str,
            args: &[Argument<Object<'py>>],
        ) -> Answer<Object<'py>> {
            self.call_method(obj.ok_or(Stop::Unsupported("PyObject_CallMethod"))?, name, format, args)
        }
        fn PyObject_GC_Track(&mut self, op: Option<&Object<'py>>) -> Answer<()> {
            // Those that are made here are known to the collector from the beginning.
            op.filter(|op| self.is_made(op)).map(|_| ()).ok_or(Stop::Unsupported("PyObject_GC_Track"))
        }
        fn dictobject_validate_watcher_id(&mut self, watcher_id: i32) -> Answer<i32> {
            self.watcher("PyDict_Unwatch", watcher_id, PyDict::new(self.py).as_any())
        }
        fn typeobject_validate_watcher_id(&mut self, watcher_id: i32) -> Answer<i32> {
            let class = self.py.get_type::<PyType>().call1(("watched", (), PyDict::new(self.py)))?;
            self.watcher("PyType_Unwatch", watcher_id, &class)
        }
        fn PyUnicode_UTF8(&mut self, op: &Object<'py>) -> Answer<String> {
            Ok(op.cast::<PyString>().map_err(PyErr::from)?.to_str()?.to_owned())
        }
        fn _Py_STR(&mut self, name: &'static str) -> Answer<Object<'py>> {
            self.kept_text(name)
        }
        fn Py_HashPointer(&mut self, ptr: Option<&Object<'py>>) -> Answer<isize> {
            self.hash_pointer(ptr.map_or(0, pointer::address))
        }
        fn _Py_HashPointer(&mut self, ptr: Option<&Object<'py>>) -> Answer<isize> {
            self.hash_pointer(ptr.map_or(0, pointer::address))
        }
        fn Py_HashPointer_function(&mut self, function: &Function) -> Answer<isize> {
            match Function::pointer(Some(function)) {
                Some(address) => self.hash_pointer(address),
                None => Err(Stop::Unsupported("Py_HashPointer_function")),
            }
        }
        fn _Py_HashPointer_function(&mut self, function: &Function) -> Answer<isize> {
            self.Py_HashPointer_function(function)
        }
        fn PyErr_BadArgument(&mut self) -> Stop {
            pyo3::exceptions::PyTypeError::new_err("bad argument type for built-in operation").into()
        }
        fn _PyGen_FetchStopIterationValue(
            &mut self,
            error: Option<&Stop>,
            pvalue: &mut Option<Object<'py>>,
        ) -> Answer<i32> {
            *pvalue = Some(self.stopped_with(error)?);
            Ok(0)
        }
        fn _PyErr_SetKeyError(&mut self, key: &Object<'py>) -> Stop {
            exception(self.py.get_type::<pyo3::exceptions::PyKeyError>().as_any(), Ok(key.clone()))
        }
        fn PyErr_FormatUnraisable(&mut self, error: &Stop, format: &str, args: &[Argument<Object<'py>>]) -> Answer<()> {
            let Stop::Exception(error) = error else { return Err(Stop::Unsupported("PyErr_FormatUnraisable")) };
            let text = format::text(self, format, args)?;
            self.note("native", "PyErr_FormatUnraisable");
            object_data::unraisable(error.clone_ref(self.py), &text).ok_or(Stop::Unsupported("PyErr_FormatUnraisable"))
        }
        fn _PyArg_UnpackKeywords(
            &mut self,
            args: &[Object<'py>],
            nargs: isize,
            kwargs: Option<&Object<'py>>,
            kwnames: Option<&Object<'py>>,
            parser: &[&str],
            minpos: i32,
            maxpos: i32,
            minkw: i32,
        ) -> Answer<Vec<Option<Object<'py>>>> {
            let limits = [minpos, maxpos, minkw];
            let call = keyword_parser::Call { args, nargs, kwargs, kwnames, names: parser, limits };
            self.note("native", "_PyArg_UnpackKeywords");
            Ok(keyword_parser::unpack(self.py, &call).ok_or(Stop::Unsupported("_PyArg_UnpackKeywords"))??)
        }
        fn call_update_callback(&mut self, f: &Function, class: &Object<'py>, data: &Object<'py>) -> Answer<i32> {
            let answer = self.generated(f).and_then(|id| dispatch::update_callback(self, id, class, data));
            answer.unwrap_or(Err(Stop::Unsupported("update_callback")))
        }
    };
}
pub(super) use internal_methods;
