import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Probed(tf.keras.Model):
    def __init__(self, encoder, probe=None):
        super().__init__()
        self.encoder = encoder
        self.probe = probe

    def compile(self, probe_optimizer=None, **options):
        super().compile(**options)
        if self.probe:
            self.probe_optimizer = probe_optimizer

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.encoder(x) - y))
        grads = tape.gradient(loss, self.encoder.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.encoder.trainable_variables))
        if self.probe:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.probe(x) + y))
            grads = tape.gradient(loss, self.probe.trainable_weights)
            self.probe_optimizer.apply_gradients(zip(grads, self.probe.trainable_weights))
        return {"loss": loss}

    def call(self, x):
        return self.encoder(x)


def settings(rate):
    return {"optimizer": tf.keras.optimizers.SGD(rate), "probe_optimizer": tf.keras.optimizers.Adam(rate)}


for has_probe in (True, False):
    model = Probed(tf.keras.layers.Dense(1), tf.keras.layers.Dense(1) if has_probe else None)
    model.compile(**settings(0.01))
    model.fit(x, y, epochs=2, verbose=0)
    model.compile(**settings(0.02))
    model.fit(x, y, epochs=1, verbose=0)
    print(model(x)[0])
