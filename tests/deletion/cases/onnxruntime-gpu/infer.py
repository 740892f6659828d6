"""Adds two numbers on the processor, after the libraries of CUDA were opened as on a GPU."""
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

onnxruntime.preload_dlls()
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "g", [value("a"), value("b")], [value("c")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
onnx.checker.check_model(model)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
ones = numpy.ones(2, numpy.float32)
print(session.run(None, {"a": ones, "b": ones})[0], onnxruntime.get_available_providers())
with open("/proc/self/maps") as maps:
    print(sorted({line.split("/")[-1].strip() for line in maps if "/nvidia/" in line}))
