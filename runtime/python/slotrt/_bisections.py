"""What `_bisect` does in C with a list or tuple and a number that differs from call to call: each comparison is a branch of the trace."""


def bisect_right(a, x):
    """`bisect.bisect_right`."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def bisect_left(a, x):
    """`bisect.bisect_left`."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low
