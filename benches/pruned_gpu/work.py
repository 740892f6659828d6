"""Many kinds of GPU work with torch, with a digest of the raw bytes of every result.

    PYTHONPATH=SITE-PACKAGES python3 -S work.py [--device cuda|cpu] [--only NAME...] [-o FILE]

Writes a line of JSON for each kind: {name, ok, digest} or {name, ok, error, code}, and at the end one that says
which libraries of the process lay where. Inputs are made on the processor from fixed seeds. --device cpu is for
trying the script out: what only a GPU can do is then an error like any other.
"""

import argparse
import hashlib
import json
import os
import sys
import time
import warnings

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
# The compiler's helpers would be processes of their own, with another search path.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
warnings.simplefilter("ignore")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

DEVICE = "cuda"
WORK = []


def work(function):
    WORK.append((function.__name__, function))
    return function


def kinds(*rows):
    """The same work with several arguments: (suffix, argument...)."""

    def register(function):
        for suffix, *arguments in rows:
            WORK.append((f"{function.__name__}_{suffix}", lambda a=arguments: function(*a)))
        return function

    return register


def rand(*shape, dtype=torch.float32, grad=False):
    """The same numbers on every device."""
    value = torch.randn(*shape, dtype=torch.float64).to(dtype).to(DEVICE)
    return value.requires_grad_() if grad else value


def whole(low, high, *shape, dtype=torch.int64):
    return torch.randint(low, high, shape).to(dtype).to(DEVICE)


def with_gradients(out, *inputs):
    """The result with the gradients of what went in."""
    weights = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).to(out.dtype).to(out.device).reshape(out.shape)
    return (out, *torch.autograd.grad(out, inputs, weights))


def module(made, dtype=torch.float32):
    return made.to(device=DEVICE, dtype=dtype)


HALF, BRAIN, FULL, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64


# Element by element, and reductions -----------------------------------------------------------------


@work
def elementwise():
    x = rand(1 << 16)
    return x * 2 + 1, torch.exp(-x * x), torch.erf(x), torch.where(x > 0, x, x.sin()), torch.special.i0e(x)


@kinds(("half", HALF), ("bfloat16", BRAIN), ("double", DOUBLE))
def elementwise_in(dtype):
    x = rand(1 << 14, dtype=dtype)
    return F.gelu(x), F.silu(x), torch.tanh(x), x.softmax(0), x.abs().sqrt()


@work
def complex_numbers():
    x = torch.complex(rand(64, 64), rand(64, 64))
    return x @ x, x.abs(), x.angle(), torch.exp(x)


@work
def integers():
    x, y = whole(0, 1 << 30, 4096, dtype=torch.int32), whole(1, 100, 4096, dtype=torch.int32)
    return x // y, x % y, x ^ y, x << 1, torch.gcd(x, y), torch.bitwise_and(x, y)


@work
def reductions():
    x = rand(128, 1000)
    return x.sum(), x.sum(1), x.mean(0), x.var(1), x.amax(1), x.argmin(0), x.norm(), x.logsumexp(1), x.prod(1), x.median(1)


@work
def scans():
    x = rand(64, 777)
    return x.cumsum(1), x.cumprod(0), x.cummax(1).values, x.logcumsumexp(1)


@work
def norms():
    x = rand(32, 513)
    return torch.linalg.vector_norm(x, 3, dim=1), F.normalize(x), torch.renorm(x, 2, 0, 1.0), torch.cdist(x, x)


# Matrix products ------------------------------------------------------------------------------------


def tensor_float(on):
    torch.backends.cuda.matmul.allow_tf32 = on


@kinds(("double", DOUBLE), ("float", FULL), ("half", HALF), ("bfloat16", BRAIN))
def matmul(dtype):
    tensor_float(False)
    a, b = rand(512, 384, dtype=dtype, grad=True), rand(384, 640, dtype=dtype, grad=True)
    return with_gradients(a @ b, a, b)


@work
def matmul_tf32():
    tensor_float(True)
    a, b = rand(512, 512), rand(512, 512)
    return a @ b, a[:257] @ b[:, :131]


@kinds(("float", FULL), ("half", HALF), ("bfloat16", BRAIN), ("double", DOUBLE))
def batched_matmul(dtype):
    a, b = rand(12, 65, 96, dtype=dtype), rand(12, 96, 130, dtype=dtype)
    return torch.bmm(a, b), torch.baddbmm(rand(12, 65, 130, dtype=dtype), a, b, beta=0.5, alpha=2)


