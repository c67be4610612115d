"""Export small PyTorch models to MLIR together with their inputs and outputs.

For each model this script writes two files next to itself (or into ``--out-dir``):

``NAME.mlir``
    The model as one function ``@NAME`` on tensors, in the dialects ``arith``, ``cf``, ``func``,
    ``linalg``, ``math`` and ``tensor``.
``NAME.npz``
    The arrays ``input_0``, ``input_1``, ... in the order of the function's parameters, and
    ``output_0``, ... as eager PyTorch computes them from those inputs.

All weights and inputs are drawn from NumPy generators with fixed seeds, so that a rerun with the
same versions of PyTorch and torch-mlir writes the same bytes into the ``.mlir`` files.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.metadata
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_mlir import fx


class Mlp(nn.Module):
    """Three linear layers with GELU, ReLU, layer normalization and a final softmax.

    Parameters
    ----------
    sizes : tuple of int
        Number of features of the input, of the two hidden layers and of the output.
    """

    def __init__(self, sizes: tuple[int, int, int, int] = (64, 128, 64, 10)) -> None:
        super().__init__()
        self.fc1 = nn.Linear(sizes[0], sizes[1])
        self.norm = nn.LayerNorm(sizes[1])
        self.fc2 = nn.Linear(sizes[1], sizes[2])
        self.fc3 = nn.Linear(sizes[2], sizes[3])

    def forward(self, x: Tensor) -> Tensor:
        """Return one probability per class for each row of `x`.

        Parameters
        ----------
        x : Tensor
            Batch of rows, of shape ``(batch, sizes[0])``.

        Returns
        -------
        Tensor
            Probabilities, of shape ``(batch, sizes[3])``.
        """
        x = self.norm(nn.functional.gelu(self.fc1(x)))
        x = nn.functional.relu(self.fc2(x))
        return nn.functional.softmax(self.fc3(x), dim=-1)


class ConvNet(nn.Module):
    """Two convolutions with batch normalization and pooling, then a linear classifier.

    Parameters
    ----------
    channels : tuple of int
        Number of channels of the image and after each of the two convolutions.
    classes : int
        Number of outputs.
    """

    def __init__(self, channels: tuple[int, int, int] = (3, 8, 16), classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels[0], channels[1], kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm2d(channels[1])
        self.conv2 = nn.Conv2d(channels[1], channels[2], kernel_size=3, padding=1)
        self.norm2 = nn.BatchNorm2d(channels[2])
        self.pool = nn.MaxPool2d(kernel_size=2)
        self.global_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels[2], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return one score per class for each image of `x`.

        Parameters
        ----------
        x : Tensor
            Batch of images, of shape ``(batch, channels[0], height, width)``.

        Returns
        -------
        Tensor
            Scores, of shape ``(batch, classes)``.
        """
        x = self.pool(nn.functional.relu(self.norm1(self.conv1(x))))
        x = self.pool(nn.functional.relu(self.norm2(self.conv2(x))))
        scores: Tensor = self.fc(torch.flatten(self.global_pool(x), 1))
        return scores


