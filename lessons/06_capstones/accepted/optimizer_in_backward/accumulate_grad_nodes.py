class OptimizerInBackward:
    """Hooks on the nodes that fill .grad, as people wrote before there were post-accumulate hooks."""

    def __init__(self, model, make_optimizer):
        self.todo = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def __enter__(self):
        self.nodes, self.handles = [], []
        for p, optimizer in self.todo.items():
            node = p.expand_as(p).grad_fn.next_functions[0][0]
            self.nodes.append(node)  # the hook lives as long as the node
            self.handles.append(node.register_hook(partial(self.step, p, optimizer)))
        return self

    def step(self, p, optimizer, *gradients):
        optimizer.step()
        p.grad = None

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        del self.nodes
