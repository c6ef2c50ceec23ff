"""A model on several processors, and the plan that divides it: pool.py MODEL cpu:0,cpu:1"""
import sys

import mete
import numpy as np


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: pool.py MODEL PROCESSORS")
    model = mete.Model.load(sys.argv[1])
    pool = mete.Pool.from_list(sys.argv[2])
    session = mete.Session(model, pool, note=lambda line: print(line, file=sys.stderr))
    random = np.random.default_rng(1)
    inputs = [random.random(port.shape, np.float32) for port in model.inputs]
    for _ in range(20):
        session.run(inputs)
    stats = session.pool_stats
    print(session.plan)
    print(f"{stats['requests']} requests; predicted {stats['predicted_us'] / 1e3:.2f} ms, usual {stats['usual_us'] / 1e3:.2f} ms")


if __name__ == "__main__":
    main()
