"""Classes of your own in a model: one that says what it trains, and a container that is no list."""

import tensorflow as tf

import tfexplicit as tx


@tx.trainable_fields("weights")
class Layer:
    """Trains its weights; the scale is an array too, and stays."""

    def __init__(self, weights, scale):
        self.weights, self.scale = weights, scale

    def __call__(self, x):
        return tf.tanh(x @ self.weights) * self.scale


class Link:
    """A linked list of layers."""

    def __init__(self, layer, rest=None):
        self.layer, self.rest = layer, rest

    def __call__(self, x):
        x = self.layer(x)
        return x if self.rest is None else self.rest(x)


tx.register_node(
    Link,
    lambda link: {"layer": link.layer, "rest": link.rest},
    lambda link, new: Link(new["layer"], new["rest"]),
)


def weights(rows, columns, seed):
    return tf.random.stateless_normal([rows, columns], [seed, 0])


x = weights(32, 3, 1)
y = tf.sin(tf.reduce_sum(x, 1, keepdims=True))


def loss_fn(model):
    return tf.reduce_mean((model(x) - y) ** 2)


# Leaves are tensors here, so a step gives a new model; with variables it writes to them.
model = Link(Layer(weights(3, 8, 2), tf.ones([8])), Link(Layer(weights(8, 1, 3), tf.ones([1]))))
opt_state = tx.setup(tx.Adam(0.02), model)
assert opt_state.paths == ["layer/weights", "rest/layer/weights"]

first = loss_fn(model)
for _ in range(60):
    loss, grads = tx.value_and_grad(loss_fn)(model)
    opt_state, model = tx.update(opt_state, model, grads)
print("loss:", first.numpy(), "->", loss.numpy())
assert isinstance(model.rest, Link)
assert loss < 0.5 * first
