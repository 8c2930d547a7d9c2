# nothing to break: The tensor that is handed in as `mean` does not require a gradient itself
# nothing to break: `AudioFrame` prepares short pieces of sound, `n` samples each, at least two

# %% all_buffers
# misconception: everything is a buffer | hint: parameter_as_buffer
# breaks: the loudness: to be learned
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.register_buffer("gain", torch.ones(1))

# %% all_parameters
# misconception: everything is a Parameter | hint: buffer_as_parameter
# breaks: keep each of these four things as what it is
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.mean = Parameter(mean)
+        self.window = Parameter(torch.hann_window(n))

# %% all_saved
# misconception: the window is saved | hint: saved_anyway
# breaks: not to be saved
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(n))

# %% assigns_what_register_returns
# misconception: assigns what register_buffer returns | hint: anatomy_buffer_is_none
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.mean = self.register_buffer("mean", mean)

# %% attribute_before_buffer
# misconception: assigns the attribute, then registers it | hint: anatomy_name_taken
# edits: register_buffer
         self.gain = Parameter(torch.ones(1))
+        self.mean = mean

# %% buffer_persistent_by_place
# misconception: persistent as the second argument of Buffer | hint: anatomy_register_arguments
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.mean = nn.Buffer(mean, False)

# %% extra_buffer
# misconception: registers the length as well | hint: anatomy_more_than_asked
# breaks: register no other tensor
# edits: register_buffer
         self.rate = rate
+        self.register_buffer("n", torch.tensor(n))

# %% frozen_gain
# misconception: the gain needs no gradient | hint: gradient_cut
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = Parameter(torch.ones(1), requires_grad=False)

# %% frozen_parameter
# misconception: the mean is a frozen Parameter | hint: buffer_as_parameter
# breaks: never trained
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.mean = Parameter(mean, requires_grad=False)

# %% gain_and_mean_swapped
# misconception: the mean is learned, the gain is not | hint: buffer_as_parameter
# edits: copied_with_a_warning
-        self.gain = Parameter(torch.ones(1))
-        self.register_buffer("mean", torch.tensor(mean))
+        self.gain = nn.Buffer(torch.ones(1))
+        self.mean = Parameter(mean)

# %% gain_as_buffer_with_gradient
# misconception: the gain is a buffer that needs a gradient | hint: parameter_as_buffer
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = nn.Buffer(torch.ones(1, requires_grad=True))

# %% gain_per_sample
# misconception: a gain for each sample | hint: wrong_start
# breaks: `torch.ones(1)`
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = Parameter(torch.ones(n))

# %% hard_coded_rate
# misconception: the rate of the example | hint: wrong_start
# breaks: the argument `rate`, an int
# edits: register_buffer
-        self.rate = rate
+        self.rate = 16_000

# %% hard_coded_size
# misconception: a window of the size of the example | hint: sizes_of_example
# breaks: depends on `n` alone
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(4), persistent=False)

# %% mean_of_the_mean
# misconception: one mean for all samples | hint: wrong_start
# breaks: the argument `mean`, shape `(n,)`
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.register_buffer("mean", mean.mean())

# %% misspelt_method
# misconception: a method that does not exist | hint: anatomy_misspelt_method
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.register_buffers("mean", mean)

# %% no_rate
# misconception: forgets the rate | hint: attributes_missing
# edits: register_buffer
-        self.rate = rate

# %% none_saved
# misconception: the mean is not saved | hint: not_saved
# breaks: needed in a saved file
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.register_buffer("mean", mean, persistent=False)

# %% number_for_tensor
# misconception: a Parameter made of a number | hint: anatomy_no_tensor
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = Parameter(1.0)

# %% plain_gain
# misconception: the gain is a plain tensor that needs a gradient | hint: anatomy_not_a_parameter
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = torch.ones(1, requires_grad=True)

# %% plain_mean
# misconception: the mean is a plain tensor | hint: plain_tensor
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
+        self.mean = mean

# %% plain_window
# misconception: the window is a plain tensor | hint: plain_tensor
# breaks: it follows `.double()` and `.to(device)`
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.window = torch.hann_window(n)

# %% rate_as_buffer
# misconception: the rate is a buffer | hint: setting_as_tensor
# breaks: samples per second: a setting
# edits: register_buffer
-        self.rate = rate
+        self.register_buffer("rate", torch.tensor(rate))