@kinds(("float", FULL), ("half", HALF))
def matmul_of_odd_sizes(dtype):
    return [rand(m, k, dtype=dtype) @ rand(k, n, dtype=dtype) for m, n, k in [(1, 4096, 333), (77, 1, 1024), (8, 8, 8), (2048, 2048, 64)]]


@kinds(("float", FULL), ("half", HALF), ("bfloat16", BRAIN))
def matmul_with_bias(dtype):
    x, w, b = rand(256, 512, dtype=dtype), rand(512, 1024, dtype=dtype), rand(1024, dtype=dtype)
    epilogue = torch._addmm_activation(b, x, w, use_gelu=True), torch._addmm_activation(b, x, w, use_gelu=False)
    return F.linear(x, w.t(), b), torch.addmm(b, x, w), *epilogue


@work
def matmul_int8():
    return torch._int_mm(whole(-128, 128, 64, 256, dtype=torch.int8), whole(-128, 128, 256, 128, dtype=torch.int8))


@kinds(("tensorwise", False), ("rowwise", True))
def matmul_fp8(by_row):
    a = rand(128, 256).to(torch.float8_e4m3fn)
    b = rand(192, 256).to(torch.float8_e4m3fn).t()
    if by_row:
        scales = torch.full((128, 1), 0.5, device=DEVICE), torch.full((1, 192), 2.0, device=DEVICE)
    else:
        scales = torch.tensor(0.5, device=DEVICE), torch.tensor(2.0, device=DEVICE)
    return torch._scaled_mm(a, b, *scales, out_dtype=BRAIN)


@work
def einsum():
    return torch.einsum("bhid,bhjd->bhij", rand(2, 4, 33, 16), rand(2, 4, 29, 16)), torch.einsum("ij,jk,kl->il", rand(64, 32), rand(32, 48), rand(48, 16))


# Convolutions ---------------------------------------------------------------------------------------


def convolution(function, shape, weight, dtype, **options):
    x, w = rand(*shape, dtype=dtype, grad=True), rand(*weight, dtype=dtype, grad=True)
    return with_gradients(function(x, w, **options), x, w)


@kinds(("float", FULL), ("half", HALF), ("bfloat16", BRAIN), ("double", DOUBLE))
def conv2d(dtype):
    return convolution(F.conv2d, (8, 32, 28, 28), (64, 32, 3, 3), dtype, padding=1)


@kinds(("float", FULL), ("half", HALF))
def conv1d(dtype):
    return convolution(F.conv1d, (4, 16, 300), (24, 16, 5), dtype, stride=2)


@kinds(("float", FULL), ("half", HALF))
def conv3d(dtype):
    return convolution(F.conv3d, (2, 8, 10, 12, 12), (16, 8, 3, 3, 3), dtype, padding=1)


@kinds(("float", FULL), ("half", HALF))
def conv2d_transposed(dtype):
    return convolution(F.conv_transpose2d, (4, 16, 14, 14), (16, 24, 4, 4), dtype, stride=2, padding=1)


@kinds(("grouped", 8), ("depthwise", 32))
def conv2d(groups):  # noqa: F811
    return convolution(F.conv2d, (4, 32, 28, 28), (32, 32 // groups, 3, 3), FULL, padding=1, groups=groups)


@work
def conv2d_channels_last():
    x = rand(8, 64, 28, 28, dtype=HALF).to(memory_format=torch.channels_last)
    w = rand(128, 64, 3, 3, dtype=HALF).to(memory_format=torch.channels_last)
    return F.conv2d(x, w, padding=1), F.conv2d(x, w[:, :, :1, :1].contiguous(), stride=2)


@work
def conv2d_dilated():
    return convolution(F.conv2d, (2, 16, 40, 40), (16, 16, 3, 3), FULL, dilation=3)


@work
def pooling():
    x = rand(4, 16, 31, 31, grad=True)
    return *with_gradients(F.max_pool2d(x, 3, 2), x), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 5), F.lp_pool2d(x.abs(), 2, 2)


@work
def unfold_and_fold():
    x = F.unfold(rand(2, 8, 20, 20), 3)
    return x, F.fold(x, (20, 20), 3)


# Attention ------------------------------------------------------------------------------------------


def attention(backend, dtype, causal=True):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (rand(2, 8, 256, 64, dtype=dtype, grad=True) for _ in range(3))
    with sdpa_kernel([getattr(SDPBackend, backend)]):
        return with_gradients(F.scaled_dot_product_attention(q, k, v, is_causal=causal), q, k, v)


@kinds(("half", HALF), ("bfloat16", BRAIN))
def flash_attention(dtype):
    return attention("FLASH_ATTENTION", dtype)


@kinds(("half", HALF), ("float", FULL))
def memory_efficient_attention(dtype):
    return attention("EFFICIENT_ATTENTION", dtype)


@kinds(("half", HALF), ("bfloat16", BRAIN))
def cudnn_attention(dtype):
    return attention("CUDNN_ATTENTION", dtype)


@work
def plain_attention():
    return attention("MATH", FULL)


@work
def transformer_layer():
    layer = module(torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True))
    x = rand(4, 50, 128, grad=True)
    return with_gradients(layer(x), x, *layer.parameters())


