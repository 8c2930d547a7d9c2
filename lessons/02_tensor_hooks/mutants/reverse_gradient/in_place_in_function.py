# misconception: a Function that edits the gradient in place | hint: edits_in_place
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.mul_(-1)


def reverse_gradient(tensor):
    return Reverse.apply(tensor)