class WithParametersAsInputs(nn.Module):
    """A module that takes the parameters of another one as inputs.

    Parameters
    ----------
    module : nn.Module
        Module to call; its own parameters are not used. It must have no buffers.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        # Held in a tuple, so that the module and its parameters are not registered as part of
        # this one; otherwise they would be exported as constants.
        self._hidden = (module,)
        self._names = [name for name, _ in module.named_parameters()]

    def forward(self, x: Tensor, *parameters: Tensor) -> Tensor:
        """Return the output of the held module, called with the given parameters.

        Parameters
        ----------
        x : Tensor
            Input of the held module.
        *parameters : Tensor
            One tensor per parameter, in the order of the module's ``named_parameters``.

        Returns
        -------
        Tensor
            Output of the held module.
        """
        (module,) = self._hidden
        named = dict(zip(self._names, parameters, strict=True))
        result: Tensor = torch.func.functional_call(module, named, (x,))
        return result


@dataclasses.dataclass(frozen=True)
class Example:
    """A model, the inputs to run it with, and the inputs' dynamic dimensions.

    Attributes
    ----------
    module : nn.Module
        Model in eval mode.
    inputs : sequence of Tensor
        Inputs, in the order of the parameters of the exported function.
    dynamic_shapes : object, optional
        Dynamic dimensions as `torch.export.export` takes them; None means that all are static.
    """

    module: nn.Module
    inputs: Sequence[Tensor]
    dynamic_shapes: Any = None


def uniform(rng: np.random.Generator, shape: Sequence[int], low: float, high: float) -> Tensor:
    """Draw a float32 tensor from a uniform distribution.

    NumPy's generator gives the same numbers on every machine; PyTorch promises that only for one
    version and platform.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the numbers.
    shape : sequence of int
        Shape of the tensor.
    low, high : float
        Bounds of the distribution.

    Returns
    -------
    Tensor
        Random values between `low` and `high`.
    """
    return torch.from_numpy(rng.uniform(low, high, tuple(shape)).astype(np.float32))


def randomize(module: nn.Module, seed: int) -> nn.Module:
    """Fill the parameters and running statistics with random values, and set eval mode.

    Matrices and kernels get a scale that keeps the variance of what passes through them. The
    scales and variances of normalizations get values around one, and all biases and running
    means values around zero, so that none of them can be left out unnoticed.

    Parameters
    ----------
    module : nn.Module
        Module to change in place.
    seed : int
        Seed of the random values.

    Returns
    -------
    nn.Module
        The same module.
    """
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if not tensor.is_floating_point():
                continue  # the number of batches seen, which eval mode does not use
            if tensor.dim() > 1:
                bound = math.sqrt(3.0 / math.prod(tensor.shape[1:]))
                tensor.copy_(uniform(rng, tensor.shape, -bound, bound))
            elif name.endswith(("weight", "running_var")):
                tensor.copy_(uniform(rng, tensor.shape, 0.5, 1.5))
            else:
                tensor.copy_(uniform(rng, tensor.shape, -0.5, 0.5))
    return module.eval()


def make_input(seed: int, *shape: int) -> Tensor:
    """Draw an input with mean zero and variance one.

    Parameters
    ----------
    seed : int
        Seed of the random values.
    *shape : int
        Shape of the input.

    Returns
    -------
    Tensor
        Random input.
    """
    bound = math.sqrt(3.0)
    return uniform(np.random.default_rng(seed), shape, -bound, bound)


def make_mlp() -> Example:
    """Return the multilayer perceptron, with a static batch of 8.

    Returns
    -------
    Example
        Model and input.
    """
    return Example(randomize(Mlp(), seed=1), [make_input(101, 8, 64)])


def make_mlp_args() -> Example:
    """Return the same multilayer perceptron, with its parameters as inputs.

    Returns
    -------
    Example
        Model and inputs: first the batch, then one input for each parameter.
    """
    module = randomize(Mlp(), seed=1)
    parameters = [parameter.detach() for parameter in module.parameters()]
    return Example(WithParametersAsInputs(module), [make_input(101, 8, 64), *parameters])


def make_mlp_dynamic() -> Example:
    """Return the same multilayer perceptron, with a dynamic batch; its input has 5 rows.

    Returns
    -------
    Example
        Model, input and dynamic dimension.
    """
    batch = torch.export.Dim("batch")
    return Example(randomize(Mlp(), seed=1), [make_input(102, 5, 64)], ({0: batch},))


def make_encoder() -> Example:
    """Return one transformer encoder block, for a batch of 2 sequences of length 16.

    Returns
    -------
    Example
        Model and input.
    """
    module = nn.TransformerEncoderLayer(
        d_model=64, nhead=4, dim_feedforward=128, activation="gelu", batch_first=True
    )
    return Example(randomize(module, seed=2), [make_input(103, 2, 16, 64)])


def make_convnet() -> Example:
    """Return the convolutional network, for one image of 3x16x16.

    Returns
    -------
    Example
        Model and input.
    """
    return Example(randomize(ConvNet(), seed=3), [make_input(104, 1, 3, 16, 16)])


EXAMPLES: dict[str, Callable[[], Example]] = {
    "mlp": make_mlp,
    "mlp_args": make_mlp_args,
    "mlp_dynamic": make_mlp_dynamic,
    "encoder": make_encoder,
    "convnet": make_convnet,
}


def export(name: str, example: Example, out_dir: Path) -> None:
    """Write ``NAME.mlir`` and ``NAME.npz`` for an example.

    Parameters
    ----------
    name : str
        Name of the exported function and of both files.
    example : Example
        What to export.
    out_dir : Path
        Existing folder to write into.
    """
    with torch.no_grad():
        result = example.module(*example.inputs)
    outputs = [result] if isinstance(result, Tensor) else list(result)
    arrays: dict[str, Any] = {
        f"input_{i}": tensor.numpy() for i, tensor in enumerate(example.inputs)
    }
    arrays |= {f"output_{i}": tensor.numpy() for i, tensor in enumerate(outputs)}

    module = fx.export_and_import(
        example.module,
        *example.inputs,
        output_type="linalg-on-tensors",
        dynamic_shapes=example.dynamic_shapes,
        func_name=name,
    )
    versions = " and ".join(f"{p} {importlib.metadata.version(p)}" for p in ("torch", "torch-mlir"))
    header = f"// Written by export_torch.py with {versions}; do not edit.\n"
    text = header + str(module).strip() + "\n"

    (out_dir / f"{name}.mlir").write_text(text, encoding="utf-8", newline="\n")
    np.savez(out_dir / f"{name}.npz", **arrays)
    print(f"{name}: {len(arrays)} arrays, {len(text.encode()) / 1000:.0f} kB of MLIR")


def main() -> None:
    """Export the examples named on the command line."""
    parser = argparse.ArgumentParser(description="Export small PyTorch models to MLIR.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"examples to export: {', '.join(EXAMPLES)} (default: all of them)",
    )
    parser.add_argument(
        "--out-dir",
        type=Path,
        default=Path(__file__).resolve().parent,
        help="folder to write into (default: the folder of this script)",
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in EXAMPLES]
    if unknown:
        parser.error(f"no such example: {', '.join(unknown)}")

    # Raised inside PyTorch by its own use of a deprecated name; nothing that can be done here.
    warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
    torch.set_num_threads(1)
    options.out_dir.mkdir(parents=True, exist_ok=True)
    for name in options.names or EXAMPLES:
        export(name, EXAMPLES[name](), options.out_dir)


if __name__ == "__main__":
    main()
