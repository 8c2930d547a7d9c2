# misconception: a post-accumulate hook: the sum in .grad | hint: accumulated_grad
model = Model()
answer = []


def tensor_hook(parameter):
    answer.append(parameter.grad)


model.W.register_post_accumulate_grad_hook(tensor_hook)
