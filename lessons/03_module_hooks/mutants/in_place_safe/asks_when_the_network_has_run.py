# misconception: waits for the weight's gradient and reads that of the tensor's last value | hint: in_place_behind
def output_gradients(layer):
    gradients, outputs = [], []

    def forward_hook(module, args, output):
        output.retain_grad()
        outputs.append(output)

    def read(parameter):
        gradients.append(outputs.pop().grad)

    layer.register_forward_hook(forward_hook)
    layer.weight.register_post_accumulate_grad_hook(read)
    return gradients
