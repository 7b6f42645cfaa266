import tensorflow as tf
import tfexplicit as tx

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
        self.opt_state = tx.setup(self.optimizer, self)
        if self.probe:
            self.probe_optimizer = probe_optimizer
            self.probe_opt_state = None if self.probe_optimizer is None else tx.setup(self.probe_optimizer, self.probe)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.encoder(x) - y))
        grads = tape.gradient(loss, tx.trainables(self.encoder))
        tx.update(self.opt_state, self.encoder, grads)
        if self.probe:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.probe(x) + y))
            grads = tape.gradient(loss, tx.trainables(self.probe))
            tx.update(self.probe_opt_state, self.probe, grads)
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
