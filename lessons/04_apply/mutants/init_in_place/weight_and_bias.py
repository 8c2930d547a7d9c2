# misconception: looks for weight and bias | hint: not_only_weight_and_bias
def init_in_place(model, new):
    @torch.no_grad()
    def visit(module):
        if getattr(module, "weight", None) is not None:
            module.weight.copy_(new(module.weight))
        if getattr(module, "bias", None) is not None:
            module.bias.copy_(new(module.bias))

    model.apply(visit)
