class Watched(list):
    def __call__(self, grad):
        print("seen", grad.shape)
        self.append(grad.data)


def watch_gradient(tensor):
    watched = Watched()
    watched.handle = tensor.register_hook(watched)
    return watched
