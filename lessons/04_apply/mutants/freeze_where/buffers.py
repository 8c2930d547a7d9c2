# misconception: turns parameters into buffers | hint: parameter_no_more
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            for name, parameter in list(module.named_parameters(recurse=False)):
                if frozen:
                    delattr(module, name)
                    module.register_buffer(name, parameter.detach())
            module.train(not frozen)

    return model.apply(visit)
