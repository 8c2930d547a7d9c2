# misconception: the gradient with respect to the picture | hint: cam_saliency
def grad_cam(model, layer, x, targets):
    x = x.detach().clone().requires_grad_()
    scores = model(x).gather(1, targets[:, None])
    (gradient,) = torch.autograd.grad(scores.sum(), x)
    return gradient.abs().amax(1)
