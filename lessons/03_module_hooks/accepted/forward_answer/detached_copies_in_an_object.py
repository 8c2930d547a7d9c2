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
