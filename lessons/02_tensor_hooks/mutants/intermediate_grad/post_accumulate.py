# misconception: a post-accumulate hook | hint: post_accumulate_on_non_leaf
def watch_gradient(tensor):
    seen = []
    tensor.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))
    return seen
