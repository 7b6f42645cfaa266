"""`import tensorflow` without an alias; `tensorflow.function` wraps the step by a call."""

import tensorflow

tensorflow.random.set_seed(17)
layers = tensorflow.keras.layers

net = tensorflow.keras.Sequential([layers.Dense(10, activation="relu"), layers.Dense(4)])
optimizer = tensorflow.keras.optimizers.SGD(learning_rate=0.05)

initializer = tensorflow.keras.initializers.RandomNormal(seed=17)
features = initializer((120, 6)) * 20
labels = tensorflow.argmax(features[:, :4], axis=1)


def one_step(features, labels):
    with tensorflow.GradientTape() as tape:
        logits = net(features)
        losses = tensorflow.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tensorflow.reduce_mean(losses)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


fast_step = tensorflow.function(one_step)

net.build((None, 6))
for i in range(30):
    value = fast_step(features, labels)
    if i % 10 == 0:
        print(f"{i}: {value:.4f}")
print(f"last: {value:.4f}")
