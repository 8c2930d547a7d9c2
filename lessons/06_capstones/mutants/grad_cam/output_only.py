# misconception: a map of the output alone | hint: cam_one_factor
def grad_cam(model, layer, x, targets):
    kept = {}

    def hook(module, args, output):
        kept["activation"] = output.detach().clone()

    with model.get_submodule(layer).register_forward_hook(hook), torch.no_grad():
        model(x)
    return kept["activation"].mean(1).relu()
