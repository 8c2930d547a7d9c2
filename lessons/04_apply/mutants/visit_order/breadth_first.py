# misconception: level by level | hint: wrong_order
answer = ["Model", "Layer_AB", "Layer_CD", "Function_A", "Function_B", "Function_C", "Function_D"]
