# %% bound_list_by_partial
add = Add()
answer = []


def pre_hook(store, module, args):
    x1, x2 = args
    store += [x1, x2]


def hook(store, module, args, output):
    store.append(output)


add.register_forward_pre_hook(partial(pre_hook, answer))
add.register_forward_hook(partial(hook, answer))

# %% detached_copies_in_an_object
add = Add()
answer = []


class Collector:
    def before(self, module, args):
        answer.extend(value.detach().clone() for value in args)

    def __call__(self, module, args, output):
        print("output", output)
        answer.append(output.detach().clone())


collector = Collector()
pre_hook, hook = collector.before, collector
add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)

# %% loop_over_inputs
add = Add()
answer = []


def pre_hook(module, input):
    for value in input:
        answer.append(value)


def hook(module, input, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)

# %% with_kwargs
add = Add()
answer = []


def pre_hook(module, args, kwargs):
    answer.extend([*args, *kwargs.values()])


def hook(module, args, kwargs, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook, with_kwargs=True)
add.register_forward_hook(hook, with_kwargs=True, always_call=True)

# %% one_hook_for_all
add = Add()
answer = []


def hook(module, args, output):
    answer.extend([*args, output])


add.register_forward_hook(hook)