# Fourier transforms ---------------------------------------------------------------------------------


@work
def fft_1d():
    x = torch.complex(rand(16, 1000), rand(16, 1000))
    return torch.fft.fft(x), torch.fft.ifft(x), torch.fft.fft(x[:, :1024]), torch.fft.fft(x.to(torch.complex128))


@work
def fft_2d():
    return torch.fft.fft2(rand(4, 96, 100)), torch.fft.fftn(rand(12, 14, 16))


@work
def fft_real():
    x = torch.fft.rfft(rand(32, 2048))
    return x, torch.fft.irfft(x), torch.fft.rfft2(rand(3, 64, 64)), torch.stft(rand(4, 4000), 256, window=torch.hann_window(256).to(DEVICE), return_complex=True)


@work
def fft_half():
    return torch.fft.fft(rand(8, 1024, dtype=HALF)), torch.fft.rfft(rand(8, 256, dtype=HALF))


# Linear algebra -------------------------------------------------------------------------------------


def positive(*shape):
    x = rand(*shape)
    return x @ x.mT + 2 * shape[-1] * torch.eye(shape[-1], device=DEVICE)


@work
def svd():
    return (*torch.linalg.svd(rand(64, 48), full_matrices=False), torch.linalg.svdvals(rand(5, 20, 30)))


@work
def eigenvalues_symmetric():
    x = rand(96, 96)
    return (*torch.linalg.eigh(x + x.mT), *torch.linalg.eigh(positive(6, 24, 24)))


@work
def eigenvalues_general():
    return torch.linalg.eigvals(rand(40, 40))


@work
def qr():
    return (*torch.linalg.qr(rand(120, 60)), *torch.linalg.qr(rand(7, 16, 16, dtype=DOUBLE)))


@work
def cholesky():
    x = positive(100, 100)
    lower = torch.linalg.cholesky(x)
    return lower, torch.cholesky_inverse(lower), torch.cholesky_solve(rand(100, 3), lower)


@work
def lu_and_solve():
    x = positive(80, 80)
    return (*torch.linalg.lu_factor(x), torch.linalg.solve(x, rand(80, 4)), torch.linalg.inv(x), torch.linalg.det(x / 100))


@work
def solve_batched():
    x = positive(64, 12, 12)
    return torch.linalg.solve(x, rand(64, 12, 2)), torch.linalg.cholesky(x), torch.linalg.inv(x), *torch.linalg.lu_factor(x)


@work
def triangular_and_least_squares():
    x = rand(50, 50).tril() + 10 * torch.eye(50, device=DEVICE)
    return torch.linalg.solve_triangular(x, rand(50, 5), upper=False), torch.linalg.lstsq(rand(60, 20), rand(60, 2)).solution, torch.linalg.matrix_exp(rand(10, 10) / 10)


# Recurrent networks, norms, losses ------------------------------------------------------------------


@kinds(("lstm", "LSTM", FULL), ("lstm_half", "LSTM", HALF), ("gru", "GRU", FULL), ("plain", "RNN", FULL))
def recurrent(kind, dtype):
    net = module(getattr(torch.nn, kind)(32, 48, num_layers=2, bidirectional=True, batch_first=True), dtype)
    x = rand(4, 25, 32, dtype=dtype, grad=True)
    return with_gradients(net(x)[0], x, *net.parameters())


@kinds(("float", FULL), ("half", HALF))
def batch_norm(dtype):
    x = rand(16, 24, 14, 14, dtype=dtype, grad=True)
    return with_gradients(module(torch.nn.BatchNorm2d(24), dtype)(x), x)


