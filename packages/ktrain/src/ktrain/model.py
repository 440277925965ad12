"""Running a model whose inputs are keys: the only module that calls one."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, Protocol

import flax.core
import flax.linen as linen
import jax

import kontext
from ktrain import _errors, nn
from ktrain.context import Context

_TRAIN_FLAGS = {
    "train": True,
    "training": True,
    "is_training": True,
    "deterministic": False,
    "use_running_average": False,
}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, kw_only=True)
class Forward:
    """What one run of a model gives.

    Attributes:
      preds: What the model returned.
      collections: Its variables other than parameters, after the run.
      interms: Outputs of inner layers; empty unless they were captured.
    """

    preds: Any
    collections: Mapping[str, Any]
    interms: Mapping[str, Any]


class ModelAdapter(Protocol):
    """What training needs of a model, whatever library it is written in."""

    def init(
        self, rngs: Mapping[str, jax.Array], context: Context
    ) -> tuple[Any, Mapping[str, Any]]:
        """Gives (params, collections) for the inputs in `context`."""
        ...

    def apply(
        self,
        context: Context,
        *,
        train: bool,
        rngs: Mapping[str, jax.Array],
        capture: bool,
    ) -> Forward:
        """Runs the model on `context.batch` with `context.params`."""
        ...


def adapt(model: Any) -> ModelAdapter:
    """Gives the adapter for a model.

    Raises:
      TrainerConfigError: The object is not a model that ktrain can run.
    """
    if isinstance(model, linen.Module):
        return LinenAdapter(model)
    raise _errors.TrainerConfigError(
        f"model: a {type(model).__module__}.{type(model).__qualname__} is not a model"
        " that ktrain can run.\n  Give a flax.linen.Module instance."
    )


@dataclasses.dataclass(frozen=True, eq=False)
class LinenAdapter:
    """Runs a `flax.linen` module.

    Fields of the module annotated as `kontext.Key` are read from the context and
    handed to `__call__` under the same names; a module without keys gets the whole
    batch. A `__call__` with one of the usual flags (`train`, `training`,
    `is_training`, `deterministic`, `use_running_average`) is told the phase.
    """

    model: linen.Module

    def init(
        self, rngs: Mapping[str, jax.Array], context: Context
    ) -> tuple[Any, Mapping[str, Any]]:
        """Gives (params, collections), see `ModelAdapter`."""
        args, kwargs = self._inputs(context, train=True)
        with nn.training(True):
            variables = self.model.init(dict(rngs), *args, **kwargs)
        variables = dict(flax.core.unfreeze(variables))
        variables.pop("intermediates", None)
        return variables.pop("params", {}), variables

    def apply(
        self,
        context: Context,
        *,
        train: bool,
        rngs: Mapping[str, jax.Array],
        capture: bool,
    ) -> Forward:
        """Runs the model, see `ModelAdapter`."""
        args, kwargs = self._inputs(context, train=train)
        variables = {"params": context.params, **context.collections}
        mutable = _mutable(train=train, capture=capture)
        with nn.training(train):
            preds, changed = self.model.apply(
                variables,
                *args,
                rngs=dict(rngs),
                mutable=mutable,
                capture_intermediates=capture,
                **kwargs,
            )
        changed = dict(flax.core.unfreeze(changed))
        interms = changed.pop("intermediates", {})
        return Forward(
            preds=preds,
            collections={**context.collections, **changed},
            interms=interms if capture else {},
        )

    def _inputs(self, context: Context, *, train: bool) -> tuple[list, dict[str, Any]]:
        call = type(self.model).__call__
        flags = {
            name: train if meaning else not train
            for name, meaning in _TRAIN_FLAGS.items()
            if name in inspect.signature(call).parameters
        }
        if not kontext.is_key_annotated(self.model):
            return [context.batch], flags
        kwargs = kontext.resolve_from_keyed_obj(context, self.model)
        return [], {**kwargs, **{k: v for k, v in flags.items() if k not in kwargs}}


def _mutable(*, train: bool, capture: bool) -> Any:
    """Gives which variables a run may change: in evaluation none but the captured."""
    if train:
        # Without capturing, what the model sows is read by nobody.
        return flax.core.DenyList(
            ("params",) if capture else ("params", "intermediates")
        )
    return ["intermediates"] if capture else []
