"""A preprocessor of mdBook: links that lead out of `src`, to other files of the repository.

On a repository page they work as they are. The book has no such files, so it gets the Markdown
pages that its chapters link to as chapters at its end, and pictures become a part of their pages; a link to anything
else becomes its text.
"""

import base64
import json
import os
import re
import sys

TITLE = "From the repository"
# A link, unless it is an image. Links do not nest in these texts.
INLINE = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
# An image that links to itself.
LINKED_IMAGE = re.compile(r"\[(!\[[^\]]*\]\(([^)\s]+)\))\]\(\2\)")
IMAGE = re.compile(r"(!\[[^\]]*\])\(([^)\s]+)\.png\)")
# `[label]: target`
DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.MULTILINE)


def chapters(items):
    """The chapters of the book, nested ones included."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            yield chapter
            yield from chapters(chapter["sub_items"])


def name_in_book(file):
    """`../examples/jit_logger/README.md` is `repository/examples/jit_logger.md` in the book."""
    name = re.sub(r"^(\.\./)+|(/README)?\.md$", "", file)
    return f"repository/{name}.md"


class Book:
    def __init__(self, source, items):
        self.source = source
        self.inside = {chapter["path"] for chapter in chapters(items) if chapter["path"]}
        # Files out of `src`, relative to it, by their names in the book.
        self.outside = {}

    def target(self, link, file, path, may_add):
        """The target of a link in the book, or `None` if the book has none.

        `file` is the file of the text, relative to `src`, and `path` its name in the book.
        """
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        to, hash, anchor = link.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(file), to))
        if to in self.inside:
            target = to
        elif to.endswith(".md") and (may_add or to in self.outside):
            target = self.outside.setdefault(to, name_in_book(to))
        else:
            return None
        return os.path.relpath(target, os.path.dirname(path)) + hash + anchor

    def rewrite(self, text, file, path, may_add):
        def inline(match):
            target = self.target(match[2], file, path, may_add)
            return f"[{match[1]}]({target})" if target else match[1]

        def definition(match):
            target = self.target(match[2], file, path, may_add)
            return f"[{match[1]}]: {target}" if target else ""

        # Every second part is a block of code, where nothing is a link.
        parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
        parts[::2] = [DEFINITION.sub(definition, INLINE.sub(inline, part)) for part in parts[::2]]
        return "".join(parts)

    def with_images(self, text, folder):
        """The text with its images in it: mdBook copies none from out of `src`."""

        def image(match):
            with open(os.path.join(self.source, folder, match[2] + ".png"), "rb") as file:
                data = base64.b64encode(file.read()).decode()
            return f"{match[1]}(data:image/png;base64,{data})"

        return IMAGE.sub(image, LINKED_IMAGE.sub(r"\1", text))

    def pages(self):
        """The files out of `src` as chapters."""
        texts = {}
        for file in self.outside:
            with open(os.path.join(self.source, file), encoding="utf-8") as page:
                texts[file] = self.with_images(page.read(), os.path.dirname(file))
        for file, path in sorted(self.outside.items(), key=lambda pair: pair[1]):
            title = re.search(r"^# (.+)$", texts[file], re.MULTILINE)
            yield {
                "Chapter": {
                    "name": title[1] if title else path,
                    "content": self.rewrite(texts[file], file, path, may_add=False),
                    "number": None,
                    "sub_items": [],
                    "path": path,
                    "source_path": path,
                    "parent_names": [],
                }
            }


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    # mdBook 0.5 has `items`, older ones have `sections`.
    items = book["items"] if "items" in book else book["sections"]
    source = os.path.join(context["root"], context["config"]["book"].get("src", "src"))
    whole = Book(source, items)
    for chapter in chapters(items):
        if path := chapter["path"]:
            text = whole.with_images(chapter["content"], os.path.dirname(path))
            chapter["content"] = whole.rewrite(text, path, path, may_add=True)
    pages = list(whole.pages())
    if pages:
        items += [{"PartTitle": TITLE}, *pages]
    json.dump(book, sys.stdout)


main()