@kinds(("layer", lambda: torch.nn.LayerNorm(96)), ("group", lambda: torch.nn.GroupNorm(4, 96)), ("instance", lambda: torch.nn.InstanceNorm1d(96, affine=True)))
def norm(make):
    shape = (8, 96, 96)
    x = rand(*shape, grad=True)
    net = module(make())
    return with_gradients(net(x), x, *net.parameters())


@work
def rms_norm():
    x, w = rand(64, 512, grad=True), rand(512, grad=True)
    return with_gradients(F.rms_norm(x, (512,), w), x, w)


@work
def losses():
    x, y = rand(64, 10, grad=True), whole(0, 10, 64)
    loss = F.cross_entropy(x, y, label_smoothing=0.1)
    rest = F.mse_loss(x, x.detach().flip(0)), F.smooth_l1_loss(x, x.detach() + 1), F.kl_div(x.log_softmax(1), x.detach().softmax(1))
    return loss, torch.autograd.grad(loss, x)[0], *rest


@work
def ctc_loss():
    scores = rand(50, 4, 20).log_softmax(2)
    targets, lengths = torch.randint(1, 20, (4, 10)), torch.full((4,), 50)
    native = F.ctc_loss(scores, targets.to(DEVICE), lengths.to(DEVICE), torch.full((4,), 10).to(DEVICE))
    packed = F.ctc_loss(scores, targets.flatten().int(), lengths.int(), torch.full((4,), 10).int())
    return native, packed


@work
def embedding():
    table = rand(1000, 32, grad=True)
    return with_gradients(F.embedding(whole(0, 1000, 40, 7), table), table)


@work
def embedding_bag():
    table, picked = rand(500, 24), whole(0, 500, 200)
    return [F.embedding_bag(picked, table, torch.arange(0, 200, 10).to(DEVICE), mode=mode) for mode in ("sum", "mean", "max")]


@work
def dropout():
    torch.manual_seed(5)
    return F.dropout(rand(1000), 0.3), F.feature_alpha_dropout(rand(8, 16, 4), 0.5)


# Optimisers -----------------------------------------------------------------------------------------


def steps(make):
    weights = [rand(200, 30, grad=True), rand(30, grad=True)]
    chosen = make(weights)
    for _ in range(3):
        chosen.zero_grad()
        (weights[0].sin().sum() + (weights[1] ** 2).sum()).backward()
        chosen.step()
    return weights


@kinds(
    ("adam_fused", lambda w: torch.optim.Adam(w, fused=True)),
    ("adam_foreach", lambda w: torch.optim.AdamW(w, foreach=True)),
    ("sgd", lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9)),
)
def optimiser(make):
    return steps(make)


@work
def mixed_precision_step():
    net, x = module(torch.nn.Linear(64, 32)), rand(128, 64)
    scaler = torch.cuda.amp.GradScaler(enabled=DEVICE == "cuda")
    chosen = torch.optim.SGD(net.parameters(), lr=0.01)
    with torch.autocast(DEVICE, dtype=HALF if DEVICE == "cuda" else BRAIN):
        loss = net(x).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(chosen)
    scaler.update()
    return loss, *net.parameters()


# Order, places, sets --------------------------------------------------------------------------------


@work
def sorting():
    x, n = rand(20, 3000), whole(0, 50, 100_000)
    return (*x.sort(stable=True), n.sort(stable=True).values, x.argsort(1), torch.searchsorted(x.sort().values, x))


@work
def top_k():
    x = rand(16, 5000)
    return (*x.topk(7), x.kthvalue(30).values, torch.msort(x))


@work
def scatter_and_gather():
    x, i = rand(100, 40), whole(0, 100, 100, 40)
    zeros = torch.zeros(100, 40, device=DEVICE)
    return x.gather(0, i), zeros.scatter(0, torch.argsort(i, 0), x), zeros.scatter_add(0, i, x), zeros.scatter_reduce(0, i, x, "amax")


@work
def indexing():
    x, i = rand(300, 20), whole(0, 300, 90)
    put = x.clone().index_put_((i,), rand(90, 20), accumulate=True)
    return x[i], x[x > 1], x.index_select(0, i), x.index_add(0, i, rand(90, 20)), put, x.nonzero(), torch.take_along_dim(x, x.argsort(1), 1)


