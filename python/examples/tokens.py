"""The tokens that a language model finds likeliest, one by one: tokens.py MODEL COUNT TOKEN...

MODEL takes all tokens so far, 1 x N, and returns logits, 1 x N x the vocabulary. The session plans for each length once.
"""
import sys

import mete
import numpy as np


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: tokens.py MODEL COUNT TOKEN...")
    count, tokens = int(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    session = mete.InferenceSession(sys.argv[1])
    name = session.get_inputs()[0].name
    for _ in range(count):
        logits = session.run(None, {name: np.array([tokens], np.int64)})[0]
        tokens.append(int(logits[0, -1].argmax()))
    print(*tokens)


if __name__ == "__main__":
    main()
