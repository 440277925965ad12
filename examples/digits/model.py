"""A small convolutional classifier; its input is named by a path."""

import flax.linen as nn
import jax

import kontext
from ktyping import Float, typechecked


class ConvNet(nn.Module):
    """Two convolutions, one hidden layer, one score per digit."""

    image: kontext.Key = kontext.REQUIRED
    features: int = 32
    hidden: int = 64
    num_classes: int = 10

    @nn.compact
    @typechecked
    def __call__(self, image: Float[jax.Array, "*b h w c"]) -> Float[jax.Array, "*b n"]:
        x = nn.relu(nn.Conv(self.features, (3, 3), name="conv1")(image))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(2 * self.features, (3, 3), name="conv2")(x))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape(*x.shape[:-3], -1)
        x = nn.relu(nn.Dense(self.hidden, name="hidden")(x))
        return nn.Dense(self.num_classes, name="scores")(x)
