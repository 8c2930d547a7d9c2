def watch_gradient(tensor):
    seen = []
    number = tensor.output_nr

    def remember(grad_outputs):
        seen.append(grad_outputs[number])

    tensor.grad_fn.register_prehook(remember)
    return seen
