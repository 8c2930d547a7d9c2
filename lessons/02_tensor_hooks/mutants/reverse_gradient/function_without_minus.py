# misconception: a Function that hands the gradient through | hint: reverse_gradient_same_sign
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


def reverse_gradient(tensor):
    return Reverse.apply(tensor)
