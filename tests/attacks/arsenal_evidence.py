"""Attacks on the wire: evidence, frames and answers that the worker never made."""

from __future__ import annotations

from functools import partial

from tests.attacks.arsenal import STOCK_NO_WIRE, cell_attack

_forge = partial(cell_attack, "evidence", stock=STOCK_NO_WIRE)
_answer = partial(cell_attack, "evidence")

_WIRE = """
import os, socket, stat, json, struct, threading, time
def channels():
    found = []
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode): found.append(socket.socket(fileno=os.dup(number)))
        except OSError: pass
    return found
def frame(header, payload=b"", announce=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">II", len(text) if announce is None else announce, len(payload)) + text + payload
def say(data):
    for channel in channels(): channel.sendall(data)
"""

_FORGE = """
import json
from nbproof.sandbox import wire
genuine = wire.send
def forged(channel, header, payload=b""):
    if "trouble" not in header: return genuine(channel, header, payload)
    # Evidence travels packed: its JSON, then the tensors. Taken apart, forged, and put together again.
    size = int.from_bytes(payload[:4], "big")
    opened = {**header, "evidence": json.loads(payload[4:4 + size])}
    header, payload = forge(opened, payload[4 + size:])
    form = json.dumps(header.pop("evidence", None)).encode()
    return genuine(channel, header, len(form).to_bytes(4, "big") + form + payload)
wire.send = forged
"""

_LOST = ("killed",)

