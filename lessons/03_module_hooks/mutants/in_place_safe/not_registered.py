# misconception: never registers the forward hook | hint: hook_never_ran
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    return gradients
