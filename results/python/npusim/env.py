"""A search of others drives npusim: reset and step as Gymnasium has them."""

import math
import random
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ._library import Error
from .machine import Machine, Run


class _Choices:
    """MultiDiscrete where Gymnasium is not installed: action i is a number from 0 to nvec[i] - 1."""

    def __init__(self, nvec: Sequence[int]):
        self.nvec = list(nvec)
        self.shape = (len(self.nvec),)
        self._random = random.Random()

    def seed(self, seed: Optional[int] = None) -> None:
        self._random.seed(seed)

    def sample(self) -> List[int]:
        return [self._random.randrange(n) for n in self.nvec]

    def contains(self, x: Sequence[int]) -> bool:
        return len(x) == len(self.nvec) and all(int(i) == i and 0 <= i < n for i, n in zip(x, self.nvec))


class _Box:
    """Box where Gymnasium is not installed: so many numbers from low to high."""

    def __init__(self, low: float, high: float, n: int):
        self.low, self.high, self.shape = low, high, (n,)

    def contains(self, x: Sequence[float]) -> bool:
        return len(x) == self.shape[0] and all(self.low <= v <= self.high for v in x)


class Env:
    """Designs as actions: a step builds one and runs it.

    An action is a number into the values of each axis; an observation is the last action, each part of 1, and behind it the
    logarithm of the base machine's time over this one's. The reward is that logarithm (0: as fast as the base, log 2: twice), or
    what ``reward(run, base)`` says; a design that cannot be built has ``refused`` for a reward, and its reason in ``info``. An episode
    is truncated after ``steps`` steps. Nothing is drawn at random but by ``action_space.sample()``.

    Where Gymnasium is installed the spaces are its own, and numpy's arrays are the observations.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, machine: Machine, axes: Mapping[str, Sequence[Any]], steps: int = 100,
                 reward: Optional[Callable[[Run, Run], float]] = None, refused: float = -10.0, **asked: Any):
        if not axes or not all(len(v) for v in axes.values()):
            raise Error("an environment has one axis or more, each of one value or more")
        if steps < 1:
            raise Error("an episode has one step or more")
        for key in axes:
            machine.check_axis(key)
        self.machine, self.axes, self.steps, self.refused = machine, {k: list(v) for k, v in axes.items()}, steps, refused
        self.base = machine.run(**asked)
        self._asked, self._reward, self._done = asked, reward or _faster, 0
        self._seen: Dict[Tuple[int, ...], Tuple[float, Dict[str, Any]]] = {}
        self._spaces([len(v) for v in self.axes.values()])

    def _spaces(self, nvec: List[int]) -> None:
        try:
            import gymnasium.spaces as spaces
            import numpy
        except ImportError:
            self._array: Callable[[List[float]], Any] = list
            self.action_space: Any = _Choices(nvec)
            self.observation_space: Any = _Box(-math.inf, math.inf, len(nvec) + 1)
            return
        self._array = lambda x: numpy.array(x, dtype=numpy.float64)
        self.action_space = spaces.MultiDiscrete(nvec)
        self.observation_space = spaces.Box(-math.inf, math.inf, (len(nvec) + 1,), numpy.float64)

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Any, Dict[str, Any]]:
        """A new episode, at the base machine."""
        del options
        if seed is not None:
            self.action_space.seed(seed)
        self._done = 0
        return self._array([0.0] * (len(self.axes) + 1)), {"settings": {}, "total_us": self.base.total_us}

    def step(self, action: Sequence[int]) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Builds the design and runs it: observation, reward, terminated, truncated, info."""
        picked = tuple(int(i) for i in action)
        sizes = [len(v) for v in self.axes.values()]
        if len(picked) != len(sizes) or not all(0 <= i < n for i, n in zip(picked, sizes)):
            raise Error(f"action {list(action)} does not lie in the space: {len(sizes)} numbers below {sizes}")
        if picked not in self._seen:
            self._seen[picked] = self._judge(picked)
        reward, info = self._seen[picked]
        self._done += 1
        gained = math.log(self.base.total_us / info["total_us"]) if info["total_us"] else self.refused
        seen = [i / max(n - 1, 1) for i, n in zip(picked, sizes)] + [gained]
        return self._array(seen), reward, False, self._done >= self.steps, dict(info)

    def _judge(self, picked: Tuple[int, ...]) -> Tuple[float, Dict[str, Any]]:
        settings = {k: v[i] for (k, v), i in zip(self.axes.items(), picked)}
        point = self.machine._point(settings, self._asked)
        if point.run is None:
            return self.refused, {"settings": settings, "total_us": None, "reason": point.reason}
        return float(self._reward(point.run, self.base)), {"settings": settings, "total_us": point.run.total_us, "reason": None}

    def render(self) -> None:
        """Nothing: a design is its settings."""

    def close(self) -> None:
        """Nothing is held that others miss."""


def _faster(run: Run, base: Run) -> float:
    return math.log(base.total_us / run.total_us)
