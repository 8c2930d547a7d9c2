# misconception: runs the model itself | hint: gfd_runs_model
def gradient_flow_debugger(model, x, target):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name

    handles = [module.register_forward_hook(partial(see_output, name)) for name, module in model.named_modules()]
    F.cross_entropy(model(x), target).backward()
    for handle in handles:
        handle.remove()
    return report
