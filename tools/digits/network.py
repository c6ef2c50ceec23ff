"""A small convolutional network with its own backward pass, on numpy alone. Activations are NHWC, f32."""
import numpy as np


class Param:
    def __init__(self, value):
        self.value = value.astype(np.float32)
        self.grad = np.zeros_like(self.value)


def windows(x, stride):
    """The nine shifted views of `x`, zero-padded by one, that a 3x3 kernel reads; (view, row, column) of each."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    h, w = x.shape[1], x.shape[2]
    for i in range(3):
        for j in range(3):
            yield padded[:, i:i + h:stride, j:j + w:stride], i, j


class Conv3x3:
    """Dense 3x3 convolution, padding 1; the weight is [3, 3, in, out]."""

    def __init__(self, rng, inputs, outputs, stride):
        self.stride = stride
        self.weight = Param(rng.normal(0, np.sqrt(2 / (9 * inputs)), (3, 3, inputs, outputs)))
        self.params = [self.weight]

    def forward(self, x, training):
        self.columns = np.concatenate([v for v, _, _ in windows(x, self.stride)], axis=-1)
        return self.columns @ self.weight.value.reshape(-1, self.weight.value.shape[-1])

    def backward(self, grad):
        flat = self.columns.reshape(-1, self.columns.shape[-1])
        self.weight.grad[...] = (flat.T @ grad.reshape(-1, grad.shape[-1])).reshape(self.weight.value.shape)
        return None  # only ever the first layer


class Depthwise3x3:
    """3x3 convolution of each channel for itself, padding 1; the weight is [3, 3, channels]."""

    def __init__(self, rng, channels, stride):
        self.stride = stride
        self.weight = Param(rng.normal(0, np.sqrt(2 / 9), (3, 3, channels)))
        self.params = [self.weight]

    def forward(self, x, training):
        self.x = x
        return sum(v * self.weight.value[i, j] for v, i, j in windows(x, self.stride))

    def backward(self, grad):
        n, h, w, c = self.x.shape
        back = np.zeros((n, h + 2, w + 2, c), np.float32)
        for view, i, j in windows(self.x, self.stride):
            self.weight.grad[i, j] = np.einsum("nhwc,nhwc->c", view, grad)
            back[:, i:i + h:self.stride, j:j + w:self.stride] += grad * self.weight.value[i, j]
        return back[:, 1:-1, 1:-1]


class Dense:
    """A matrix product over the channels: a 1x1 convolution, or the classifier. The weight is [in, out]."""

    def __init__(self, rng, inputs, outputs, bias=False):
        self.weight = Param(rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)))
        self.bias = Param(np.zeros(outputs)) if bias else None
        self.params = [self.weight] + ([self.bias] if bias else [])

    def forward(self, x, training):
        self.x = x
        y = x @ self.weight.value
        return y + self.bias.value if self.bias else y

    def backward(self, grad):
        flat = grad.reshape(-1, grad.shape[-1])
        self.weight.grad[...] = self.x.reshape(-1, self.x.shape[-1]).T @ flat
        if self.bias:
            self.bias.grad[...] = flat.sum(0)
        return grad @ self.weight.value.T


class BatchNorm:
    MOMENTUM, EPSILON = 0.9, 1e-5

    def __init__(self, channels):
        self.gamma, self.beta = Param(np.ones(channels)), Param(np.zeros(channels))
        self.mean, self.var = np.zeros(channels, np.float32), np.ones(channels, np.float32)
        self.params = [self.gamma, self.beta]

    def forward(self, x, training):
        mean, var = self.mean, self.var
        if training:
            axes = tuple(range(x.ndim - 1))
            mean, var = x.mean(axes), x.var(axes)
            self.mean += (1 - self.MOMENTUM) * (mean - self.mean)
            self.var += (1 - self.MOMENTUM) * (var - self.var)
        self.inverse = 1 / np.sqrt(var + np.float32(self.EPSILON))
        self.normal = (x - mean) * self.inverse
        return self.normal * self.gamma.value + self.beta.value

    def backward(self, grad):
        axes = tuple(range(grad.ndim - 1))
        self.beta.grad[...] = grad.sum(axes)
        self.gamma.grad[...] = (grad * self.normal).sum(axes)
        count = np.float32(grad.size // grad.shape[-1])
        centred = grad - self.beta.grad / count - self.normal * (self.gamma.grad / count)
        return centred * (self.gamma.value * self.inverse)


class Relu:
    params = []

    def forward(self, x, training):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class Residual:
    """x + layers(x)."""

    def __init__(self, layers):
        self.layers = layers
        self.params = [p for layer in layers for p in layer.params]

    def forward(self, x, training):
        y = x
        for layer in self.layers:
            y = layer.forward(y, training)
        return x + y

    def backward(self, grad):
        back = grad
        for layer in reversed(self.layers):
            back = layer.backward(back)
        return grad + back


class GlobalAverage:
    params = []

    def forward(self, x, training):
        self.shape = x.shape
        return x.mean((1, 2))

    def backward(self, grad):
        n, h, w, c = self.shape
        return np.broadcast_to(grad[:, None, None, :] / np.float32(h * w), self.shape)


def separable(rng, inputs, outputs, stride=1):
    return [Depthwise3x3(rng, inputs, stride), BatchNorm(inputs), Relu(), Dense(rng, inputs, outputs), BatchNorm(outputs)]


def digit_network(rng):
    """3x32x32 -> 10 logits: a strided convolution, then depthwise-separable blocks with two residual ones."""
    return [
        Conv3x3(rng, 3, 16, stride=2), BatchNorm(16), Relu(),
        *separable(rng, 16, 32), Relu(),
        *separable(rng, 32, 64, stride=2), Relu(),
        Residual(separable(rng, 64, 64)), Relu(),
        *separable(rng, 64, 128, stride=2), Relu(),
        Residual(separable(rng, 128, 128)), Relu(),
        GlobalAverage(), Dense(rng, 128, 10, bias=True),
    ]


def forward(layers, x, training=False):
    for layer in layers:
        x = layer.forward(x, training)
    return x


def backward(layers, grad):
    for layer in reversed(layers):
        grad = layer.backward(grad)


def cross_entropy(logits, labels, smoothing=0.05):
    """(mean loss, its gradient by the logits), with smoothed labels so that the network stays modest."""
    shifted = logits - logits.max(1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    target = np.full(logits.shape, smoothing / logits.shape[1], np.float32)
    target[np.arange(len(labels)), labels] += 1 - smoothing
    return -(target * log_p).sum(1).mean(), (np.exp(log_p) - target) / np.float32(len(labels))


class Adam:
    """With decoupled weight decay on matrices and kernels."""

    def __init__(self, params, decay=1e-2):
        self.params, self.decay, self.step_number = params, decay, 0
        self.m = [np.zeros_like(p.value) for p in params]
        self.v = [np.zeros_like(p.value) for p in params]

    def step(self, rate):
        self.step_number += 1
        first, second = 1 - 0.9 ** self.step_number, 1 - 0.999 ** self.step_number
        for p, m, v in zip(self.params, self.m, self.v):
            m += 0.1 * (p.grad - m)
            v += 0.001 * (p.grad * p.grad - v)
            if p.value.ndim > 1:
                p.value *= np.float32(1 - rate * self.decay)
            p.value -= np.float32(rate) * (m / np.float32(first)) / (np.sqrt(v / np.float32(second)) + np.float32(1e-8))
