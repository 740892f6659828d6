const a: number = [1, 2].map((x) => x * 2).length; console.log(a);
