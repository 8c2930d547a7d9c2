# nothing to break: `AudioFrame` prepares pieces of sound with `n` samples each
# nothing to break: Its `forward` is ready.
# nothing to break: In `__init__`, store each of these four values in the right way.

# %% all_buffers
# misconception: everything is a buffer | hint: parameter_as_buffer
# breaks: the loudness: to be learned
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.register_buffer("gain", torch.ones(1))

# %% all_parameters
# misconception: everything is a Parameter | hint: buffer_as_parameter
# breaks: measured once, never trained
# edits: copied_with_a_warning
-        self.register_buffer("mean", torch.tensor(mean))
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.mean = Parameter(mean)
+        self.window = Parameter(torch.hann_window(n))

# %% all_saved
# misconception: the window is saved | hint: saved_anyway
# breaks: not saved
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

# %% frozen_gain
# misconception: the gain needs no gradient | hint: anatomy_frozen_parameter
# breaks: to be learned
# edits: register_buffer
-        self.gain = Parameter(torch.ones(1))
+        self.gain = Parameter(torch.ones(1), requires_grad=False)

# %% frozen_parameter
# misconception: the mean is a frozen Parameter | hint: buffer_as_parameter | canary
# breaks: measured once, never trained
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
# breaks: the argument `rate`
# edits: register_buffer
-        self.rate = rate
+        self.rate = 16_000

# %% hard_coded_size
# misconception: a window of the size of the example | hint: sizes_of_example
# breaks: `torch.hann_window(n)`
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", torch.hann_window(4), persistent=False)

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
# edits: attribute_before_buffer
-        self.register_buffer("mean", mean)

# %% plain_window
# misconception: the window is a plain tensor | hint: plain_tensor
# breaks: follows `.double()`
# edits: register_buffer
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.window = torch.hann_window(n)

# %% rate_as_buffer
# misconception: the rate is a buffer | hint: setting_as_tensor
# breaks: a setting
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

# %% window_from_mean
# misconception: copies the line of the mean and forgets to change the value | hint: wrong_start
# edits: register_buffer
-        n = len(mean)
@@
-        self.register_buffer("window", torch.hann_window(n), persistent=False)
+        self.register_buffer("window", mean, persistent=False)
