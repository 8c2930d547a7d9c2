# misconception: replaces the module's forward instead of hooking it | hint: rescale_other_forward
def rescale_argument(module, factor):
    forward = module.forward

    def scaled_forward(x1, x2):
        return forward(x1, x2 * factor)

    module.forward = scaled_forward
