# %% as_integers
# misconception: shows the limits as integers | hint: repr_rounded
# breaks: each looks as `print` shows the number
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={int(self.low)}, high={int(self.high)}"

# %% asks_itself
# misconception: begins with str(self) | hint: repr_asks_itself
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return str(self) + f"low={self.low}, high={self.high}"

# %% cached
# misconception: keeps the first text in a cache | hint: repr_frozen
# edits: on_the_instance
-        self.extra_repr = partial(Clip.limits, self)
@@
-    def limits(self) -> str:
+    from functools import cache
+
+    @cache
+    def extra_repr(self) -> str:

# %% class_name_twice
# misconception: writes the class name as well | hint: repr_with_name
# breaks: shows `Clip(low=-1, high=2)`
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"Clip(low={self.low}, high={self.high})"

# %% closes_the_bracket
# misconception: closes the bracket as well | hint: repr_with_name
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}, high={self.high})"

# %% fills_empty_brackets
# misconception: fills the brackets only where they are empty | hint: repr_overridden
# breaks: or have submodules itself
# edits: after_super
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+    def __repr__(self):
+        return super().__repr__().replace("Clip()", f"Clip(low={self.low}, high={self.high})")

# %% forward_lost
# misconception: loses the forward | hint: anatomy_changes_the_rest
# breaks: The rest of the class stays as it is.
# edits: after_super
-        return x.clamp(self.low, self.high)
+        pass
@@
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}, high={self.high}"

# %% frozen_lambda
# misconception: keeps the limits of __init__ in a closure | hint: repr_frozen
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high
        self.extra_repr = lambda: f"low={low}, high={high}"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

# %% frozen_text
# misconception: the text is made in __init__ | hint: repr_frozen
# breaks: that this Clip has when it is printed
# edits: after_super
         self.high = high
+        self.text = f"low={low}, high={high}"
@@
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return self.text

# %% hard_coded
# misconception: the numbers of the example | hint: repr_hard_coded
# breaks: It shows the limits that this Clip has
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return "low=-1, high=2"

# %% limits_on_the_class
# misconception: keeps the limits on the class | hint: anatomy_kept_on_the_class
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        Clip.low = low
        Clip.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"

# %% limits_swapped
# misconception: the limits under the wrong names | hint: repr_limits_swapped
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.high}, high={self.low}"

# %% low_only
# misconception: shows one limit | hint: repr_incomplete
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}"

# %% method_without_self
# misconception: a method without self | hint: anatomy_method_without_self
# edits: after_super
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+    def extra_repr() -> str:
+        return f"low={self.low}, high={self.high}"

# %% no_f_string
# misconception: forgets the f in front of the quotes | hint: repr_not_filled_in
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return "low={self.low}, high={self.high}"

# %% no_names
# misconception: shows the numbers without their names | hint: repr_without_names
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"{self.low}, {self.high}"

# %% no_self
# misconception: forgets self | hint: anatomy_read_without_self
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={low}, high={high}"

# %% overrides_repr
# misconception: overrides __repr__ | hint: repr_overridden
# breaks: `print` still shows the tree
# edits: after_super
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+    def __repr__(self) -> str:
+        return f"Clip(low={self.low}, high={self.high})"

# %% prints
# misconception: prints instead of returning | hint: repr_nothing
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        print(f"low={self.low}, high={self.high}")

# %% spaces
# misconception: spaces around the equals sign | hint: repr_other_spelling
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low = {self.low}, high = {self.high}"

# %% str_method
# misconception: overrides __str__ | hint: repr_misnamed
# edits: after_super
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+    def __str__(self) -> str:
+        return f"Clip(low={self.low}, high={self.high})"

# %% text_not_method
# misconception: extra_repr is a text | hint: repr_not_method
# breaks: Write `extra_repr` for `Clip`
# edits: frozen_lambda
-        self.extra_repr = lambda: f"low={low}, high={high}"
+        self.extra_repr = f"low={low}, high={high}"

# %% tuple
# misconception: a comma makes a tuple | hint: repr_not_text
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}", f"high={self.high}"

# %% two_decimals
# misconception: two decimals | hint: repr_rounded
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low:.2f}, high={self.high:.2f}"

# %% six_digits
# misconception: six digits at most | hint: repr_rounded
# breaks: each looks as `print` shows the number
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low:g}, high={self.high:g}"

# %% no_space
# misconception: no space after the comma | hint: repr_other_spelling
# breaks: shows `Clip(low=-1, high=2)`
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low},high={self.high}"

