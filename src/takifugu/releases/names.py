"""Names that people would take for one another."""

import unicodedata

# Letters of other alphabets that look like Latin ones in common type, lower case; Unicode's own list has thousands.
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁһӏԛԝ" + "αβεηικνορτυχω" + "ıɡɑ" + "0",
    "abekmhopctyxijsdhlqw" + "abenikvoptuxw" + "iga" + "o",
)


def skeleton(name: str) -> str:
    """What is left of a name once capitals, spaces, marks and look-alike letters make no difference.

    >>> skeleton(" Records ") == skeleton("records") == skeleton("rес\u200bords")
    True
    >>> skeleton("ward 1") == skeleton("ward 2")
    False
    """
    apart = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(letter for letter in apart if letter.isalnum())  # no spaces, points, accents or invisible ones
    return letters.translate(_LOOKALIKES) or name.strip()
