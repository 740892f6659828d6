"""Reads the data that the packages bring, draws, fits, and writes."""
import io

import cv2
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.datasets
import scipy.io
import scipy.stats
from sklearn import datasets, ensemble, model_selection

for name in "iris", "digits", "wine", "breast_cancer", "diabetes", "linnerud":
    print(name, getattr(datasets, f"load_{name}")().data.shape)
print(len(datasets.load_sample_images().images))
data = datasets.load_iris()
print(model_selection.cross_val_score(ensemble.RandomForestClassifier(random_state=1), data.data, data.target).mean() > 0.9)
plt.style.use("ggplot")
figure, axes = plt.subplots()
axes.plot([1, 2], label=r"$\alpha^2$")
axes.set_title("title")
axes.legend()
for kind in "png", "svg", "pdf", "ps":
    figure.savefig(io.BytesIO(), format=kind)
matplotlib.cbook.get_sample_data("goog.npz")
print(len(plt.style.available), matplotlib.colormaps["viridis"](0.5))
print(cv2.resize(np.zeros((8, 8, 3), np.uint8), (4, 4)).shape)
print(len(cv2.data.haarcascades) > 0, cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml").empty())
print(scipy.stats.norm.cdf(0), scipy.integrate.quad(np.sin, 0, 1)[0])
buffer = io.BytesIO()
pd.DataFrame({"a": [1, 2]}).to_parquet(buffer)
print(pd.read_parquet(buffer).shape, pd.DataFrame({"a": [1]}).style.to_html().count("table"))