# %% sorts_the_limits
# misconception: shows the smaller limit first | hint: repr_limits_swapped
# breaks: It shows the limits that this Clip has
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={min(self.low, self.high)}, high={max(self.low, self.high)}"

# %% clamps_in_place
# misconception: writes into the input | hint: anatomy_changes_the_rest
# breaks: The rest of the class stays as it is.
# edits: forward_lost
-        pass
+        return x.clamp_(self.low, self.high)

# %% whole_numbers_without_a_point
# misconception: shows 1.0 as 1 | hint: repr_rounded
# breaks: each looks as `print` shows the number
# edits: reference
-        # TODO: return the text between the brackets.
-        return f"low={self.low}, high={self.high}"
-
-
-print(nn.Sequential(nn.Linear(3, 2), Clip(-1, 2)))
+        low, high = (int(limit) if limit == int(limit) else limit for limit in (self.low, self.high))
+        return f"low={low}, high={high}"

# %% every_attribute
# misconception: shows whatever it finds among the attributes | hint: repr_more_than_asked
# breaks: and nothing else
# edits: whole_numbers_without_a_point
-        low, high = (int(limit) if limit == int(limit) else limit for limit in (self.low, self.high))
-        return f"low={low}, high={high}"
+        return ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "training")

# %% shows_the_mode
# misconception: shows the mode as well | hint: repr_more_than_asked
# breaks: and nothing else
# edits: every_attribute
-        return ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "training")
+        text = f"low={self.low}, high={self.high}"
+        return text if self.training else text + ", eval"

# %% prints_as_well
# misconception: prints the text as well | hint: repr_prints
# breaks: so that `print(Clip(-1, 2))` shows
# edits: shows_the_mode
-        return text if self.training else text + ", eval"
+        print(text)
+        return text

# %% puts_the_limits_in_order
# misconception: forward puts crossed limits in order | hint: anatomy_changes_the_rest
# breaks: The rest of the class stays as it is.
# edits: every_attribute
-        return x.clamp(self.low, self.high)
+        return x.clamp(min(self.low, self.high), max(self.low, self.high))
@@
-        return ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "training")
+        return f"low={self.low}, high={self.high}"

# %% begins_in_eval_mode
# misconception: a new Clip is in eval mode | hint: anatomy_changes_the_rest
# breaks: The rest of the class stays as it is.
# edits: every_attribute
         self.high = high
+        self.training = False
@@
-        return ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "training")
+        return f"low={self.low}, high={self.high}"

# %% limits_by_default
# misconception: gives the limits default values | hint: anatomy_changes_the_rest
# breaks: The rest of the class stays as it is.
# edits: begins_in_eval_mode
-    def __init__(self, low: float, high: float):
+    def __init__(self, low: float = -1, high: float = 1):
@@
-        self.training = False

# %% infinite_left_out
# misconception: leaves a limit out that does not limit | hint: repr_incomplete
# breaks: also infinite ones
# edits: every_attribute
+import math
+
+
 class Clip(nn.Module):
@@
-        return ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k != "training")
+        limits = {"low": self.low, "high": self.high}
+        return ", ".join(f"{name}={limit}" for name, limit in limits.items() if math.isfinite(limit))

# %% low_becomes_a_float
# misconception: turns a limit into a float, as its type hint says | hint: repr_other_spelling
# breaks: They are ints or floats
# edits: begins_in_eval_mode
-        self.low = low
+        self.low = float(low)
@@
-        self.training = False

# %% every_number
# misconception: shows each attribute that is a number | hint: repr_more_than_asked
# breaks: and nothing else
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        numbers = {key: value for key, value in vars(self).items() if type(value) in (int, float)}
+        return ", ".join(f"{key}={value}" for key, value in numbers.items())

# %% every_public_attribute
# misconception: shows each attribute without an underscore, the mode among them | hint: repr_more_than_asked
# breaks: and nothing else
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return ", ".join(f"{key}={value}" for key, value in vars(self).items() if not key.startswith("_"))

# %% counts_parameters
# misconception: says how many parameters there are, if there are any | hint: repr_more_than_asked
# breaks: and nothing else
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        count = sum(p.numel() for p in self.parameters())
+        return f"low={self.low}, high={self.high}" + (f", parameters={count}" if count else "")

# %% without_exponents
# misconception: shows all digits instead of an exponent | hint: repr_other_spelling
# breaks: each looks as `print` shows the number
# edits: after_super
+from decimal import Decimal
+
+
 class Clip(nn.Module):
@@
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        low, high = (limit if abs(limit) == float("inf") else f"{Decimal(str(limit)):f}" for limit in (self.low, self.high))
+        return f"low={low}, high={high}"
