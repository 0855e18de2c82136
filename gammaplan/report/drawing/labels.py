"""Where labels go so that none lies on another: beside the panel, spread along its edge."""

from collections.abc import Sequence


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart within [low, high], each as near to the wanted one as it can.

    Groups that would overlap stand together around the mean of what they
    want; of equals the last comes first. Where there is no room for all, they run over `high`.

    Examples
    --------
    >>> spread([1.0, 1.5, 5.0], 1.0, 0.0, 6.0)
    [0.75, 1.75, 5.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], -i))
    groups: list[tuple[float, list[int]]] = []  # the lowest place, and who stands there
    for i in order:
        groups.append((min(max(wanted[i], low), high), [i]))
        while len(groups) > 1 and groups[-1][0] < groups[-2][0] + gap * len(groups[-2][1]) - 1e-12:
            members = groups[-2][1] + groups[-1][1]
            del groups[-2:]
            extent = gap * (len(members) - 1)
            middle = sum(wanted[m] for m in members) / len(members)
            groups.append((max(low, min(middle - extent / 2, high - extent)), members))
    places = [0.0] * len(wanted)
    for first, members in groups:
        for k, i in enumerate(members):
            places[i] = first + k * gap
    return places


def flag_rows(
    starts: Sequence[float], widths: Sequence[float], gap: float, right: float
) -> list[int]:
    """The row of each flag, 0 the lowest, so that none lies on its neighbour to the right.

    Examples
    --------
    >>> flag_rows([0.0, 1.0, 5.0], [2.0, 1.0, 1.0], 0.1, 10.0)
    [1, 0, 0]
    """
    taken: list[float] = []  # where the leftmost flag of each row begins
    found = [0] * len(starts)
    for i in sorted(range(len(starts)), key=lambda i: -starts[i]):
        begin = min(starts[i], right - widths[i])
        row = next((r for r, left in enumerate(taken) if begin + widths[i] + gap <= left), None)
        if row is None:
            row = len(taken)
            taken.append(begin)
        taken[row] = begin
        found[i] = row
    return found


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters: where it is longer, its middle is left out.

    Examples
    --------
    >>> shortened("temperature=0.7, batch=8", 15)
    'tempera…batch=8'
    """
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
