import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from nbproof.values.evidence import Unreadable
from course.truths import other_than, such_that

POISON = ("wire", "bucket", "buffer", "future", "later", "sent", "total", "grad")
ERRORS = {
    r"(TypeError|AttributeError): .*'(Pending|Future)'": "comm_future_for_value",
    r"RuntimeError: Got the following error when running the callback:\s*(AttributeError|TypeError)": "comm_future_for_value",
    r"RuntimeError: .*(the hook waits|not completed|completed\(\))": "comm_waits",
    r"AttributeError: '(Tensor|NoneType)' object has no attribute '(wait|done)'": "comm_no_future",
    r"AttributeError: '(function|method)' object": "comm_buffer_is_a_method",
}


class Pending(torch.futures.Future):
    """A future for which nobody may wait before it is there."""

    def wait(self):
        if not self.done():
            raise RuntimeError("the hook waits for the other replicas")
        return super().wait()


class Bucket:
    """A bucket of gradients, as DistributedDataParallel hands it to a hook."""

    def __init__(self, tensor):
        self.tensor = tensor

    def buffer(self):
        return self.tensor


class OneWire:
    """The end of a wire at one of several replicas, whose sums come when `arrive` is called."""

    def __init__(self, size):
        self.size, self.bytes, self.sent, self.waiting = size, 100, [], []

    def sum(self, tensor):
        self.sent.append(tensor.detach().clone())
        self.waiting.append(Pending())
        return self.waiting[-1]


def arrive(wires):
    """Each sum is that of what all replicas have sent, and comes to all of them."""
    for number in reversed(range(min(len(wire.sent) for wire in wires))):
        total = sum(wire.sent[number] for wire in wires[1:]) + wires[0].sent[number]
        for wire in wires:
            wire.waiting[number].set_result(total.clone())


def of_another_size(got, wanted):
    """Whether it is the wanted tensor times another number."""
    factor = got.tensor().norm() / wanted.norm()
    return abs(factor - 1) > 0.01 and torch.cosine_similarity(got.tensor(), wanted, 0) > 0.999


class CommCheck(Check):
    """What the checks of this exercise share: buckets of the seed, here and in the other replicas."""

    poison = POISON
    errors = ERRORS
    dtype = torch.float32

    def size(self, case):
        return 4

    def buckets(self, case):
        """For each bucket the gradients of each replica, this one first."""
        lengths = case.shape("lengths", 2, 5, 9)
        return [
            [case.tensor(f"gradient {number} {rank}", length).detach().to(self.dtype) for rank in range(self.size(case))]
            for number, length in enumerate(lengths)
        ]

    def sent_and_waiting(self, nb, case):
        """The wires of all replicas, and the futures of the first one, once each hook has had each bucket."""
        wires, futures = [OneWire(self.size(case)) for _ in range(self.size(case))], []
        for bucket in self.buckets(case):
            first, *_ = [nb.function("bf16_average")(wire, Bucket(own.clone())) for wire, own in zip(wires, bucket)]
            futures.append(first)
        return wires, futures

    def probe(self, nb, case):
        wires, futures = self.sent_and_waiting(nb, case)
        arrive(wires)
        averages = [one.wait() if one.done() else "a future that never comes" for one in futures]
        return {"the list of averages": averages, "what was sent": wires[0].sent, "the growth of wire.bytes": wires[0].bytes - 100}

    def totals(self, case, dtype=torch.bfloat16):
        for own, *others in self.buckets(case):
            yield sum(one.to(dtype) for one in others) + own.to(dtype)

    def wanted(self, case):
        return [total.to(self.dtype) / self.size(case) for total in self.totals(case)]

    def truth(self, case):
        numbers = sum(len(own) for own, *_ in self.buckets(case))
        whole = [own.bfloat16() for own, *_ in self.buckets(case)]
        return {
            "the list of averages": self.wanted(case),
            "what was sent": AnyOf(whole, [one / self.size(case) for one in whole]),  # divided before, or after
            "the growth of wire.bytes": 2 * numbers,
        }

    def mistakes(self, case):
        numbers, size = sum(len(own) for own, *_ in self.buckets(case)), self.size(case)
        own = [first for first, *_ in self.buckets(case)]

        def dtypes(dtype):
            return such_that(lambda got: all(one.dtype == dtype for one in got))

        return {
            "comm_not_compressed": {"what was sent": dtypes(str(self.dtype)[6:])},
            "comm_float16": {"what was sent": dtypes("float16")},
            "comm_callback_returns_nothing": {"the list of averages": such_that(lambda got: all(one is None for one in got))},
            "comm_future_for_value": {"the list of averages": such_that(lambda got: all(isinstance(one, Unreadable) and one.of == "Future" for one in got))},
            "comm_divides_twice": {"the list of averages": [total.to(self.dtype) / size**2 for total in self.totals(case)]},
            "comm_sent_twice": {"what was sent": such_that(lambda got: len(got) > len(own))},
            "comm_dtype": {"the list of averages": such_that(lambda got: all(one.dtype != str(self.dtype)[6:] for one in got))},
            "comm_sum": {"the list of averages": [total.to(self.dtype) for total in self.totals(case)]},
            "comm_own_gradient": {"the list of averages": AnyOf(own, [one / size for one in own], [one.bfloat16().to(self.dtype) for one in own], [one.bfloat16().to(self.dtype) / size for one in own])},
            "comm_mean_of_gradients": {"the list of averages": [(total / len(total)).to(self.dtype) for total in self.totals(case)]},
            "comm_list": {"the list of averages": such_that(lambda got: any(isinstance(one, list) or not len(one.shape) for one in got))},
            "comm_not_counted": {"the growth of wire.bytes": 0},
            "comm_counts_numbers": {"the growth of wire.bytes": AnyOf(numbers, 16 * numbers, 2 * len(own), len(own))},
            "comm_counts_buffer": {"the growth of wire.bytes": sum(one.nbytes for one in own)},
            "comm_counts_replicas": {"the growth of wire.bytes": 2 * numbers * size},
            "comm_count_replaced": {"the growth of wire.bytes": 2 * len(own[-1]) - 100},
            "comm_fixed_size": {"the list of averages": such_that(lambda got: all(map(of_another_size, got, self.wanted(case))))},
        }


