"""A small model on the processor."""
import torch
import torch.utils.cpp_extension
import torchvision

torch.manual_seed(1)
model = torchvision.models.mobilenet_v3_small()
loss = model(torch.ones(2, 3, 32, 32)).sum()
loss.backward()
print(torch.__version__, torch.backends.cudnn.version(), torch.jit.script(torch.nn.Linear(2, 2))(torch.ones(1, 2)).shape)
print(torch.fx.symbolic_trace(model).graph is not None, torch.utils.cpp_extension.include_paths())
