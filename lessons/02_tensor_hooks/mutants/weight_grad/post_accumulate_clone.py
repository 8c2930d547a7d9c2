# misconception: a post-accumulate hook that clones | hint: accumulated_grad
model = Model()
answer = []


def tensor_hook(parameter):
    answer.append(parameter.grad.clone())


model.W.register_post_accumulate_grad_hook(tensor_hook)
