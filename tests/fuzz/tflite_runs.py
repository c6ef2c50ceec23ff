"""Seeds of tflite_fuzz whose operators run steps: sequences, and control flow."""
from tflite_model import Model


def sequences():
    def lstm_weights(m, x, cells, coupled=False, peepholes=False, scale=1.0):
        """The 17 inputs of one direction behind the sequence: weights, those of the state, peepholes, biases, and no projection."""
        weights = [m.floats([cells, 3], scale * (0.5 + i / 8)) for i in range(4)] + [m.floats([cells, cells], scale * (0.3 + i / 16)) for i in range(4)]
        peeps = [m.floats([cells], 0.2 * scale * (i + 1)) if peepholes else -1 for i in range(3)]
        biases = [m.floats([cells], 0.1 * scale * (i + 1)) for i in range(4)]
        if coupled:
            weights[0] = weights[4] = peeps[0] = biases[0] = -1
        return [*weights, *peeps, *biases, -1, -1]

    def states(m, count, batch, cells):
        return [m.tensor([batch, cells], is_variable=True) for _ in range(count)]

    for name, cells, more in (("lstm", 4, {}), ("lstm-coupled", 4, {"coupled": True}), ("lstm-peepholes", 5, {"peepholes": True}),
                              ("lstm-coupled-peepholes", 3, {"coupled": True, "peepholes": True})):
        m = Model()
        x = m.input([2, 5, 3])
        inputs = [x, *lstm_weights(m, x, cells, **more), *states(m, 2, 2, cells), -1, -1, -1, -1]
        yield name, m, m.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, "UnidirectionalSequenceLSTMOptions", activation="TANH")
    for name, merged in (("lstm-both-ways", True), ("lstm-two-outputs", False)):
        m = Model()
        x, cells = m.input([4, 2, 3]), 3
        inputs = [x, *lstm_weights(m, x, cells, peepholes=merged), *lstm_weights(m, x, cells, peepholes=merged, scale=-0.75), *states(m, 4, 2 if merged else 4, cells)]
        y = m.op("BIDIRECTIONAL_SEQUENCE_LSTM", inputs + [-1] * 9, "BidirectionalSequenceLSTMOptions", activation="TANH", merge_outputs=merged,
                 time_major=merged, outputs=[m.tensor([]) for _ in range(1 if merged else 2)])
        yield name, m, *([y] if merged else y)
    for activation, time_major in (("TANH", False), ("RELU", True)):
        m = Model()
        x, cells = m.input([3, 4, 3]), 2
        inputs = [x, m.floats([cells, 3]), m.floats([cells, cells], 0.5), m.floats([cells]), *states(m, 1, 4 if time_major else 3, cells)]
        yield f"rnn-{activation.lower()}", m, m.op("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, "SequenceRNNOptions", activation=activation, time_major=time_major)
    m = Model()
    x = m.input([3, 4, 3])
    direction = lambda scale: [m.floats([2, 3], scale), m.floats([2, 2], scale / 2), m.floats([2], scale), *states(m, 1, 3, 2)]
    yield "rnn-both-ways", m, m.op("BIDIRECTIONAL_SEQUENCE_RNN", [x, *direction(1), *direction(-0.75), -1, -1, -1], "BidirectionalSequenceRNNOptions",
                                   activation="TANH", merge_outputs=True)


def control():
    def scalar(m, value, kind="INT32"):
        return m.constant([], [value], kind)

    def less(m, x, y):
        return m.op("LESS", [x, y], outputs=[m.tensor([], "BOOL")])

    def plus(m, x, y, shape=(), kind="INT32"):
        return m.op("ADD", [x, y], "AddOptions", outputs=[m.tensor(list(shape), kind)])

    def loop(m, kinds, values, condition, step):
        """`condition` and `step` get a subgraph and its inputs."""
        for run in (condition, step):
            sub = Model(m)
            outputs = run(sub, *(sub.input(list(shape), kind) for shape, kind in kinds))
            sub.outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        numbers = {"cond_subgraph_index": len(m.others) - 1, "body_subgraph_index": len(m.others)}
        made = m.op("WHILE", values, "WhileOptions", outputs=[m.tensor(list(shape), kind) for shape, kind in kinds], **numbers)
        return made if isinstance(made, list) else [made]

    for limit in (5.0, -5.0):
        m = Model()
        x, scale = m.input([2, 3]), m.constant([3], [0.5, 2, -1])
        for name in ("MUL", "SUB"):
            branch = Model(m)
            a, b = branch.input([2, 3]), branch.input([3])
            branch.outputs = [branch.op(name, [a, b], f"{name.capitalize()}Options"), a]
        highest = m.op("REDUCE_MAX", [x, m.ints(0, 1)], "ReducerOptions")
        made = m.op("IF", [less(m, highest, scalar(m, limit, "FLOAT32")), x, scale], "IfOptions", then_subgraph_index=1, else_subgraph_index=2,
                    outputs=[m.tensor([2, 3]), m.tensor([2, 3])])
        yield f"if-{limit > 0}", m, *made

    # The number of runs is computed, the third value is the same in each.
    m = Model()
    first = m.op("REDUCE_MAX", [m.input([2], "INT32"), m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])
    kinds = [((), "INT32"), ((2, 3), "FLOAT32"), ((3,), "FLOAT32")]
    made = loop(m, kinds, [first, m.input([2, 3]), m.input([3])], lambda s, i, x, c: less(s, i, scalar(s, 41)),
                lambda s, i, x, c: (plus(s, i, scalar(s, 2)), s.op("SUB", [s.op("MUL", [x, scalar(s, -0.5, "FLOAT32")], "MulOptions"), c], "SubOptions"), c))
    yield "while", m, *made

    # A value that grows, and the condition that no run follows.
    for name, limit in (("while-grows", 3), ("while-never", -1)):
        m = Model()
        kinds = [((), "INT32"), ((1, 2), "FLOAT32"), ((1, 2), "FLOAT32")]
        first = m.op("REDUCE_MIN", [m.input([2], "INT32"), m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])
        x = m.input([1, 2])
        made = loop(m, kinds, [first, x, x], lambda s, i, x, y: less(s, i, scalar(s, limit)),
                    lambda s, i, x, y: (plus(s, i, scalar(s, 1)), s.op("CONCATENATION", [x, y], "ConcatenationOptions", axis=0),
                                        s.op("MUL", [y, scalar(s, 2, "FLOAT32")], "MulOptions")))
        yield name, m, made[0], m.op("NEG", [made[1]])

    # A recurrent network as Keras's converter writes it: steps of a sequence, a state, and a list of the states.
    steps, batch, inputs, cells = 4, 2, 3, 2
    m = Model()
    kinds = [((), "INT32"), ((batch, cells), "FLOAT32"), ((steps, batch, cells), "FLOAT32"), ((steps, batch, inputs), "FLOAT32")]

    def step(s, i, h, states, x):
        w, r = s.floats([cells, inputs]), s.floats([cells, cells], 0.5)
        now = s.op("FULLY_CONNECTED", [s.op("GATHER", [x, i], "GatherOptions", axis=0), w, s.floats([cells])], "FullyConnectedOptions")
        h = s.op("TANH", [s.op("ADD", [now, s.op("FULLY_CONNECTED", [h, r, -1], "FullyConnectedOptions")], "AddOptions")])
        at = s.op("PACK", [i, scalar(s, 0), scalar(s, 0)], "PackOptions", values_count=3, outputs=[s.tensor([3], "INT32")])
        states = s.op("DYNAMIC_UPDATE_SLICE", [states, s.op("RESHAPE", [h, s.ints(1, batch, cells)]), at])
        return plus(s, i, scalar(s, 1)), h, states, x
    x = m.op("TRANSPOSE", [m.input([batch, steps, inputs]), m.ints(1, 0, 2)])
    zeros = [m.constant(list(shape), [0.0] * (shape[0] * batch * cells if len(shape) == 3 else batch * cells)) for shape, _ in kinds[1:3]]
    made = loop(m, kinds, [scalar(m, 0), *zeros, x], lambda s, i, *_: less(s, i, scalar(s, steps)), step)
    yield "while-recurrent", m, made[1], m.op("TRANSPOSE", [made[2], m.ints(1, 0, 2)])

    # A choice in each run.
    m = Model()
    for name in ("ADD", "SUB"):
        branch = Model(m)
        branch.outputs = [branch.op(name, [branch.input([3]), branch.input([3])], f"{name.capitalize()}Options")]
    kinds = [((), "INT32"), ((3,), "FLOAT32"), ((3,), "FLOAT32")]
    choose = lambda s, i, x, c: s.op("IF", [less(s, s.op("FLOOR_MOD", [i, scalar(s, 3)], outputs=[s.tensor([], "INT32")]), scalar(s, 1)), x, c], "IfOptions",
                                     then_subgraph_index=1, else_subgraph_index=2)
    first = m.op("REDUCE_MIN", [m.input([2], "INT32"), m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])
    made = loop(m, kinds, [first, m.input([3]), m.floats([3])], lambda s, i, x, c: less(s, i, scalar(s, 5)),
                lambda s, i, x, c: (plus(s, i, scalar(s, 1)), choose(s, i, x, c), c))
    yield "while-if", m, made[1]
