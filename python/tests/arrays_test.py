"""Arrays of Python and tensors of Mete: types, memory, lifetimes."""
import gc
import unittest

import ml_dtypes
import mete
import numpy as np
import onnx
from networks import add, identity

NUMPY_TYPES = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_]
EXTENSION_TYPES = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "int4",
                   "uint4", "int2", "uint2"]


def session_of(model):
    return mete.Session(mete.Model.load_bytes(model), threads=1)


def copied(array):
    session = session_of(identity(onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    return session.run([array])[0]


class OnlyDlpack:
    """An array of another library: all that it has is DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Types(unittest.TestCase):
    def test_types_of_numpy_come_back(self):
        for dtype in NUMPY_TYPES:
            with self.subTest(dtype=dtype.__name__):
                array = np.arange(6).reshape(2, 3).astype(dtype)
                got = copied(array)
                self.assertEqual(got.dtype, array.dtype)
                np.testing.assert_array_equal(got, array)

    def test_types_of_ml_dtypes_come_back(self):
        for name in EXTENSION_TYPES:
            with self.subTest(dtype=name):
                array = np.array([[0, 1], [1, 0]]).astype(getattr(ml_dtypes, name))
                got = copied(array)
                self.assertEqual(got.dtype, array.dtype)
                np.testing.assert_array_equal(got.view(np.uint8), array.view(np.uint8))

    def test_ranks_from_none_to_eight_come_back(self):
        for rank in range(9):
            array = np.full((1,) * rank, 3, np.float32)
            self.assertEqual(copied(array).shape, array.shape)

    def test_an_array_without_elements_comes_back(self):
        self.assertEqual(copied(np.zeros((2, 0, 3), np.float32)).shape, (2, 0, 3))

    def test_what_is_no_array_is_refused_with_its_type(self):
        session = session_of(add())
        one = np.ones((1, 3), np.float32)
        for wrong in ("text", 3, [[1.0, 2.0, 3.0]], None, np.array(["a"]), np.ones((1, 3), complex)):
            with self.subTest(wrong=type(wrong).__name__), self.assertRaisesRegex(mete.InvalidArgument, r"\[b\] cannot be read as a tensor; got"):
                session.run([one, wrong])

    def test_more_than_eight_dimensions_are_refused(self):
        with self.assertRaisesRegex(mete.InvalidArgument, "too many dimensions; got 9"):
            session_of(add()).run([np.ones((1,) * 9, np.float32)] * 2)


class Memory(unittest.TestCase):
    def test_strided_reversed_and_unaligned_arrays_are_read_as_they_are(self):
        session = session_of(add(shape=(4, 3)))
        plain = np.arange(12, dtype=np.float32).reshape(4, 3)
        unaligned = np.frombuffer(b"\0" + plain.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 3)
        packed = np.zeros((4, 3), np.dtype([("byte", "u1"), ("number", "<f4")]))
        packed["number"] = plain
        other = (np.asfortranarray(plain), np.repeat(plain, 2, axis=1)[:, ::2], plain[::-1].copy()[::-1], unaligned, plain.astype(">f4"),
                 packed["number"], OnlyDlpack(np.asfortranarray(plain)), memoryview(plain))
        for array in other:
            np.testing.assert_array_equal(session.run([array, array])[0], plain + plain)

    def test_arrays_that_may_not_be_written_are_read(self):
        array = np.ones((1, 3), np.float32)
        array.setflags(write=False)
        np.testing.assert_array_equal(session_of(add()).run([array, array])[0], array + array)

    def test_an_input_is_not_copied(self):
        # a copy of the input would take another 256 MiB, a hundred times what the answer does
        import resource
        session = session_of(_sum())
        array = np.ones(64 << 20, np.float32)
        session.run([array[:1 << 20]])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertEqual(session.run([array])[0], array.size)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 128 << 10)

    def test_dlpack_is_read(self):
        array = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(session_of(add()).run([OnlyDlpack(array)] * 2)[0], array + array)

    def test_outputs_are_handed_on_by_dlpack(self):
        got = copied(np.arange(4, dtype=np.int32))
        np.testing.assert_array_equal(np.from_dlpack(got), got)
        self.assertEqual(np.from_dlpack(got).ctypes.data, got.ctypes.data)

    def test_outputs_outlive_the_session_and_differ_by_run(self):
        session = session_of(add())
        one = np.ones((1, 3), np.float32)
        first = session.run([one, one])[0]
        second = session.run([one, first])[0]
        del session
        gc.collect()
        np.testing.assert_array_equal(first, 2 * one)
        np.testing.assert_array_equal(second, 3 * one)
        first[...] = 7  # outputs may be written
        np.testing.assert_array_equal(second, 3 * one)

    def test_a_model_keeps_the_bytes_that_it_was_loaded_from(self):
        data = bytes(add())
        session = session_of(data)
        del data
        gc.collect()
        one = np.ones((5, 3), np.float32)
        np.testing.assert_array_equal(session.run([one, one])[0], one + one)

    def test_outputs_are_written_where_the_caller_says(self):
        session = session_of(add())
        one, place = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
        session.run_into({"a": one, "b": one}, [place])
        np.testing.assert_array_equal(place, one + one)

    def test_places_of_the_caller_live_until_the_run_has_ended(self):
        session = session_of(add())
        one = np.ones((2, 3), np.float32)
        session.run_into([one, one], (np.zeros((2, 3), np.float32) for _ in range(1)))
        place = bytearray(24)
        session.run_into([one, one], [np.frombuffer(place, np.float32).reshape(2, 3)])
        self.assertEqual(place, (one + one).tobytes())

    def test_places_that_do_not_fit_are_refused(self):
        session = session_of(add())
        one = np.ones((2, 3), np.float32)
        frozen = np.zeros((2, 3), np.float32)
        frozen.setflags(write=False)
        for place in (np.zeros((3, 2), np.float32), np.zeros((2, 3)), np.zeros((3, 2), np.float32).T, frozen):
            with self.assertRaises(mete.InvalidArgument):
                session.run_into([one, one], [place])


def _sum():
    return onnx.helper.make_model(
        onnx.helper.make_graph([onnx.helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], "sum",
                               [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N"])],
                               [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [])]),
        opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=10).SerializeToString()


if __name__ == "__main__":
    unittest.main()
