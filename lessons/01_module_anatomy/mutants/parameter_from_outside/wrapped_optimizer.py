# misconception: fills the gradient itself with a typed-in rate | hint: none
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    model.offset.register_post_accumulate_grad_hook(lambda p: p.data.sub_(0.1 * p.grad))
