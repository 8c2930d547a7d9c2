from torch.utils.flop_counter import FlopCounterMode


def count_macs(model, x):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    return counter.get_total_flops() // 2


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
