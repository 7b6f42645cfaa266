import tensorflow as tf
import tfexplicit as tx

x = tf.random.stateless_normal((32, 4), [1, 2])


class Explainer:
    def explain(self, x):
        self.opt = tx.Adam(0.1)
        w = tf.Variable(tf.ones((4, 1)))
        self.opt_state = tx.setup(self.opt, [w])
        for _ in range(3):
            print(float(self._step(x, w)), int(self.opt_state.step))
        return w

    @tf.function
    def _step(self, x, w):
        print("trace")
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ w))
        grads = tape.gradient(loss, [w])
        tx.update(self.opt_state, [w], grads)
        return loss


e = Explainer()
a = e.explain(x)
b = e.explain(x)
print(a.numpy().ravel(), b.numpy().ravel())
