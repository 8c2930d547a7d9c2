# misconception: trains it in a hook, with a typed-in rate | hint: anatomy_settings_typed_in
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))

    def train(parameter):
        parameter.data.sub_(0.1 * parameter.grad)

    model.offset.register_post_accumulate_grad_hook(train)
