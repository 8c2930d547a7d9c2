# misconception: guesses parents first, depth first | hint: apply_pre_order
answer = ["Model", "Layer_AB", "Function_A", "Function_B", "Layer_CD", "Function_C", "Function_D"]
