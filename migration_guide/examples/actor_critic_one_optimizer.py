"""Actor and critic share one optimizer and its step count, but are updated separately."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(19)


class Corridor:
    """Walk from 0 to 5; every step costs 0.1 and the goal pays 1."""

    def reset(self):
        self.position = 0
        return np.array([0.0], np.float32)

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        done = self.position == 5
        return np.array([self.position / 5], np.float32), 1.0 if done else -0.1, done


actor = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
actor.build((None, 1))
critic.build((None, 1))
optimizer.build(actor.trainable_variables + critic.trainable_variables)
env = Corridor()
gamma = 0.95

state = env.reset()
for step in range(30):
    logits = actor(state[None])
    action = int(tf.random.categorical(logits, 1)[0, 0])
    next_state, reward, done = env.step(action)
    target = reward if done else reward + gamma * float(critic(next_state[None])[0, 0])

    with tf.GradientTape() as tape:
        value = critic(state[None])[0, 0]
        critic_loss = tf.square(target - value)
    critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(critic_grads, critic.trainable_variables))

    advantage = target - value
    with tf.GradientTape() as tape:
        log_probs = tf.nn.log_softmax(actor(state[None]))[0]
        actor_loss = -log_probs[action] * tf.stop_gradient(advantage)
    actor_grads = tape.gradient(actor_loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(actor_grads, actor.trainable_variables))

    state = env.reset() if done else next_state
    if step % 10 == 0 or step == 29:
        print(f"step {step}: critic {critic_loss:.4f} actor {actor_loss:.4f}")
