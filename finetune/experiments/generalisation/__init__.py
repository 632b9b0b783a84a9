"""Did the model learn the phenomenon or the data set (Rozen et al. 2019)?"""
