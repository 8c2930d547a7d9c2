# misconception: a full backward hook, which the in-place ReLU does not stand | hint: in_place_after_full_hook
def grad_cam(model, layer, x, targets):
    seen = {}

    def forward_hook(module, args, output):
        seen["activations"] = output.detach().clone()

    def backward_hook(module, grad_input, grad_output):
        seen["gradients"] = grad_output[0].detach()

    module = model.get_submodule(layer)
    images = x.detach().clone().requires_grad_()
    with module.register_forward_hook(forward_hook), module.register_full_backward_hook(backward_hook):
        scores = model(images)
        torch.autograd.grad(scores.gather(1, targets[:, None]).sum(), images)
    weights = seen["gradients"].mean((2, 3), keepdim=True)
    return (weights * seen["activations"]).sum(1).relu()
