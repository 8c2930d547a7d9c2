# nothing to break: Write `extra_repr` for `Clip`.

# %% as_integers
# misconception: shows the limits as integers | hint: repr_rounded | canary
# breaks: as `print(low)` and `print(high)` write them
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
# edits: after_super
+    from functools import cache
+
+    @cache
     def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}, high={self.high}"

# %% class_name_twice
# misconception: writes the class name as well | hint: repr_with_name
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
# breaks: Wherever a Clip is printed
# edits: after_super
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+    def __repr__(self):
+        return super().__repr__().replace("Clip()", f"Clip(low={self.low}, high={self.high})")

# %% frozen_lambda
# misconception: keeps the limits of __init__ in a closure | hint: repr_frozen
# edits: after_super
         self.high = high
+        self.extra_repr = lambda: f"low={low}, high={high}"
@@
-
-    def extra_repr(self) -> str:
-        return super().extra_repr() + f"low={self.low}, high={self.high}"

# %% frozen_text
# misconception: the text is made in __init__ | hint: repr_frozen
# breaks: current limits
# edits: after_super
         self.high = high
+        self.text = f"low={low}, high={high}"
@@
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return self.text

# %% hard_coded
# misconception: the numbers of the example | hint: repr_hard_coded
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return "low=-1, high=2"

# %% limits_on_the_class
# misconception: keeps the limits on the class | hint: anatomy_kept_on_the_class
# edits: after_super
-        self.low = low
-        self.high = high
+        Clip.low = low
+        Clip.high = high
@@
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.low}, high={self.high}"

# %% limits_swapped
# misconception: the limits under the wrong names | hint: repr_limits_swapped
# edits: after_super
-        return super().extra_repr() + f"low={self.low}, high={self.high}"
+        return f"low={self.high}, high={self.low}"

# %% low_only
# misconception: shows one limit | hint: repr_incomplete
# breaks: its two current limits
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
# edits: class_name_twice
-    def extra_repr(self) -> str:
+    def __repr__(self) -> str:

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
# edits: class_name_twice
-    def extra_repr(self) -> str:
+    def __str__(self) -> str:

# %% text_not_method
# misconception: extra_repr is a text | hint: repr_not_method
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
