import httpx
import jsonschema
import networkx
import polars
import sympy

jsonschema.validate({"a": 1}, {"type": "object"})
print(polars.DataFrame({"a": [1, 2]}).sum().item(), networkx.path_graph(4).size(), sympy.diff("x**2", "x"), httpx.codes.OK)
