"""Follows each link of a rendered book: `links.py FOLDER` fails for files and anchors that are not there."""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.ids.add(attributes[name])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


def pages(folder):
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                path = os.path.normpath(os.path.join(top, name))
                page = found[path] = Page()
                with open(path, encoding="utf-8") as text:
                    page.feed(text.read())
    return found


def dead(folder, found):
    for path, page in sorted(found.items()):
        # The page of errors has links from the root of a server.
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = path
            if parts.path:
                target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
            anchor = unquote(parts.fragment)
            is_out = os.path.relpath(target, folder).startswith("..")
            if is_out or not os.path.exists(target):
                yield f"{path}: {link}"
            elif anchor and target in found and anchor not in found[target].ids:
                yield f"{path}: {link}"


folder = os.path.normpath(sys.argv[1])
found = pages(folder)
broken = list(dead(folder, found))
print("\n".join(broken))
count = sum(len(page.links) for page in found.values())
print(f"{count} links on {len(found)} pages, {len(broken)} dead")
sys.exit(bool(broken) or len(found) < 10)
