answer = ["Function_A", "Function_B", "Layer_AB", "Function_C", "Function_D", "Layer_CD", "Model"]
