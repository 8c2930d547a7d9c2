# %% by_hand
def clip_at_step(optimizer, most):
    @torch.no_grad()
    def hook(optimizer, args, kwargs):
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not grads:
            return
        norm = torch.stack([grad.norm() for grad in grads]).norm()
        if norm > most:
            for grad in grads:
                grad.mul_(most / norm)

    return optimizer.register_step_pre_hook(hook)

# %% object
class Clipper:
    def __init__(self, most):
        self.most = most

    def __call__(self, optimizer, args, kwargs):
        parameters = []
        for group in optimizer.param_groups:
            parameters += group["params"]
        torch.nn.utils.clip_grad_norm_(parameters, max_norm=self.most)


def clip_at_step(optimizer, most):
    return optimizer.register_step_pre_hook(Clipper(most))

# %% partial
def clip(most, optimizer, args, kwargs):
    everything = (p for group in optimizer.param_groups for p in group["params"])
    nn.utils.clip_grad_norm_(everything, most)


def clip_at_step(optimizer, most):
    handle = optimizer.register_step_pre_hook(partial(clip, most))
    return handle

# %% global_hook_for_one
def clip_at_step(optimizer, most):
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    def hook(one, args, kwargs):
        if one is optimizer:
            total = sum(p.grad.pow(2).sum() for g in one.param_groups for p in g["params"] if p.grad is not None) ** 0.5
            for g in one.param_groups:
                for p in g["params"]:
                    if p.grad is not None:
                        p.grad = p.grad * min(1, most / (total + 1e-6))

    return register_optimizer_step_pre_hook(hook)