@work
def sets_and_counts():
    x = whole(0, 200, 5000)
    return (*x.unique(return_inverse=True, return_counts=True), x.bincount(), torch.isin(x, whole(0, 200, 30)), torch.unique_consecutive(x))


@work
def histogram():
    x = rand(10_000)
    return torch.histc(x, 50, -3, 3), torch.bucketize(x, torch.linspace(-3, 3, 20).to(DEVICE))


@work
def shapes():
    x = rand(12, 14, 16)
    return torch.cat([x, x]), x.permute(2, 0, 1).contiguous(), x.roll(3, 1), x.flip(0), F.pad(x, (1, 2), mode="reflect"), x.tril(), torch.kron(x[0], x[1])


@work
def random_numbers():
    made = torch.Generator(device=DEVICE).manual_seed(7)
    one = {"generator": made, "device": DEVICE}
    return torch.rand(1000, **one), torch.randn(1001, **one), torch.randint(0, 99, (500,), **one), torch.randperm(300, **one), torch.empty(400, device=DEVICE).exponential_(generator=made), torch.multinomial(torch.ones(50, device=DEVICE), 20, generator=made), torch.poisson(torch.ones(99, device=DEVICE) * 4, generator=made)


# Pictures -------------------------------------------------------------------------------------------


@work
def interpolate():
    x = rand(2, 3, 20, 24)
    return [F.interpolate(x, scale_factor=1.7, mode=mode) for mode in ("nearest", "bilinear", "bicubic", "area")]


@work
def grid_sample():
    x, grid = rand(2, 4, 16, 16), rand(2, 10, 10, 2).clamp(-1, 1)
    return F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, grid, mode="bicubic", align_corners=True), F.affine_grid(rand(2, 2, 3), (2, 4, 8, 8), align_corners=False)


@work
def pixel_shuffle():
    return F.pixel_shuffle(rand(2, 16, 8, 8), 2), F.channel_shuffle(rand(2, 16, 8, 8), 4)


# Sparse and quantised -------------------------------------------------------------------------------


def sparse_matrix():
    x = rand(200, 150)
    return x * (x > 1)


@work
def sparse_csr():
    a = sparse_matrix().to_sparse_csr()
    return a @ rand(150, 20), a @ rand(150), (a @ sparse_matrix().t().to_sparse_csr()).to_dense()


@work
def sparse_coo():
    a = sparse_matrix().to_sparse()
    return torch.sparse.mm(a, rand(150, 20)), torch.sparse.sum(a, 1).to_dense(), (a + a).coalesce().values(), torch.sparse.softmax(a, 1).to_dense()


@work
def sparse_bsr():
    return sparse_matrix()[:192, :144].to_sparse_bsr((16, 16)) @ rand(144, 32)


@kinds(("cutlass", True, HALF), ("cusparselt", False, HALF), ("cusparselt_int8", False, torch.int8))
def sparse_semi_structured(cutlass, dtype):
    from torch.sparse import SparseSemiStructuredTensor, to_sparse_semi_structured

    SparseSemiStructuredTensor._FORCE_CUTLASS = cutlass
    mask = torch.tensor([0, 0, 1, 1]).to(DEVICE).tile((256, 64)).bool()
    if dtype == torch.int8:
        dense, other = whole(-9, 9, 256, 256, dtype=dtype) * mask, whole(-9, 9, 128, 256, dtype=dtype).t()
    else:
        dense, other = rand(256, 256, dtype=dtype) * mask, rand(256, 128, dtype=dtype)
    return torch.mm(to_sparse_semi_structured(dense), other)


@work
def quantised_per_tensor():
    x = torch.quantize_per_tensor(rand(64, 64), 0.1, 10, torch.quint8)
    return x.int_repr(), x.dequantize(), torch.fake_quantize_per_tensor_affine(rand(500), 0.05, 0, -128, 127), torch.fake_quantize_per_channel_affine(rand(6, 50), torch.full((6,), 0.1, device=DEVICE), torch.zeros(6, dtype=torch.int32, device=DEVICE), 0, -128, 127)


@work
def nested():
    x = torch.nested.nested_tensor([rand(5, 16), rand(9, 16)])
    return torch.nested.to_padded_tensor(x, 0.0), torch.nested.to_padded_tensor(F.linear(x, rand(24, 16)), 0.0)


# Compilers, graphs, collectives ---------------------------------------------------------------------