# %% rate_as_parameter
# misconception: the rate is a Parameter | hint: setting_as_tensor
# edits: register_buffer
-        self.rate = rate
+        self.rate = Parameter(torch.tensor(float(rate)))

# %% rate_as_tensor
# misconception: the rate is a plain tensor | hint: setting_as_tensor
# edits: register_buffer
-        self.rate = rate
+        self.rate = torch.tensor(rate)

# %% saved_the_wrong_one
# misconception: saves the window and not the mean | hint: not_saved
# edits: all_saved
-        self.register_buffer("mean", mean)
+        self.register_buffer("mean", mean, persistent=False)

# %% small_letter
# misconception: Parameter with a small letter | hint: anatomy_name_not_there
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% symmetric_window
# misconception: another window | hint: wrong_start
# breaks: `torch.hann_window(n)`
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(n, periodic=False), persistent=False)

# %% window_float64
# misconception: a window of float64 | hint: anatomy_wrong_dtype
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(n, dtype=torch.float64), persistent=False)

# %% rate_on_the_class
# misconception: keeps the rate on the class | hint: anatomy_kept_on_the_class
# breaks: the argument `rate`, an int
# edits: register_buffer
-        self.rate = rate
+        AudioFrame.rate = rate

# %% hides_the_window
# misconception: takes the window out of the state_dict | hint: saved_anyway
# breaks: not to be saved
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer('mean', mean)
        self.register_buffer('window', torch.hann_window(n))
        self.rate = rate


    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

    def state_dict(self, *args, **kwargs):
        found = super().state_dict(*args, **kwargs)
        found.pop('window')
        return found

# %% mean_in_float32
# misconception: turns every mean into float32 | hint: anatomy_wrong_dtype
# breaks: the argument `mean`, shape `(n,)`
# edits: a_child_without_tensors
-        self.register_parameter("bias", None)
-        self.after = nn.Identity()
@@
-        self.mean = nn.Buffer(mean)
+        self.mean = nn.Buffer(mean.float())

# %% no_gain_in_eval_mode
# misconception: leaves the gain out in eval mode | hint: anatomy_changes_the_rest
# breaks: Its `forward` is ready.
# edits: a_child_without_tensors
-        self.register_parameter("bias", None)
-        self.after = nn.Identity()
@@
     def forward(self, x: torch.Tensor) -> torch.Tensor:
+        if not self.training:
+            return (x - self.mean) * self.window

# %% one_window_for_all
# misconception: all frames of one length share a window | hint: anatomy_kept_on_the_class
# breaks: `torch.hann_window(n)`
WINDOWS = {}


class AudioFrame(nn.Module):
    """Removes the mean of a piece of sound, fades its ends, and scales it."""

    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(WINDOWS.setdefault(n, torch.hann_window(n)), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% lowest_rate
# misconception: knows better where the rate is low | hint: wrong_start
# breaks: the argument `rate`, an int
# edits: a_child_without_tensors
-        self.register_parameter("bias", None)
-        self.after = nn.Identity()
@@
-        self.rate = rate
+        self.rate = max(rate, 8_000)

# %% mean_needs_a_gradient
# misconception: a buffer that gets a gradient | hint: anatomy_buffer_with_gradient
# breaks: Only `gain` gets a gradient.
# edits: mean_in_float32
-        self.mean = nn.Buffer(mean.float())
+        self.mean = nn.Buffer(mean.detach().clone().requires_grad_())

# %% dtype_of_the_mean
# misconception: makes the window in the dtype of the mean | hint: anatomy_wrong_dtype
# breaks: `torch.hann_window(n)`
# edits: lowest_rate
-        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
-        self.rate = max(rate, 8_000)
+        self.window = nn.Buffer(torch.hann_window(n, dtype=mean.dtype), persistent=False)
+        self.rate = rate

# %% window_from_mean
# misconception: copies the line of the mean and forgets to change the value | hint: wrong_start
# breaks: `torch.hann_window(n)`
# edits: register_buffer
-        n = len(mean)
@@
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", mean, persistent=False)

# %% window_requires_grad
# misconception: thinks that everything in a formula that is trained needs a gradient | hint: anatomy_buffer_with_gradient
# breaks: Only `gain` gets a gradient.
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(n, requires_grad=True), persistent=False)
