# misconception: lambdas that look the loop's name up when they run | hint: loop_variable
def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, a: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go: log.append(("backward", name)))
    return log
