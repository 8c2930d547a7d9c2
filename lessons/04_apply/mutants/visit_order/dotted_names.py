# misconception: attribute names instead of class names | hint: not_class_names
model = Model()
answer = ["ab.a", "ab.b", "ab", "cd.c", "cd.d", "cd", ""]
