"""Compiles a function, and an extension in C++, at start."""
import torch
import torch.utils.cpp_extension

print(torch.compile(lambda x: torch.sin(x) + 1)(torch.zeros(4)))
source = "#include <torch/extension.h>\ntorch::Tensor twice(torch::Tensor a) { return a + a; }"
print(torch.utils.cpp_extension.load_inline("twice", source, functions=["twice"]).twice(torch.ones(2)))