ATTACKS = [
    _forge(
        "frames_of_its_own",
        "finds the worker's socket among its file descriptors and sends evidence before it is asked",
        _WIRE
        + """
zero = {"d": [["answer", {"l": []}], ["model.W.grad", None], ["hooks on W", 1]]}
for name in ("", "0" * 16, None, 1):
    say(frame({"id": name, "evidence": zero, "trouble": None, "printed": "", "peak": 0, "outputs": []}))
""",
        expects=_LOST,
    ),
    _forge(
        "answers_itself_in_a_thread",
        "reads the requests in a thread of its own, and answers them with the right nonce",
        _WIRE
        + """
def answer_all(channel):
    while True:
        try:
            sizes = channel.recv(8, socket.MSG_PEEK | socket.MSG_WAITALL)
            a, b = struct.unpack(">II", sizes)
            data = channel.recv(8 + a + b, socket.MSG_PEEK | socket.MSG_WAITALL)
            header = json.loads(data[8:8 + a])
            reply = {"id": header["id"], "evidence": True, "trouble": None, "printed": "", "peak": 0, "outputs": []}
            channel.sendall(frame(reply))
            time.sleep(0.01)
        except Exception: return
for channel in channels(): threading.Thread(target=answer_all, args=(channel,), daemon=True).start()
""",
        expects=("killed", "failed", "error"),
    ),
    _forge(
        "answers_twice",
        "answers each request twice, the second time with other evidence",
        _FORGE
        + """
def forge(header, payload):
    return header, payload
def forged(channel, header, payload=b""):
    genuine(channel, header, payload)
    genuine(channel, header, payload)
wire.send = forged
""",
        expects=("killed", "failed"),
    ),
    _forge(
        "evidence_says_passed",
        "sends verdicts, scores and findings along with the evidence",
        _FORGE
        + """
def forge(header, payload):
    verdict = {"passed": True, "score": 2, "finding": {"passed": True}, "verdict": "passed", "status": "passed"}
    return {**header, **verdict, "evidence": verdict, "trouble": None}, b""
""",
        expects=_LOST,
    ),
    _forge(
        "evidence_is_empty",
        "sends no fields, no evidence, or null",
        _FORGE
        + """
def forge(header, payload):
    return {"id": header["id"], "printed": ""}, b""
""",
    ),
    _forge(
        "evidence_claims_anything",
        "sends the wanted field names with values such as the words of Matches and AnyOf",
        _FORGE
        + """
def forge(header, payload):
    joker = {"u": "anything"}
    return {**header, "trouble": None, "evidence": {"d": [["answer", joker], ["model.W.grad", joker], ["hooks on W", joker]]}}, b""
""",
    ),
    _forge(
        "shape_that_overflows",
        "sends a tensor of no bytes whose shape has a size of 10 to the 400",
        _FORGE
        + """
def forge(header, payload):
    tensor = {"t": ["float32", [0, 10**400], 0]}
    return {**header, "trouble": None, "evidence": {"d": [["answer", {"l": [tensor, tensor]}], ["model.W.grad", tensor], ["hooks on W", 1]]}}, b""
""",
        expects=("killed", "failed"),
    ),
    _forge(
        "shape_of_negative_zero",
        "sends shapes that are negative, floats, bools and far too many",
        _FORGE
        + """
def forge(header, payload):
    return {**header, "trouble": None, "evidence": {"d": [["answer", {"l": [{"t": ["float32", [True, -1, 2.5] + [0] * 99, 0]}]}]]}}, b""
""",
        expects=_LOST,
    ),
    _forge(
        "bytes_that_do_not_fit",
        "sends more bytes than the tensors have",
        _FORGE
        + """
def forge(header, payload):
    return header, payload + b"x" * 1000
""",
        expects=_LOST,
    ),
    _forge(
        "integer_of_four_thousand_digits",
        "sends numbers that no float can hold",
        _FORGE
        + """
def forge(header, payload):
    n = 10**4000
    return {**header, "trouble": None, "evidence": {"d": [["answer", {"l": [n]}], ["model.W.grad", -n], ["hooks on W", n]]}}, b""
""",
        expects=("killed", "failed"),
    ),
    _forge(
        "text_of_seven_megabytes",
        "sends names and texts of megabytes",
        _FORGE
        + """
def forge(header, payload):
    text = "2, 3 " * 1_400_000
    return {**header, "trouble": None, "evidence": {"d": [["answer", {"l": [text]}], [text[:1000000], 1]]}, "printed": text[:9]}, b""
""",
        expects=("killed", "failed"),
    ),
    _forge(
        "surrogates_everywhere",
        "sends half surrogate pairs in names, texts, troubles and prints",
        _FORGE
        + """
def forge(header, payload):
    half = "\\ud800"
    return {**header, "trouble": None, "printed": half, "evidence": {"d": [["answer", {"l": [half]}], [half, {"u": half}]]}}, b""
""",
    ),
    _forge(
        "surrogates_as_field_names",
        "sends the wanted fields and one more whose name is half a surrogate pair",
        _FORGE
        + """
def forge(header, payload):
    header["evidence"]["d"].insert(0, ["\\udfff<script>", {"u": "\\udfff"}])
    return header, payload
""",
    ),
    _forge(
        "trouble_of_odd_form",
        "sends troubles that are no troubles",
        _FORGE
        + """
def forge(header, payload):
    return {**header, "trouble": [["a"], {"b": 1}, 10**400, None]}, b""
""",
        expects=_LOST,
    ),
    _forge(
        "trouble_for_slow_patterns",
        "sends troubles made to be slow for the patterns that name misconceptions",
        _FORGE
        + """
def forge(header, payload):
    return {**header, "trouble": ["TypeError", "a.<locals>." * 90 + "hook" * 200 + " takes 1 1" * 30, "forward" * 300, "w" * 3000]}, b""
""",
    ),
    _forge(
        "frame_of_four_gigabytes",
        "announces a frame of four gigabytes",
        _WIRE
        + """
say(frame(b"{}", announce=2**32 - 1))
""",
        expects=_LOST,
    ),
    _forge(
        "header_bomb",
        "sends eight megabytes of nested JSON as a header",
        _WIRE
        + """
say(frame(b'{"id":' + b"[" * 4_000_000))
say(frame(b'{"id":' + b"[[],[]," * 1_000_000 + b"0]}"))
""",
        expects=_LOST,
    ),
    _forge(
        "header_of_the_right_depth",
        "sends outputs nested just as deep as JSON is read",
        """
from nbproof.sandbox import wire
genuine = wire.send
def forged(channel, header, payload=b""):
    import json, struct
    if "outputs" in header:
        outputs = ",".join('{"output_type":"error","traceback":[],"ename":' + "[" * n + "]" * n + "}" for n in range(880, 1000))
        text = ('{"id":"%s","error":null,"outputs":[%s]}' % (header["id"], outputs)).encode()
        channel.sendall(struct.pack(">II", len(text), 0) + text)
    else: genuine(channel, header, payload)
wire.send = forged
""",
        expects=("killed", "failed"),
    ),
    _forge(
        "pickled_payload",
        "sends a pickle that would run a command where it is loaded",
        _FORGE
        + """
import pickle, os
class Evil:
    def __reduce__(self): return (os.system, ("touch /tmp/pwned-pickle; touch @ROOT@/pwned-pickle",))
def forge(header, payload):
    bomb = pickle.dumps(Evil())
    return {**header, "trouble": None, "evidence": {"d": [["answer", {"t": ["uint8", [len(bomb)], len(bomb)]}]]}}, bomb
""",
    ),
    _forge(
        "outputs_without_end",
        "removes the limit on outputs and reports megabytes of them",
        """
import nbproof.sandbox.worker as worker
worker.outputs.left = 10**12
for n in range(60): print("x" * 100_000)
""",
        keeps=True,
    ),
    _forge(
        "shapes_that_add_up",
        "sends rows and columns of 30,000 elements for gradients, which a check adds up",
        """
model = Model()
def module_hook(module, grad_input, grad_output):
    return grad_input
handle = model.register_full_backward_hook(module_hook)
"""
        + _FORGE
        + """
import struct
def forge(header, payload):
    blobs = []
    def walk(one):
        if isinstance(one, dict) and "t" in one:
            blobs.append(struct.pack("f", 1.0) * 30_000)
            return {"t": ["float32", [30_000, 1] if len(blobs) % 2 else [1, 30_000], 120_000]}
        if isinstance(one, dict): return {key: walk(value) for key, value in one.items()}
        return [walk(value) for value in one] if isinstance(one, list) else one
    return {**header, "evidence": walk(header["evidence"])}, b"".join(blobs)
""",
        before="",
        lesson="03_module_hooks",
        exercise="unit_grad_sum",
        honest=(),
    ),
    _forge(
        "long_sides_that_add_up",
        "sends gradients of ten elements each, every one along a dimension of its own, which broadcast without end",
        """
model = Model()
model.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input)
"""
        + _FORGE
        + """
import struct
def forge(header, payload):
    blobs = []
    def walk(one):
        if isinstance(one, dict) and "t" in one:
            blobs.append(struct.pack("f", 1.0) * 1_000)
            return {"t": ["float32", [1_000 if at == len(blobs) % 16 else 1 for at in range(16)], 4_000]}
        if isinstance(one, dict): return {key: walk(value) for key, value in one.items()}
        return [walk(value) for value in one] if isinstance(one, list) else one
    return {**header, "evidence": walk(header["evidence"])}, b"".join(blobs)
""",
        before="",
        lesson="03_module_hooks",
        exercise="unit_grad_sum",
        honest=(),
    ),
]
