# misconception: all leaves first, then all layers | hint: wrong_order
answer = ["Function_A", "Function_B", "Function_C", "Function_D", "Layer_AB", "Layer_CD", "Model"]