class Averages(CommCheck):
    """Buckets come back as averages in their own dtype, and go out in bfloat16."""


class OfFloat64(CommCheck):
    """So it is with gradients in float64."""

    dtype = torch.float64


class NothingWaits(CommCheck):
    """It returns futures at once: nothing is there before the sums have come."""

    claims = ("what done() says before the sums came",)

    def probe(self, nb, case):
        wires, futures = self.sent_and_waiting(nb, case)
        there = [hasattr(one, "done") and bool(one.done()) for one in futures]
        arrive(wires)
        return {"what done() says before the sums came": there, "the list of averages": [one.wait() if one.done() else None for one in futures]}

    def truth(self, case):
        return {"what done() says before the sums came": [False, False], "the list of averages": self.wanted(case)}

    def mistakes(self, case):
        return {"comm_own_gradient": {"what done() says before the sums came": other_than([False, False])}}


check("bf16_average", Averages, OfFloat64, NothingWaits)


# --- Hidden checks: graders run them, learners do not get them. ---
class Line:
    """One replica's end of the line: what it sends waits for the others."""

    def __init__(self, size, bytes_before):
        self.size, self.bytes, self.open = size, bytes_before, []

    def sum(self, tensor):
        self.open.append((Pending(), tensor.clone()))
        return self.open[-1][0]


class Round:
    """A bucket whose gradients are there when they are asked for."""

    def __init__(self, make):
        self.buffer = make


class ManyBuckets(Check):
    """Buckets of any number and length, in several steps, whose sums come in another order."""

    poison = POISON

    def given(self, case):
        size, count = 2 ** case.integer("hidden replicas", 2, 3), case.integer("hidden buckets", 3, 5)
        dtype = (torch.float32, torch.float64)[case.integer("hidden dtype", 0, 1)]
        lengths = [case.integer(f"hidden length {number}", 3, 12) for number in range(count)]
        return size, [
            [case.tensor(f"hidden {number} {rank}", length).detach().to(dtype) for rank in range(size)]
            for number, length in enumerate(lengths)
        ]

    def probe(self, nb, case):
        size, buckets = self.given(case)
        lines = [Line(size, case.integer(f"hidden bytes {rank}", 1, 1000)) for rank in range(size)]
        futures = []
        for bucket in buckets:
            first, *_ = [nb.function("bf16_average")(line, Round(own.clone)) for line, own in zip(lines, bucket)]
            futures.append(first)
        for place in case.shuffled("hidden arrivals", range(min(len(line.open) for line in lines))):
            total = lines[0].open[place][1]
            for line in lines[1:]:
                total = total + line.open[place][1]
            for mine in lines:
                mine.open[place][0].set_result(total.clone())
        weights = [case.tensor(f"hidden weight {number}", len(own)).double() for number, (own, *_) in enumerate(buckets)]
        found = [one.wait() if one.done() else torch.zeros(()) for one in futures]
        return {"the list of averages": found, "weighed": [(one.double() * weight).detach() for one, weight in zip(found, weights)], "bytes": lines[0].bytes}

    def truth(self, case):
        size, buckets = self.given(case)
        averages = []
        for own, *others in buckets:
            total = own.bfloat16()
            for one in others:
                total = total + one.bfloat16()
            averages.append(total.to(own.dtype) / size)
        weights = [case.tensor(f"hidden weight {number}", len(own)).double() for number, (own, *_) in enumerate(buckets)]
        sent = sum(2 * len(own) for own, *_ in buckets)
        return {
            "the list of averages": averages, "weighed": [(one.double() * weight).detach() for one, weight in zip(averages, weights)],
            "bytes": case.integer("hidden bytes 0", 1, 1000) + sent,
        }


check("bf16_average", ManyBuckets)