@work
def compiled_with_triton():
    @torch.compile
    def one(x, w):
        return F.layer_norm(F.gelu(x @ w), (128,)).softmax(-1).sum(0)

    return one(rand(256, 64), rand(64, 128))


@work
def compiled_training_step():
    net = module(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)))
    made = torch.compile(net)
    x = rand(100, 32, grad=True)
    return with_gradients(made(x), x, *net.parameters())


@work
def script_fused_with_nvrtc():
    @torch.jit.script
    def one(x: torch.Tensor, y: torch.Tensor):
        return torch.sigmoid(x) * torch.tanh(y) + torch.relu(x - y)

    torch._C._jit_override_can_fuse_on_gpu(True)
    x, y = rand(5000), rand(5000)
    return [one(x, y) for _ in range(4)][-1]


@work
def jiterator():
    made = torch.cuda.jiterator._create_jit_fn("template <typename T> T one(T x, T y, T a) { return a * x * x + y; }", a=2.0)
    return made(rand(1000), rand(1000), a=3.0), torch.special.bessel_j0(rand(1000)), torch.special.airy_ai(rand(1000))


@work
def captured_graph():
    x, net = rand(64, 32), module(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 32)))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = net(x).softmax(1)
    x.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    return y


def group():
    import tempfile

    import torch.distributed as dist

    if not dist.is_initialized():
        place = tempfile.mktemp()
        dist.init_process_group("nccl" if DEVICE == "cuda" else "gloo", init_method=f"file://{place}", rank=0, world_size=1)
    return dist


@work
def nccl_all_reduce():
    x = rand(10_000)
    group().all_reduce(x)
    return x


@work
def nccl_scaled_reduce():
    """With a factor NCCL launches a kernel even where there is one rank only."""
    dist = group()
    x, out = rand(10_000), torch.zeros(10_000, device=DEVICE)
    dist.reduce_scatter_tensor(out, x, op=dist._make_nccl_premul_sum(0.5))
    return out


# One after the other --------------------------------------------------------------------------------


def flat(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from flat(one)
    else:
        raise TypeError(f"a result of type {type(value).__name__}")


def digest_of(value):
    made, count = hashlib.sha256(), 0
    for one in flat(value):
        one = one.detach()
        if one.is_complex():
            one = torch.view_as_real(one.resolve_conj())
        one = one.resolve_neg().to("cpu").contiguous()
        made.update(f"{one.dtype} {tuple(one.shape)};".encode())
        if one.numel():
            made.update(one.reshape(-1).view(torch.uint8).numpy().tobytes())
            count += one.numel()
    if not count:
        raise ValueError("a result without a number in it")
    return made.hexdigest()


def libraries():
    """Shared libraries that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if line.count("/")}
    return sorted(path for path in paths if ".so" in os.path.basename(path))


def run(name, function):
    torch.manual_seed(len(name))
    tensor_float(False)
    row = {"name": name, "ok": False}
    start = time.monotonic()
    try:
        value = function()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        row.update(ok=True, digest=digest_of(value))
    except Exception as error:  # whatever a library raises is what is to be told
        text = str(error).strip().splitlines()
        told = next((line for line in text if "CUDA error" in line or "no kernel image" in line), text[0] if text else "")
        row.update(error=f"{type(error).__name__}: {told}"[:300], code=getattr(error, "error_code", None))
        row["no_kernel_image"] = "no kernel image is available" in str(error)
    row["seconds"] = round(time.monotonic() - start, 3)
    return row


def main():
    global DEVICE
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", nargs="*", help="names of kinds of work")
    parser.add_argument("-o", "--output", help="file for the lines [default: standard output]")
    options = parser.parse_args()
    DEVICE = options.device
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    unknown = set(options.only or []) - {name for name, _ in WORK}
    if unknown:
        sys.exit(f"error: no work of the name {', '.join(sorted(unknown))}")
    with open(options.output, "w", encoding="utf-8") if options.output else sys.stdout as out:
        for name, function in WORK:
            if not options.only or name in options.only:
                # A line at once: what a crash left behind is still told.
                print(json.dumps(run(name, function)), file=out, flush=True)
        end = {"end": True, "torch": torch.__version__, "file": torch.__file__, "libraries": libraries()}
        if DEVICE == "cuda":
            end["device"] = torch.cuda.get_device_name()
            end["capability"] = list(torch.cuda.get_device_capability())
        print(json.dumps(end), file=out, flush=True)


if __name__ == "__main__":
    main()
