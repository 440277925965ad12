"""The switches over versions of the libraries below; each is tested on both lines."""

from __future__ import annotations


def prepare_libraries() -> None:
    """Makes the libraries below work together; called before their first import.

    Installs the etils shim, which stays out of the way where etils and jax agree.
    """
    from ktyping.compat import etils

    etils.install()
