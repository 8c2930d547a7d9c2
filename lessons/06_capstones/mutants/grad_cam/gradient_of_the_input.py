# misconception: the gradient with respect to the layer's input | hint: cam_input_side
def grad_cam(model, layer, x, targets):
    seen = {}

    def backward_hook(module, grad_input, grad_output):
        seen["gradient"] = grad_input[0]

    def forward_hook(module, args, output):
        seen["output"] = args[0].detach().clone()

    module = model.get_submodule(layer)
    images = x.detach().clone().requires_grad_()
    with module.register_forward_hook(forward_hook), module.register_full_backward_hook(backward_hook):
        torch.autograd.grad(model(images).gather(1, targets[:, None]).sum(), images)
    weights = seen["gradient"].mean((2, 3), keepdim=True)
    return (weights * seen["output"]).sum(1).relu()
