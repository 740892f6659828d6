def square(long n):
    return n * n
