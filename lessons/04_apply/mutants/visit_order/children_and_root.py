# misconception: thinks that apply visits direct children and the module itself | hint: apply_skips_nested
answer = ["Layer_AB", "Layer_CD", "Model"]
