"""Evaluation while training: when, on which data, with which measures."""

from ktrain.evals._evaluator import EvalResult, EvalSession, Evaluator
from ktrain.evals._failures import EvalFailures
from ktrain.evals._schedule import EveryNSteps

__all__ = ["EvalFailures", "EvalResult", "EvalSession", "Evaluator", "EveryNSteps"]
