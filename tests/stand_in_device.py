"""A device that computes on the processor but, as a GPU does, refuses what lies elsewhere.

A tensor that the code under test makes without a `device` lies on the processor. On a machine
without a GPU that is where the model lies too, so nothing shows that it was forgotten. Within
`StandInDevice()` a model can be moved to `STAND_IN`: its values are then tensors of the processor
in a shell which says that it lies on another device. Every operation passes through here, is
refused if CUDA would refuse it, and is computed on what the shells hold.

The tag of the shells is PyTorch's `lazy` device. Nothing of its backend is used, but its tag exists
in every build, is none that a build brings a backend for, and its backward passes run in the
calling thread: those of `cuda` want a thread of a device that is not there.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

STAND_IN = torch.device("lazy")

aten = torch.ops.aten

COPIES = {aten.copy_, aten._foreach_copy_}
"""What moves values from one device to another."""

INDEXING = {aten.index, aten.index_put, aten.index_put_}
"""What takes indices and masks of the processor also for a tensor of another device."""

TAKES_SCALARS = {aten.where, aten.index_put, aten.index_put_, aten.masked_fill, aten.masked_fill_}
"""What takes any number of 0-dimensional tensors of the processor."""

PRODUCTS = {
    *(aten.linear, aten.matmul, aten.mm, aten.bmm, aten.mv, aten.dot),
    *(aten.addmm, aten.addmm_, aten.baddbmm),
}
"""What CUDA computes for floating point numbers only."""


class StandInTensor(torch.Tensor):
    """The shell of a tensor of the processor."""

    held: torch.Tensor

    @staticmethod
    # a shell made as an inference tensor could not be a view of a parameter's shell
    @torch.inference_mode(False)
    def __new__(cls, held: torch.Tensor) -> "StandInTensor":
        shell = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=STAND_IN,
        )
        shell.held = held
        return shell

    def __repr__(self) -> str:
        return f"StandInTensor({self.held})"

    def tolist(self) -> Any:  # the original does not pass through `__torch_dispatch__`
        return self.cpu().tolist()

    def numpy(self) -> Any:
        raise TypeError("can't convert a tensor of the stand-in device to numpy; use Tensor.cpu()")

    @property
    def data(self) -> torch.Tensor:
        return self.detach()

    @data.setter
    def data(self, value: "StandInTensor") -> None:  # `Module.float()` sets it
        torch.Tensor.data.__set__(self, value)
        self.held = value.held

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, types: Any, arguments: Sequence[Any] = (), options: Any = None
    ) -> Any:
        return _compute(operation, arguments, options or {})


class StandInDevice(TorchDispatchMode):
    """Within it `STAND_IN` exists."""

    def __enter__(self) -> "StandInDevice":
        # `torch.tensor(..., device=...)` makes its tensor on the processor and moves it in a way
        # that passes through here only with this switch, which fake tensors need as well.
        self._switch = torch._C._only_lift_cpu_tensors()
        torch._C._set_only_lift_cpu_tensors(True)
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        torch._C._set_only_lift_cpu_tensors(self._switch)
        super().__exit__(*raised)

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Sequence[Any] = (), options: Any = None
    ) -> Any:
        return _compute(operation, arguments, options or {})


def _compute(operation: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    tensors = [*_tensors((arguments, options.values()))]
    shells = [each for each in tensors if isinstance(each, StandInTensor)]
    wanted = options.get("device")
    here = bool(shells) if wanted is None else torch.device(wanted).type == STAND_IN.type
    if not shells and not here:
        return operation(*arguments, **options)
    if torch.Tag.inplace_view in operation.tags and operation != aten.detach_.default:
        raise NotImplementedError(f"{operation} would change the shape of a shell")
    names, changed = _signature(operation)
    given = {**dict(zip(names, arguments, strict=False)), **options}
    written = [given[name] for name in changed]
    if 0 < len(shells) < len(tensors) and operation.overloadpacket not in COPIES:
        _refuse_mixture(operation, given, written)
    if shells and operation.overloadpacket in PRODUCTS and not shells[0].is_floating_point():
        raise RuntimeError(f"{operation} is not implemented for {shells[0].dtype}")
    if here and options.get("generator") is not None:
        raise RuntimeError(f"{operation}: a generator of the processor draws for another device")
    held = {name: _held(value) for name, value in options.items()}
    if here and wanted is not None:
        held["device"] = torch.device("cpu")
    found = operation(*map(_held, arguments), **held)
    if written:  # what was changed in place is the shell that was given, not a new one
        return written[0] if isinstance(found, torch.Tensor) else found and tuple(written)
    return _shells(found) if here else found


@cache
def _signature(operation: Any) -> tuple[list[str], list[str]]:
    """Names of the arguments of an operation, and of those that it changes."""
    arguments = operation._schema.arguments
    changed = [each.name for each in arguments if each.alias_info and each.alias_info.is_write]
    return [each.name for each in arguments], changed


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            yield from _tensors(each)


def _held(value: Any) -> Any:
    if isinstance(value, StandInTensor):
        return value.held
    return [_held(each) for each in value] if isinstance(value, (list, tuple)) else value


def _shells(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return StandInTensor(value)
    return tuple(map(_shells, value)) if isinstance(value, (list, tuple)) else value


def _refuse_mixture(operation: Any, given: dict[str, Any], written: list[Any]) -> None:
    """Raise if CUDA would not take its tensors and those of the processor together."""
    scalars = 0
    takes_scalars = operation.overloadpacket in TAKES_SCALARS
    pointwise = takes_scalars or torch.Tag.pointwise in operation.tags
    for name, value in given.items():
        for each in _tensors(value):
            if isinstance(each, StandInTensor):
                continue
            if name == "indices" and operation.overloadpacket in INDEXING:
                if isinstance(given["self"], StandInTensor):
                    continue
            elif pointwise and each.dim() == 0 and not any(each is one for one in written):
                scalars += 1
                if scalars == 1 or takes_scalars:
                    continue
            raise RuntimeError(
                "Expected all tensors to be on the same device, but "
                f"'{name}' of {operation} {list(each.shape)} lies on the processor"
            )
