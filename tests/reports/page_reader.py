"""What a browser would make of a page: that elements nest, what text there is, and that nothing in it acts."""

from html.parser import HTMLParser

VOID = {"meta", "br", "rect", "line", "polyline", "polygon", "circle", "link", "img", "input"}


class Reader(HTMLParser):
    """Checks that elements nest, and keeps what is there."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        """All text, on one line."""
        return " ".join("".join(self.text).split())


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def assert_harmless(page):
    """Nothing runs, nothing is loaded, and every picture is named."""
    reader = read(page)
    assert not [tag for tag, _ in reader.tags if tag in ("script", "iframe", "object", "link", "img", "form")]
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert "<script" not in page
    assert "://" not in page
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for tag, attributes in reader.tags:
        assert set(attributes.get("aria-labelledby", "").split()) <= set(identifiers)
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    return reader
